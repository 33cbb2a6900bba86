/* What a GPU does with samples in its memory, against the CPU with the same samples in host memory, to the bit: counts
 * and exact sums on every kind of edges, of swapped samples and masks of bits; extremes, ranges, rules and quantiles.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/data.h"
#include "support/device.h"
#include "view/view.h"

enum { MOST_BINS = 5000, MOST_POOL = 1 << 18 /* samples in memory */ };

/* ---- Edges ---- */

typedef enum edge_kind {
    IN_FLOAT,   /* as histo_linspace computes them */
    AS_FORMULA, /* stored edges of a regular axis */
    MOVED,      /* each by up to an eighth of a bin */
    FAR,        /* the same, by more than that */
    INFINITE,   /* at one end or at both */
    EQUAL,      /* neighbours */
    WHOLE_I64,  /* integers that doubles do not hold */
    WHOLE_U64,
    GIVEN, /* one of test_axis */
    EDGE_KINDS
} edge_kind;

/* Edges that a test keeps. */
typedef struct edges {
    double values[MOST_BINS + 1];
    int64_t i64[MOST_BINS + 1];
    uint64_t u64[MOST_BINS + 1];
} edges;

static histo_axis moved_axis(rng *r, edges *e, int64_t bins, double farthest)
{
    const double lo = rng_uniform(r) * 200 - 100, width = rng_uniform(r) * 50 + 1, step = width / (double)bins;
    for (int64_t i = 0; i <= bins; i++)
        e->values[i] = lo + (double)i * step + (i % bins ? (rng_uniform(r) - 0.5) * 2 * farthest * step : 0);
    return histo_axis_variable(bins, e->values);
}

static histo_axis whole_axis(rng *r, edges *e, int64_t bins, bool is_signed)
{
    uint64_t at = rng_next(r);
    const uint64_t step = rng_below(r, 3) ? 1 + (uint64_t)rng_below(r, 1000) : UINT64_MAX / (uint64_t)bins / 8;
    const bool regular = rng_below(r, 2);
    if (is_signed)
        at = (uint64_t)((int64_t)at / 4);
    else
        at /= 2;
    for (int64_t i = 0; i <= bins; i++) {
        e->i64[i] = (int64_t)at;
        e->u64[i] = at;
        at += regular ? step : rng_below(r, 10) ? step / 2 + (uint64_t)rng_below(r, (int64_t)step) : 0;
    }
    return is_signed ? histo_axis_variable_i64(bins, e->i64) : histo_axis_variable_u64(bins, e->u64);
}

static histo_axis make_axis(rng *r, edge_kind kind, histo_dtype dtype, edges *e)
{
    static const int64_t max_bins[] = {1, 3, 40, 300, MOST_BINS};
    int64_t bins = 1 + rng_below(r, max_bins[rng_below(r, 5)]);
    histo_axis axis;
    const double lo = rng_uniform(r) * 20 - 10, hi = lo + 1 + rng_uniform(r) * 40;
    switch (kind) {
    case IN_FLOAT:
        if (histo_linspace(bins, lo, hi, HISTO_F32, HISTO_F32, e->values) != HISTO_OK)
            bins = 1, e->values[0] = lo, e->values[1] = hi;
        axis = histo_axis_variable(bins, e->values);
        break;
    case AS_FORMULA:
        axis = histo_axis_regular(bins, lo, hi);
        OK(histo_axis_edges(&axis, e->values));
        axis = histo_axis_variable(bins, e->values);
        break;
    case MOVED:
        axis = moved_axis(r, e, bins, 0.12);
        break;
    case FAR:
        axis = moved_axis(r, e, bins, 0.4);
        break;
    case INFINITE:
        axis = moved_axis(r, e, bins, 0.1);
        if (rng_below(r, 3)) e->values[0] = -INFINITY;
        if (rng_below(r, 3)) e->values[bins] = INFINITY;
        axis = histo_axis_variable(bins, e->values);
        break;
    case EQUAL:
        axis = moved_axis(r, e, bins, 0.3);
        for (int64_t i = 1; i <= bins; i++)
            if (rng_below(r, 4) == 0) e->values[i] = e->values[i - 1];
        axis = histo_axis_variable(bins, e->values);
        break;
    case WHOLE_I64:
    case WHOLE_U64:
        axis = whole_axis(r, e, bins, kind == WHOLE_I64);
        break;
    default:
        do
            test_axis((int)rng_below(r, 13), dtype, &axis);
        while (axis.bins > MOST_BINS);
    }
    return rng_below(r, 2) ? histo_axis_closed(axis) : axis;
}

/* ---- Samples ---- */

/* Views of memory that a GPU has a copy of. */
typedef struct twin {
    histo_view on_cpu, on_gpu;
    char *memory;
    void *copy;
} twin;

static void swap_all(char *memory, size_t size, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        for (size_t k = 0; k < size / 2; k++) {
            char *a = memory + (size_t)i * size + k, *b = memory + (size_t)(i + 1) * size - 1 - k, was = *a;
            *a = *b;
            *b = was;
        }
}

/* Values on 64-bit integers' edges, and next to them. */
static void put_near_whole(rng *r, histo_dtype dtype, const edges *e, int64_t bins, char *memory, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        const int64_t edge = rng_below(r, bins + 1);
        const uint64_t x = (dtype == HISTO_I64 ? (uint64_t)e->i64[edge] : e->u64[edge]) + (uint64_t)rng_below(r, 5) - 2;
        memcpy(memory + i * (int64_t)sizeof x, &x, sizeof x);
    }
}

/* A view of a shape over n samples at memory + shift: contiguous, with gaps, backwards, or repeated. */
static void lay_out(rng *r, histo_view *view, char *memory, int64_t size, int64_t n)
{
    const int64_t kind = rng_below(r, 5);
    int64_t step = size;
    char *data = memory;
    for (int d = view->ndim - 1; d >= 0; d--) {
        int64_t stride = kind == 1 && d == view->ndim - 1 ? 3 * step : kind == 4 && d == 0 && view->ndim > 1 ? 0 : step;
        if (step * view->shape[d] + stride * view->shape[d] >= n * size) stride = 0;
        view->strides[d] = stride;
        if (kind == 2 && d == view->ndim - 1) {
            data += stride * (view->shape[d] - 1);
            view->strides[d] = -stride;
        }
        if (stride) step = stride * view->shape[d] + (kind == 3 ? size * rng_below(r, 3) : 0);
    }
    view->data = data + (kind == 3 && rng_below(r, 3) == 0 ? 1 : 0);
}

static void send(twin *t)
{
    t->copy = device_copy(&t->on_cpu, &t->on_gpu);
    assert_non_null(t->copy);
}

/* Bits as a device has them: the bytes are copied. */
static void send_bits(twin *t, int64_t bytes)
{
    const histo_view all = histo_view_1d(t->on_cpu.data, HISTO_U8, bytes);
    histo_view copy;
    t->copy = device_copy(&all, &copy);
    assert_non_null(t->copy);
    t->on_gpu = t->on_cpu;
    t->on_gpu.data = copy.data;
}

static void discard(twin *t)
{
    device_free(t->copy);
    free(t->memory);
    *t = (twin){.memory = NULL};
}

/* A fill with the same options on both sides. */
typedef struct problem {
    int naxes;
    histo_axis axes[3];
    twin samples[3], mask, weights;
    histo_fill_options on_cpu, on_gpu;
    int64_t batch;
    histo_weighting weighting;
} problem;

static void make_shape(rng *r, histo_view *view, int64_t limit)
{
    *view = (histo_view){.ndim = 1 + (int)rng_below(r, 3)};
    int64_t left = 1 + rng_below(r, limit);
    for (int d = view->ndim - 1; d > 0; d--) {
        view->shape[d] = 1 + rng_below(r, left);
        left /= view->shape[d];
    }
    view->shape[0] = left ? left : 1;
    view->batch_ndim = rng_below(r, 3) ? 0 : (int)rng_below(r, view->ndim);
}

static void make_problem(rng *r, problem *p, edges *bin_edges, edge_kind wanted, int64_t limit)
{
    histo_view shape;
    *p = (problem){.naxes = rng_below(r, 4) ? 1 : 2 + (int)rng_below(r, 2)};
    make_shape(r, &shape, limit);
    p->batch = histo_view_batch(&shape);
    const int64_t pool = 8 * limit + 64 < MOST_POOL ? 8 * limit + 64 : MOST_POOL;
    for (int a = 0; a < p->naxes; a++) {
        const edge_kind kind = a ? (edge_kind)rng_below(r, EDGE_KINDS) : wanted;
        const bool whole = kind == WHOLE_I64 || kind == WHOLE_U64;
        const histo_dtype dtype = whole && rng_below(r, 5) ? (kind == WHOLE_I64 ? HISTO_I64 : HISTO_U64)
                                                           : (histo_dtype)rng_below(r, HISTO_DTYPE_COUNT);
        const int64_t size = (int64_t)histo_dtype_size(dtype);
        twin *t = &p->samples[a];
        do
            p->axes[a] = make_axis(r, kind, dtype, &bin_edges[a]);
        while (p->naxes > 1 && p->axes[a].bins > 150);
        t->on_cpu = shape;
        t->on_cpu.dtype = dtype;
        histo_axis drawn = p->axes[a]; /* which has a width */
        if (!(isfinite(drawn.lo) && isfinite(drawn.hi) && drawn.lo < drawn.hi))
            drawn = histo_axis_regular(8, -120, 120);
        if (whole) drawn = histo_axis_regular(8, -0x1p63, 0x1p64);
        t->memory = make_samples(r, dtype, (distribution)rng_below(r, DISTRIBUTIONS), &drawn, pool + 2);
        if (whole && size == 8 && dtype <= HISTO_I64 && rng_below(r, 4))
            put_near_whole(r, dtype, &bin_edges[a], p->axes[a].bins, t->memory, pool);
        lay_out(r, &t->on_cpu, t->memory, size, pool);
        if (rng_below(r, 4) == 0) {
            swap_all(t->memory, (size_t)size, pool);
            t->on_cpu.dtype = (histo_dtype)(dtype | HISTO_SWAPPED);
        }
        send(t);
    }
    if (rng_below(r, 3) == 0) { /* a mask of some dtype, or of bits */
        const bool bits = rng_below(r, 2);
        twin *t = &p->mask;
        t->on_cpu = shape;
        t->on_cpu.dtype = bits ? HISTO_BIT : (histo_dtype)rng_below(r, HISTO_DTYPE_COUNT);
        const int64_t size = bits ? 1 : (int64_t)histo_dtype_size(t->on_cpu.dtype);
        t->memory = calloc((size_t)pool + 2, 8);
        for (int64_t i = 0; i < pool * 8; i++)
            t->memory[i] = (char)(bits || rng_below(r, 3) == 0 ? rng_next(r) : 0);
        lay_out(r, &t->on_cpu, t->memory, size, pool);
        if (bits) { /* strides count bits, from data on */
            t->on_cpu.data = t->memory;
            p->on_cpu.mask_offset = rng_below(r, 20);
            for (int d = 0; d < t->on_cpu.ndim; d++)
                t->on_cpu.strides[d] = t->on_cpu.strides[d] < 0 ? -t->on_cpu.strides[d] : t->on_cpu.strides[d];
            send_bits(t, pool * 8);
        } else {
            send(t);
        }
        p->on_cpu.mask = &t->on_cpu;
    }
    if (rng_below(r, 4) == 0) {
        p->on_cpu.where = &p->samples[0].on_cpu;
        p->on_cpu.where_lo = -20;
        p->on_cpu.where_hi = 1e4;
    }
    if (rng_below(r, 4) == 0) {
        const bool swapped = rng_below(r, 2);
        twin *t = &p->weights;
        p->weighting = rng_below(r, 2) ? HISTO_WEIGHT_REPRODUCIBLE : HISTO_WEIGHT_REPRODUCIBLE_SUM;
        const histo_dtype dtype = rng_below(r, 2) ? HISTO_F64 : HISTO_F32;
        const histo_axis drawn = histo_axis_regular(8, -3, 1000);
        t->on_cpu = shape;
        t->on_cpu.dtype = dtype;
        t->memory = make_samples(r, dtype, UNIFORM, &drawn, pool + 2);
        lay_out(r, &t->on_cpu, t->memory, (int64_t)histo_dtype_size(dtype), pool);
        if (swapped) {
            swap_all(t->memory, histo_dtype_size(dtype), pool);
            t->on_cpu.dtype = (histo_dtype)(dtype | HISTO_SWAPPED);
        }
        send(t);
        p->on_cpu.weights = &t->on_cpu;
    }
    p->on_gpu = p->on_cpu;
    if (p->on_cpu.mask) p->on_gpu.mask = &p->mask.on_gpu;
    if (p->on_cpu.where) p->on_gpu.where = &p->samples[0].on_gpu;
    if (p->on_cpu.weights) p->on_gpu.weights = &p->weights.on_gpu;
}

static void discard_problem(problem *p)
{
    for (int a = 0; a < p->naxes; a++)
        discard(&p->samples[a]);
    discard(&p->mask);
    discard(&p->weights);
}

/* ---- Counts ---- */

typedef struct counted {
    int64_t size;
    uint64_t *counts, *masked;
    double *sum_w, *sum_w2;
} counted;

static void read_all(const histo_hist *h, int64_t batch, counted *c)
{
    c->size = histo_hist_size(h, HISTO_FLOW);
    c->counts = malloc((size_t)c->size * sizeof *c->counts);
    c->masked = malloc((size_t)batch * sizeof *c->masked);
    c->sum_w = calloc((size_t)c->size, sizeof *c->sum_w);
    c->sum_w2 = calloc((size_t)c->size, sizeof *c->sum_w2);
    OK(histo_hist_read_counts(h, HISTO_FLOW, c->counts, c->size, NULL));
    OK(histo_hist_read_masked(h, c->masked, batch));
    if (histo_hist_weighting(h) != HISTO_UNWEIGHTED)
        OK(histo_hist_read_weights(h, HISTO_FLOW, c->sum_w,
                                   histo_hist_weighting(h) == HISTO_WEIGHT_REPRODUCIBLE ? c->sum_w2 : NULL, c->size,
                                   NULL));
}

static void free_counted(counted *c)
{
    free(c->counts);
    free(c->masked);
    free(c->sum_w);
    free(c->sum_w2);
}

static bool equal(const counted *a, const counted *b, int64_t batch)
{
    const size_t bytes = (size_t)a->size * sizeof(uint64_t);
    return memcmp(a->counts, b->counts, bytes) == 0 && memcmp(a->sum_w, b->sum_w, bytes) == 0 &&
           memcmp(a->sum_w2, b->sum_w2, bytes) == 0 &&
           memcmp(a->masked, b->masked, (size_t)batch * sizeof *a->masked) == 0;
}

static void describe_view(const char *what, const histo_view *v)
{
    print_message("%s: %s%s, batch dimensions %d, data at %d;", what, histo_dtype_name(v->dtype),
                  v->dtype & HISTO_SWAPPED ? " swapped" : "", v->batch_ndim, (int)((uintptr_t)v->data % 16));
    for (int d = 0; d < v->ndim; d++)
        print_message(" %lld by %lld", (long long)v->shape[d], (long long)v->strides[d]);
    print_message("\n");
}

static void describe(const problem *p)
{
    for (int a = 0; a < p->naxes; a++) {
        print_message("%lld bins in [%g, %g]%s, kind %d, ", (long long)p->axes[a].bins, p->axes[a].lo, p->axes[a].hi,
                      p->axes[a].closed ? " closed" : "", (int)p->axes[a].kind);
        describe_view("samples", &p->samples[a].on_cpu);
    }
    if (p->on_cpu.mask) describe_view("mask", p->on_cpu.mask);
    if (p->on_cpu.weights) describe_view("weights", p->on_cpu.weights);
    print_message("%s, weighting %d\n", p->on_cpu.where ? "with where" : "without where", (int)p->weighting);
}

/* Count by a strategy; false if it refuses. */
static bool count(const problem *p, const char *strategy, bool compile, counted *c)
{
    const bool on_device = strncmp(strategy, "cuda/", 5) == 0;
    histo_view views[3];
    for (int a = 0; a < p->naxes; a++)
        views[a] = on_device ? p->samples[a].on_gpu : p->samples[a].on_cpu;
    const histo_fill_options *fill = on_device ? &p->on_gpu : &p->on_cpu;
    const histo_hist_options kind = {.batch = p->batch, .weighting = p->weighting, .storage = storage_for(strategy)};
    const histo_plan_options options = {.strategy = strategy, .effort = compile ? HISTO_COMPILE : HISTO_ESTIMATE};
    if (kind.storage == HISTO_SPARSE && p->weighting != HISTO_UNWEIGHTED) return false;
    histo_hist *h;
    histo_plan *plan;
    OK(histo_hist_create(&h, p->naxes, p->axes, &kind));
    const histo_status status = histo_plan_create(&plan, h, views, fill, &options);
    if (status != HISTO_OK) {
        if (status != HISTO_UNSUPPORTED) fail_msg("%s: %s", strategy, histo_last_error());
        histo_hist_destroy(h);
        return false;
    }
    histo_tally tally; /* waits */
    if (histo_plan_fill(plan, h, views, fill) != HISTO_OK || histo_hist_tally(h, &tally) != HISTO_OK) {
        describe(p);
        fail_msg("%s: %s", strategy, histo_last_error());
    }
    read_all(h, p->batch, c);
    histo_plan_destroy(plan);
    histo_hist_destroy(h);
    return true;
}

static void check_problem(const problem *p, const char *what, bool compile, long *made)
{
    const char *rows = getenv("HISTO_TEST_ROWS");
    counted expected;
    assert_true(count(p, "cpu/sequential", false, &expected));
    for (int s = 0; s < histo_strategy_count(); s++) {
        histo_strategy_info info;
        char name[64];
        counted got;
        OK(histo_strategy_describe(s, &info));
        snprintf(name, sizeof name, "%s/%s", info.backend, info.name);
        if (strcmp(info.backend, "cuda") != 0 || (rows && strcmp(rows, name) != 0) || !count(p, name, compile, &got))
            continue;
        ++*made;
        if (!equal(&expected, &got, p->batch)) {
            int64_t at = 0;
            while (at < got.size && got.counts[at] == expected.counts[at])
                at++;
            describe(p);
            fail_msg("%s, %s: slot %lld of %lld", name, what, (long long)at, (long long)got.size);
        }
        free_counted(&got);
    }
    free_counted(&expected);
}

static void run_problems(int rounds, int64_t limit, bool compile, uint64_t seed)
{
    rng r = {seed};
    edges *bin_edges = malloc(3 * sizeof *bin_edges);
    long made = 0;
    for (int round = 0; round < rounds; round++) {
        problem p;
        const edge_kind kind = (edge_kind)(round % EDGE_KINDS);
        char what[64];
        snprintf(what, sizeof what, "round %d, edges %d", round, (int)kind);
        make_problem(&r, &p, bin_edges, kind, limit);
        check_problem(&p, what, compile, &made);
        discard_problem(&p);
    }
    free(bin_edges);
    print_message("%ld comparisons\n", made);
    assert_true(made >= (getenv("HISTO_TEST_ROWS") ? 1 : 3 * rounds));
}

static int rounds_of(int rounds)
{
    const char *every = getenv("HISTO_TEST_EVERY");
    const int n = rounds / (every ? atoi(every) : 1);
    return n > EDGE_KINDS ? n : EDGE_KINDS;
}

static void few_samples(void **state)
{
    (void)state;
    NEEDS_GPU();
    run_problems(rounds_of(900), 3000, false, 11);
}

/* Enough for cells and tables. */
static void many_samples(void **state)
{
    (void)state;
    NEEDS_GPU();
    run_problems(rounds_of(90), 290000, false, 12);
}

static void compiled_kernels(void **state)
{
    (void)state;
    NEEDS_GPU();
    run_problems(rounds_of(27), 100000, true, 13);
}

/* ---- Surveys ---- */

static bool same_axis(const histo_axis *a, const histo_axis *b)
{
    return a->kind == b->kind && a->bins == b->bins && a->lo == b->lo && a->hi == b->hi && a->closed == b->closed;
}

/* The same axis, or the same refusal. */
static void check_survey(const problem *p, histo_survey_options options, const char *what)
{
    histo_axis on_cpu, on_gpu;
    const histo_status status = histo_axis_from_data(&p->samples[0].on_cpu, &p->on_cpu, &options, &on_cpu);
    char refused[512] = "";
    if (status != HISTO_OK) snprintf(refused, sizeof refused, "%s", histo_last_error());
    const histo_status again = histo_axis_from_data(&p->samples[0].on_gpu, &p->on_gpu, &options, &on_gpu);
    if (again == HISTO_UNSUPPORTED && strstr(histo_last_error(), "not both")) return;
    if (status != again) fail_msg("%s: '%s' and '%s'", what, refused, histo_last_error());
    if (status != HISTO_OK) {
        assert_string_equal(refused, histo_last_error());
        return;
    }
    if (!same_axis(&on_cpu, &on_gpu))
        fail_msg("%s, %s: %lld bins in [%.17g, %.17g] and %lld in [%.17g, %.17g]", what,
                 histo_dtype_name(p->samples[0].on_cpu.dtype), (long long)on_cpu.bins, on_cpu.lo, on_cpu.hi,
                 (long long)on_gpu.bins, on_gpu.lo, on_gpu.hi);
}

/* Checks a random problem, without weights. */
typedef void unweighted_check(rng *r, problem *p, int round);

/* Problems of at most `samples` samples, every fifth of a hundred times as many. */
static void check_unweighted(uint64_t seed, int rounds, int64_t samples, unweighted_check *check)
{
    rng r = {seed};
    edges *bin_edges = malloc(3 * sizeof *bin_edges);
    for (int round = 0; round < rounds; round++) {
        problem p;
        make_problem(&r, &p, bin_edges, GIVEN, round % 5 ? samples : 100 * samples);
        p.on_cpu.weights = p.on_gpu.weights = NULL;
        check(&r, &p, round);
        discard_problem(&p);
    }
    free(bin_edges);
}

static void check_surveys(rng *r, problem *p, int round)
{
    (void)r;
    static const histo_rule rules[] = {HISTO_RULE_FD,   HISTO_RULE_AUTO, HISTO_RULE_STURGES,
                                       HISTO_RULE_RICE, HISTO_RULE_SQRT, HISTO_RULE_STONE};
    char what[64];
    snprintf(what, sizeof what, "round %d", round);
    check_survey(p, (histo_survey_options){.bins = 10}, what);
    check_survey(p, (histo_survey_options){.range = HISTO_RANGE_PERCENTILE, .bins = 10, .lo = 1, .hi = 98.5}, what);
    check_survey(p, (histo_survey_options){.range = HISTO_RANGE_FIXED, .rule = HISTO_RULE_FD, .lo = -5, .hi = 100},
                 what);
    const histo_rule rule = rules[round % 6];
    if (rule != HISTO_RULE_STONE || histo_view_size(&p->samples[0].on_cpu) < 20000)
        check_survey(p, (histo_survey_options){.rule = rule}, what);
}

static void surveys(void **state)
{
    (void)state;
    NEEDS_GPU();
    check_unweighted(21, rounds_of(150), 2000, check_surveys);
}

static void check_quantiles(rng *r, problem *p, int round)
{
    enum { MAX_QUANTILES = 9 };
    double q[MAX_QUANTILES], values[2][MAX_QUANTILES];
    const int n = 1 + (int)rng_below(r, MAX_QUANTILES);
    for (int i = 0; i < n; i++)
        q[i] = rng_below(r, 8) ? rng_uniform(r) : (double)rng_below(r, 2);
    for (int side = 0; side < 2; side++) {
        histo_quantiles *quantiles;
        OK(histo_quantiles_create(&quantiles, p->samples[0].on_cpu.dtype, HISTO_QUANTILE_LINEAR, n, q));
        while (quantiles_next_pass(quantiles))
            OK(side ? histo_quantiles_add(quantiles, &p->samples[0].on_gpu, &p->on_gpu)
                    : histo_quantiles_add(quantiles, &p->samples[0].on_cpu, &p->on_cpu));
        OK(histo_quantiles_read(quantiles, values[side]));
        histo_quantiles_destroy(quantiles);
    }
    for (int i = 0; i < n; i++)
        if (values[0][i] != values[1][i] && !(isnan(values[0][i]) && isnan(values[1][i])))
            fail_msg("round %d, %s: quantile %g is %.17g and %.17g", round,
                     histo_dtype_name(p->samples[0].on_cpu.dtype), q[i], values[0][i], values[1][i]);
}

static void quantiles(void **state)
{
    (void)state;
    NEEDS_GPU();
    check_unweighted(22, rounds_of(150), 2000, check_quantiles);
}

static void check_extremes(rng *r, problem *p, int round)
{
    (void)r;
    const size_t bytes = (size_t)p->batch * sizeof(histo_extremes);
    histo_extremes *on_cpu = malloc(bytes), *on_gpu = malloc(bytes);
    OK(histo_find_extremes(&p->samples[0].on_cpu, &p->on_cpu, on_cpu, p->batch));
    OK(histo_find_extremes(&p->samples[0].on_gpu, &p->on_gpu, on_gpu, p->batch));
    for (int64_t b = 0; b < p->batch; b++)
        if (memcmp(&on_cpu[b], &on_gpu[b], sizeof on_cpu[b]) != 0)
            fail_msg("round %d, %s, entry %lld: %llu samples %g … %g, and %llu samples %g … %g", round,
                     histo_dtype_name(p->samples[0].on_cpu.dtype), (long long)b, (unsigned long long)on_cpu[b].samples,
                     on_cpu[b].min.f64, on_cpu[b].max.f64, (unsigned long long)on_gpu[b].samples, on_gpu[b].min.f64,
                     on_gpu[b].max.f64);
    free(on_cpu);
    free(on_gpu);
}

static void extremes_of_every_layout(void **state)
{
    (void)state;
    NEEDS_GPU();
    check_unweighted(23, rounds_of(1500), 2500, check_extremes);
}

static void extremes_of_segments(void **state)
{
    (void)state;
    NEEDS_GPU();
    rng r = {24};
    for (int dtype = 0; dtype < HISTO_DTYPE_COUNT; dtype++) {
        enum { N = 50000, ENTRIES = 6 };
        const int64_t offsets[ENTRIES + 1] = {0, 0, 1, 5000, 5000, 49999, N};
        const histo_axis axis = histo_axis_regular(10, -5, 100);
        twin t = {.memory = make_samples(&r, (histo_dtype)dtype, SPECIAL, &axis, N)}, o = {.memory = NULL};
        t.on_cpu = histo_view_1d(t.memory, (histo_dtype)dtype, N);
        o.on_cpu = histo_view_1d(offsets, HISTO_I64, ENTRIES + 1);
        send(&t);
        send(&o);
        histo_extremes extremes[3][ENTRIES];
        OK(histo_find_extremes(&t.on_cpu, &(histo_fill_options){.offsets = offsets}, extremes[0], ENTRIES));
        OK(histo_find_extremes(&t.on_gpu, &(histo_fill_options){.offsets = offsets}, extremes[1], ENTRIES));
        OK(histo_find_extremes(&t.on_gpu, &(histo_fill_options){.offsets = o.on_gpu.data}, extremes[2], ENTRIES));
        assert_memory_equal(extremes[0], extremes[1], sizeof extremes[0]);
        assert_memory_equal(extremes[0], extremes[2], sizeof extremes[0]);
        discard(&t);
        discard(&o);
    }
}

static void refusals(void **state)
{
    (void)state;
    NEEDS_GPU();
    const float x[] = {1, 2, 3};
    const uint8_t mask[] = {1, 0, 1};
    twin t = {.on_cpu = histo_view_1d(x, HISTO_F32, 3)};
    const histo_view host = histo_view_1d(mask, HISTO_U8, 3), swapped = histo_view_1d(x, HISTO_F32 | HISTO_SWAPPED, 3);
    send(&t);
    histo_extremes e;
    REFUSED(HISTO_UNSUPPORTED, "the mask is not",
            histo_find_extremes(&t.on_gpu, &(histo_fill_options){.mask = &host}, &e, 1));
    REFUSED(HISTO_UNSUPPORTED, "the samples are not",
            histo_find_extremes(&t.on_cpu, &(histo_fill_options){.where = &t.on_gpu}, &e, 1));
    histo_stats stats = {0};
    REFUSED(HISTO_UNSUPPORTED, "moments", histo_stats_add(&stats, &t.on_gpu, NULL));
    histo_hist *h;
    histo_plan *plan;
    const histo_axis axis = histo_axis_regular(4, 0, 1);
    OK(histo_hist_create(&h, 1, &axis, NULL));
    REFUSED(HISTO_UNSUPPORTED, "in its memory",
            histo_plan_create(&plan, h, &swapped, NULL, &(histo_plan_options){.device = HISTO_DEVICE_CUDA(0)}));
    histo_hist_destroy(h);
    discard(&t);
}

/* The argument names the tests to run, with * for any characters. */
int main(int argc, char **argv)
{
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_samples),
        cmocka_unit_test(many_samples),
        cmocka_unit_test(compiled_kernels),
        cmocka_unit_test(surveys),
        cmocka_unit_test(quantiles),
        cmocka_unit_test(extremes_of_every_layout),
        cmocka_unit_test(extremes_of_segments),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
