/* Every allocation of every call fails once. The call then returns HISTO_NO_MEMORY, changes nothing, leaks nothing
 * (under the address sanitizer), and succeeds when repeated. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "counts/hist.h"
#include "support/calls.h"
#include "support/data.h"

/* The index of the allocation to fail, over all threads; negative: none. */
static _Atomic long fail_at = -1;

/* What the allocator has given, and the most it had given at once. */
static _Atomic size_t given, peak;

static void *allocate(void *context, size_t bytes)
{
    assert_ptr_equal(context, &given);
    if (fail_at >= 0 && fail_at-- == 0) return NULL;
    void *memory = malloc(bytes);
    if (memory && (given += bytes) > peak) peak = given;
    return memory;
}

static void release(void *context, void *memory, size_t bytes)
{
    assert_ptr_equal(context, &given);
    given -= bytes;
    free(memory);
}

static const histo_allocator counting = {.allocate = allocate, .release = release, .context = &given};

/* Repeat the call with its first, second, … allocation failing until it succeeds; `unchanged` must hold after each
 * failure. At least `min_failures` allocations must have failed. */
#define EXHAUST(min_failures, call, unchanged)                                                                         \
    do {                                                                                                               \
        for (long nth = 0;; nth++) {                                                                                   \
            fail_at = nth;                                                                                             \
            histo_status status_ = (call);                                                                             \
            bool failed_ = fail_at < 0;                                                                                \
            fail_at = -1;                                                                                              \
            if (!failed_) {                                                                                            \
                if (status_ != HISTO_OK) fail_msg("%s: %s", #call, histo_last_error());                                \
                if (nth < (min_failures)) fail_msg("%s: only %ld allocations", #call, nth);                            \
                break;                                                                                                 \
            }                                                                                                          \
            if (status_ != HISTO_NO_MEMORY)                                                                            \
                fail_msg("%s: allocation %ld failed, status %d (%s)", #call, nth, (int)status_, histo_last_error());   \
            assert_non_null(strstr(histo_last_error(), "out of memory"));                                              \
            assert_true(unchanged);                                                                                    \
        }                                                                                                              \
    } while (0)

static uint64_t samples_in(const histo_hist *h)
{
    histo_tally tally;
    OK(histo_hist_tally(h, &tally));
    return tally.samples;
}

static void histograms(void **state)
{
    (void)state;
    enum { N = 5000 };
    rng r = {.state = 21};
    static const double edges[] = {0, 0.1, 0.5, 2};
    static const int64_t first[] = {0, 1};
    const histo_axis axes[] = {histo_axis_regular(20, 0, 1), histo_axis_variable(3, edges)};
    float *x = make_samples(&r, HISTO_F32, UNIFORM, &axes[0], N);
    double *y = make_samples(&r, HISTO_F64, UNIFORM, &axes[1], N);
    histo_view views[] = {histo_view_1d(x, HISTO_F32, N), histo_view_1d(y, HISTO_F64, N)};
    histo_fill_options options = {.weights = &views[1]};
    for (int weighting = 0; weighting <= HISTO_WEIGHT_REPRODUCIBLE_SUM; weighting++) {
        histo_hist *h = NULL, *clone = NULL, *made = NULL;
        histo_plan *plan = NULL;
        const histo_fill_options *fill = weighting ? &options : NULL;
        EXHAUST(3, histo_hist_create(&h, 2, axes, &(histo_hist_options){.weighting = (histo_weighting)weighting}),
                h == NULL);
        EXHAUST(1, histo_hist_set_name(h, "name"), !histo_hist_name(h));
        EXHAUST(1, histo_hist_set_metadata(h, "{\"a\": 1}"), !histo_hist_metadata(h));
        EXHAUST(3, histo_hist_fill(h, views, fill), samples_in(h) == 0);
        assert_int_equal(samples_in(h), N);
        EXHAUST(2, histo_hist_clone(h, &clone), clone == NULL);
        /* Exact sums may have enough planes; merging then allocates nothing. */
        EXHAUST(0, histo_hist_merge(clone, h), samples_in(clone) == N);
        assert_int_equal(samples_in(clone), 2 * N);
        histo_hist *before = NULL;
        bool same;
        OK(histo_hist_clone(clone, &before));
        EXHAUST(0, histo_hist_subtract(clone, h), (histo_hist_equal(clone, before, &same), same));
        EXHAUST(0, histo_hist_equal(clone, h, &same), true);
        histo_hist_destroy(before);
        OK(histo_hist_clone(clone, &before));
        EXHAUST(0, histo_hist_scale(clone, weighting ? 0.7 : 2), (histo_hist_equal(clone, before, &same), same));
        histo_hist_destroy(before);
        EXHAUST(2, histo_hist_project(h, 1, (const int[]){1}, &made), made == NULL);
        assert_int_equal(samples_in(made), N);
        const histo_view rows = histo_view_1d(first, HISTO_I64, 2);
        const histo_fill_options few = {.rows = &rows, .weights = weighting ? views : NULL};
        EXHAUST(1, histo_hist_fill(made, &views[1], &few), samples_in(made) == N);
        histo_hist_destroy(made);
        made = NULL;
        EXHAUST(2, histo_hist_rebin(h, 0, 4, &made), made == NULL);
        histo_hist_destroy(made);
        made = NULL;
        EXHAUST(2, histo_hist_slice(h, 1, 1, 3, &made), made == NULL);
        histo_hist_destroy(made);
        made = NULL;
        EXHAUST(2, histo_plan_create(&plan, h, views, fill, &(histo_plan_options){.effort = HISTO_MEASURE}),
                plan == NULL);
        EXHAUST(0, histo_plan_fill(plan, h, views, fill), samples_in(h) == N);
        const histo_fill_options anew = {.weights = weighting ? &views[1] : NULL, .replace = true};
        EXHAUST(2, histo_plan_fill(plan, h, views, &anew), samples_in(h) == 2 * N);
        assert_int_equal(samples_in(h), N);
        OK(histo_plan_fill(plan, h, views, fill));
        for (int format = HISTO_JSON; format <= HISTO_BINARY; format++) {
            void *data = NULL;
            size_t size = 0;
            EXHAUST(1, histo_hist_save(h, (histo_format)format, NULL, &data, &size), data == NULL);
            EXHAUST(3, histo_hist_load(data, size, NULL, &made), made == NULL);
            assert_int_equal(samples_in(made), 2 * N);
            histo_hist_destroy(made);
            made = NULL;
            histo_free(data);
        }
        histo_plan_destroy(plan);
        histo_hist_destroy(h);
        histo_hist_destroy(clone);
        histo_wisdom_forget();
    }
    free(x);
    free(y);
}

static bool has_values(const histo_map *map, const double *values)
{
    double now[23];
    OK(histo_map_read(map, now, 23));
    return memcmp(now, values, sizeof now) == 0;
}

static void maps(void **state)
{
    (void)state;
    enum { N = 500 };
    rng r = {.state = 22};
    const histo_axis axis = histo_axis_regular(20, 0, 1);
    float *x = make_samples(&r, HISTO_F32, UNIFORM, &axis, N);
    const histo_view view = histo_view_1d(x, HISTO_F32, N);
    const double q[] = {0.1, 0.9}, target[] = {0, 1};
    double values[23];
    histo_hist *h;
    histo_map *map = NULL;
    OK(histo_hist_create(&h, 1, &axis, NULL));
    OK(histo_hist_fill(h, &view, NULL));
    EXHAUST(3, histo_map_create(&map, 1, &axis, NULL), map == NULL);
    for (int i = 0; i < 23; i++)
        values[i] = i;
    OK(histo_map_write(map, values, 23));
    EXHAUST(0, histo_map_equalize(map, h, NULL), has_values(map, values));
    OK(histo_map_write(map, values, 23));
    EXHAUST(3, histo_map_match(map, h, h, NULL), has_values(map, values));
    OK(histo_map_write(map, values, 23));
    EXHAUST(3, histo_map_landmarks(map, h, 2, q, target, true, NULL), has_values(map, values));
    OK(histo_map_write(map, values, 23));
    EXHAUST(2, histo_map_project(map, h, NULL, NULL), has_values(map, values));
    OK(histo_map_write(map, values, 23));
    EXHAUST(2, histo_map_classes(map, h, HISTO_SPLIT_OTSU, 3, NULL), has_values(map, values));
    histo_map_destroy(map);
    histo_hist_destroy(h);
    free(x);
}

/* Numbers from histograms and samples. */
static void numbers(void **state)
{
    (void)state;
    enum { N = 5000, PARTS = 3 };
    rng r = {.state = 27};
    const histo_axis axes[] = {histo_axis_regular(20, 0, 1), histo_axis_regular(30, 0, 1)};
    double *x = make_samples(&r, HISTO_F64, UNIFORM, &axes[0], N);
    const histo_view views[] = {histo_view_1d(x, HISTO_F64, N), histo_view_1d(x, HISTO_F64, N)};
    const double q[] = {0.1, 0.5};
    double values[2];
    uint64_t counts[20];
    int64_t last[PARTS];
    histo_summary summary;
    histo_information information;
    histo_extremes extremes[1];
    histo_hist *one, *two;
    histo_quantiles *quantiles = NULL;
    histo_survey *survey = NULL;
    bool more;
    void *data = NULL;
    size_t size;
    OK(histo_hist_create(&one, 1, axes, NULL));
    OK(histo_hist_create(&two, 2, axes, NULL));
    OK(histo_hist_fill(one, views, NULL));
    OK(histo_hist_fill(two, views, NULL));
    EXHAUST(2, histo_hist_quantiles(one, HISTO_QUANTILE_LINEAR, 2, q, values), true);
    EXHAUST(2, histo_hist_summarize(one, &summary), true);
    EXHAUST(2, histo_hist_compare(one, one, HISTO_CORRELATION, values), true);
    EXHAUST(2, histo_hist_inform(two, &information), true);
    for (histo_split_method method = HISTO_SPLIT_OTSU; method <= HISTO_SPLIT_MAX_ENTROPY; method++) {
        if (method == HISTO_SPLIT_MINIMUM) continue; /* there are no two maxima */
        EXHAUST(2, histo_hist_split(one, method, 2, last), true);
    }
    EXHAUST(3, histo_hist_split(one, HISTO_SPLIT_OTSU, PARTS, last), true);
    EXHAUST(0, histo_count(1, axes, views, NULL, counts, 20, NULL, NULL), true);
    EXHAUST(0, histo_find_extremes(views, NULL, extremes, 1), true);
    EXHAUST(4, histo_quantiles_create(&quantiles, HISTO_F64, HISTO_QUANTILE_LINEAR, 2, q), quantiles == NULL);
    const histo_survey_options in_parts = {
        .range = HISTO_RANGE_PERCENTILE, .lo = 1, .hi = 99, .bins = 10, .in_parts = true};
    EXHAUST(4, histo_survey_create(&survey, HISTO_F64, &in_parts), survey == NULL);
    OK(histo_survey_next_pass(survey, &more));
    OK(histo_survey_add(survey, views, NULL));
    EXHAUST(1, histo_survey_save(survey, &data, &size), data == NULL);
    EXHAUST(0, histo_survey_replace(survey, data, size), true);
    histo_free(data);
    histo_survey_destroy(survey);
    histo_quantiles_destroy(quantiles);
    histo_hist_destroy(one);
    histo_hist_destroy(two);
    free(x);
}

static void fill(uint16_t *out, int n)
{
    for (int i = 0; i < n; i++)
        out[i] = 7;
}

static bool is_filled(const uint16_t *out, int n)
{
    for (int i = 0; i < n; i++)
        if (out[i] != 7) return false;
    return true;
}

/* Maps of patterns, pairs and values, blended and not, in windows: a call that fails writes nothing. */
static void applied_maps(void **state)
{
    (void)state;
    enum { SIDE = 64, N = SIDE * SIDE };
    static uint8_t bytes[2 * N];
    static float floats[N];
    static uint16_t out[N];
    const int64_t shape[] = {SIDE, SIDE};
    const histo_axis axes[] = {histo_axis_integer(0, 100), histo_axis_regular(10, 0, 256)};
    const histo_view of_bytes[] = {histo_view_nd(bytes, HISTO_U8, 2, shape),
                                   histo_view_nd(bytes + N, HISTO_U8, 2, shape)};
    const histo_view of_floats = histo_view_nd(floats, HISTO_F32, 2, shape);
    const histo_apply_options tiles = {.tiles = {2, {2, 2}, {32, 32}}, .threads = 2};
    histo_map *one, *two, *four;
    OK(histo_map_create(&one, 1, axes, NULL));
    OK(histo_map_create(&two, 2, axes, NULL));
    OK(histo_map_create(&four, 1, axes, &(histo_map_options){.batch = 4}));
    for (int narrow = 0; narrow <= 1; narrow++) {
        const histo_view to = histo_view_nd(out, narrow ? HISTO_U8 : HISTO_U16, 2, shape);
        histo_moments m = {.m00 = -1};
        fill(out, N);
        EXHAUST(2, histo_map_apply(one, of_bytes, &to, NULL), is_filled(out, N));
        fill(out, N);
        EXHAUST(1, histo_map_apply(one, &of_floats, &to, NULL), is_filled(out, N));
        fill(out, N);
        EXHAUST(3, histo_map_apply(two, of_bytes, &to, NULL), is_filled(out, N));
        fill(out, N);
        EXHAUST(2, histo_map_apply(four, of_bytes, &to, &tiles), is_filled(out, N));
        EXHAUST(1, histo_map_moments(two, of_bytes, NULL, NULL, &m), m.m00 == -1); /* the map keeps the rest */
        assert_true(m.m00 == 0);
    }
    histo_map_destroy(one);
    histo_map_destroy(two);
    histo_map_destroy(four);
}

static void surveys(void **state)
{
    (void)state;
    enum { N = 3000 };
    rng r = {.state = 22};
    histo_axis unit = histo_axis_regular(1, 0, 1), axis;
    double *x = make_samples(&r, HISTO_F64, GAUSSIAN, &unit, N);
    histo_view v = histo_view_1d(x, HISTO_F64, N);
    for (int rule = HISTO_RULE_NONE; rule <= HISTO_RULE_SQRT; rule++) {
        histo_survey_options options = {
            .rule = (histo_rule)rule, .bins = 10, .range = HISTO_RANGE_PERCENTILE, .lo = 1, .hi = 99};
        axis.bins = -1;
        EXHAUST(1, histo_axis_from_data(&v, NULL, &options, &axis), axis.bins == 0);
        assert_true(axis.bins >= 1);
    }
    free(x);
}

/* Tables of all 16-bit patterns, spans of stored edges, and workspaces of strategies. */
static void plans_for(const histo_axis *axis, histo_dtype dtype)
{
    enum { N = 300000 };
    rng r = {.state = 23};
    void *x = make_samples(&r, dtype, UNIFORM, axis, N);
    histo_view v = histo_view_1d(x, dtype, N);
    histo_hist *hists[2], *h;
    for (int storage = HISTO_DENSE; storage <= HISTO_SPARSE; storage++)
        OK(histo_hist_create(&hists[storage], 1, axis, &(histo_hist_options){.storage = (histo_storage)storage}));
    histo_strategy_info info;
    uint64_t filled = 0;
    for (int s = 0; s < histo_strategy_count(); s++) {
        OK(histo_strategy_describe(s, &info));
        if (strcmp(info.backend, "cpu") != 0) continue;
        h = hists[info.storage];
        filled = samples_in(h);
        const histo_plan_options by_name = {.strategy = info.name};
        histo_plan *plan = NULL;
        if (histo_plan_create(&plan, h, &v, NULL, &by_name) == HISTO_UNSUPPORTED) continue; /* not for this dtype */
        histo_plan_destroy(plan);
        plan = NULL;
        EXHAUST(2, histo_plan_create(&plan, h, &v, NULL, &by_name), plan == NULL);
        EXHAUST(0, histo_plan_fill(plan, h, &v, NULL), samples_in(h) == filled);
        histo_plan_destroy(plan);
    }
    assert_true(samples_in(hists[HISTO_DENSE]) >= 4 * N);
    assert_int_equal(samples_in(hists[HISTO_SPARSE]), N);
    for (int storage = HISTO_DENSE; storage <= HISTO_SPARSE; storage++)
        histo_hist_destroy(hists[storage]);
    free(x);
}

static void plans(void **state)
{
    (void)state;
    double edges[201];
    for (int e = 0; e <= 200; e++)
        edges[e] = e * e;
    histo_axis regular = histo_axis_regular(1000, 0, 65536), variable = histo_axis_variable(200, edges);
    plans_for(&regular, HISTO_U16);
    plans_for(&variable, HISTO_F32);
}

/* A reproducible fill in two pieces, as fills above 2^30 samples are split: once the first piece has counted, the
 * second allocates nothing. */
static void pieces(void **state)
{
    (void)state;
    enum { N = 5000, FIRST = 3000 };
    rng r = {.state = 24};
    histo_axis axis = histo_axis_regular(20, 0, 1);
    float *x = make_samples(&r, HISTO_F32, UNIFORM, &axis, N);
    histo_view samples = histo_view_1d(x, HISTO_F32, N), weights = samples;
    const histo_view *operands[] = {&samples, &weights};
    const histo_fill_options fill = {.weights = &weights};
    const histo_hist_options reproducible = {.weighting = HISTO_WEIGHT_REPRODUCIBLE};
    for (int s = 0; s < 2; s++) {
        histo_hist *h;
        histo_plan *plan;
        OK(histo_hist_create(&h, 1, &axis, &reproducible));
        histo_plan_options options = {.strategy = s ? "cpu/privatized" : "cpu/sequential", .threads = 1};
        OK(histo_plan_create(&plan, h, &samples, &fill, &options));
        histo_job job = {.problem = &plan->problem,
                         .accumulators = &h->accumulators,
                         .threads = 1,
                         .params = plan->params,
                         .end = FIRST};
        histo_strided_iter_make(&job.iter, 2, operands);
        OK(histo_backend_cpu.run(plan->row->strategy, &job));
        assert_int_equal(samples_in(h), FIRST);
        /* Simulate many samples: digits near their limit must be carried. */
        histo_exact *const sums[] = {h->accumulators.exact_w, h->accumulators.exact_w2};
        for (int i = 0; i < 2; i++) {
            for (int k = 0; k < HISTO_EXACT_WINDOWS; k++)
                for (int64_t slot = 0; sums[i]->plane[k] && slot < sums[i]->slots; slot++)
                    if (sums[i]->plane[k][slot]) sums[i]->plane[k][slot] = INT64_MAX / 4;
            sums[i]->pending = HISTO_EXACT_MAX_ADDS;
        }
        job.begin = FIRST;
        job.end = N;
        fail_at = 0;
        histo_status status = histo_backend_cpu.run(plan->row->strategy, &job);
        bool allocated = fail_at < 0;
        fail_at = -1;
        OK(status);
        assert_false(allocated);
        assert_null(job.workspace);
        assert_int_equal(samples_in(h), N);
        histo_plan_destroy(plan);
        histo_hist_destroy(h);
    }
    free(x);
}

/* ---- All functions ---- */

/* The histograms that calls may change. */
enum { SEEN = 3 };

static void clone_seen(const call_objects *o, histo_hist *clones[SEEN])
{
    const histo_hist *const seen[SEEN] = {o->hist, o->weighted, o->joint};
    for (int i = 0; i < SEEN; i++)
        OK(histo_hist_clone(seen[i], &clones[i]));
}

static bool are_as_cloned(const call *c, const call_objects *o, histo_hist *const clones[SEEN])
{
    const histo_hist *const seen[SEEN] = {o->hist, o->weighted, o->joint};
    bool same = true;
    for (int i = 0; i < SEEN && same; i++)
        OK(histo_hist_equal(seen[i], clones[i], &same));
    if (!same) fail_msg("histo_%s changed a histogram", c->name);
    return same;
}

static histo_status call_anew(const call *c, const call_objects *o)
{
    void *p[CALL_POINTERS];
    unsigned may_be_null;
    call_arguments(c, o, p, &may_be_null);
    return c->function(p);
}

/* Each function that can fail, with small arguments: the tests above have those that make it allocate more. Objects
 * that are new, so that nothing is there already; all that a call took is given back. */
static void every_call(void **state)
{
    (void)state;
    remove(CALL_FILE);
    OK(histo_wisdom_save(CALL_FILE));
    for (int i = 0; i < calls_size; i++) {
        const call *c = &calls[i];
        const size_t before = given;
        call_objects o;
        histo_hist *clones[SEEN];
        call_objects_make(&o);
        clone_seen(&o, clones);
        EXHAUST(0, call_anew(c, &o), are_as_cloned(c, &o, clones));
        for (int h = 0; h < SEEN; h++)
            histo_hist_destroy(clones[h]);
        call_objects_free(&o);
        histo_wisdom_forget();
        if (given != before) fail_msg("%s keeps %zd bytes", c->name, (ssize_t)(given - before));
    }
    remove(CALL_FILE);
}

/* Those that return no status, or none that is of memory. A plan that cannot be made to be described is none. */
static const char *const without_memory[] = {
    /* base.h */ "status_name",
    "last_error",
    "set_error",
    "set_monitor",
    "set_allocator",
    "set_memory_limit",
    "memory_used",
    "memory_available",
    "version",
    "memory_device",
    "set_device_allocator",
    "device_memory_used",
    "set_threads",
    "threads",
    /* axis.h */ "axis_regular",
    "axis_integer",
    "axis_log",
    "axis_sqrt",
    "axis_power",
    "axis_variable",
    "axis_variable_i64",
    "axis_variable_u64",
    "axis_closed",
    "axis_kind_name",
    "axis_edge",
    "axis_equal",
    /* samples.h */ "dtype_size",
    "dtype_name",
    "sample_value",
    "view_1d",
    "view_nd",
    "view_size",
    /* hist.h */ "weighting_name",
    "hist_destroy",
    "hist_swap",
    "hist_naxes",
    "hist_batch",
    "hist_weighting",
    "hist_storage",
    "hist_axis",
    "hist_name",
    "hist_metadata",
    "hist_last_plan",
    "hist_size",
    "hist_unravel",
    /* plan.h */ "strategy_count",
    "plan_destroy",
    "plan_strategy",
    "plan_threads",
    "plan_memory",
    "plan_explain",
    "machine_describe",
    "wisdom_forget",
    "backend_load",
    "kernel_cache",
    "sequence_begin",
    "sequence_end",
    /* survey.h */ "survey_destroy",
    "quantiles_destroy",
    "thresholds_destroy",
    "ranks_destroy",
    "stats_merge",
    "power_sums_merge",
    "power_sums_read",
    /* boosting.h */ "features_destroy",
    "features_bins",
    "features_wait",
    "node_sums_subtract",
    "gradients_destroy",
    "gradients_unit",
    /* map.h, save.h */ "map_destroy",
    "map_size",
    "free",
};

typedef struct declared {
    int functions;
    bool of_calls[256], without[sizeof without_memory / sizeof *without_memory];
} declared;

static void look_up(void *context, const char *text)
{
    declared *found = context;
    declaration d;
    for (; next_declaration(&text, &d); found->functions++) {
        const char *name = d.name + strlen("histo_");
        bool known = false;
        for (int i = 0; i < calls_size; i++)
            if (!strcmp(name, calls[i].name)) known = found->of_calls[i] = true;
        for (size_t i = 0; i < sizeof without_memory / sizeof *without_memory; i++)
            if (!strcmp(name, without_memory[i])) known = found->without[i] = true;
        if (!known) fail_msg("%s is neither in the table of calls nor said to need no memory", d.name);
    }
}

/* Every function is tested, or named above; and all that is, is a function. */
static void nothing_is_forgotten(void **state)
{
    (void)state;
    declared found = {0};
    assert_true(each_header(look_up, &found) > 5);
    assert_true(calls_size < 256 && found.functions > 140);
    for (int i = 0; i < calls_size; i++)
        if (!found.of_calls[i]) fail_msg("there is no histo_%s", calls[i].name);
    for (size_t i = 0; i < sizeof without_memory / sizeof *without_memory; i++)
        if (!found.without[i]) fail_msg("there is no histo_%s", without_memory[i]);
}

/* The plan of a fill that had none is made when it is asked for. */
static void last_plan(void **state)
{
    (void)state;
    call_objects o;
    call_objects_make(&o);
    OK(histo_hist_fill(o.hist, o.samples, NULL));
    const histo_plan *plan = NULL;
    for (long nth = 0; !plan; nth++) {
        fail_at = nth;
        plan = histo_hist_last_plan(o.hist);
        const bool failed = fail_at < 0;
        fail_at = -1;
        assert_true(failed == !plan);
    }
    assert_true(histo_plan_explain(plan, NULL, 0) > 0);
    call_objects_free(&o);
}

/* ---- Available memory ---- */

static void put(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* Make a file system in the current directory with the numbers that a kernel reports. */
static int make_kernel(void **state)
{
    static char place[] = "/tmp/histo-memory-XXXXXX";
    *state = place;
    if (!mkdtemp(place) || chdir(place) != 0) return -1;
    mkdir("self", 0777);
    mkdir("outer", 0777);
    mkdir("outer/inner", 0777);
    mkdir("memory", 0777);
    mkdir("memory/job", 0777);
    return 0;
}

static int remove_kernel(void **state)
{
    static const char *const paths[] = {"outer/inner/memory.max",
                                        "outer/inner/memory.current",
                                        "outer/inner/memory.stat",
                                        "outer/memory.max",
                                        "outer/memory.current",
                                        "memory/memory.limit_in_bytes",
                                        "memory/memory.usage_in_bytes",
                                        "memory/memory.stat",
                                        "self/cgroup",
                                        "meminfo",
                                        "outer/inner",
                                        "outer",
                                        "memory/job",
                                        "memory",
                                        "self"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        remove(paths[i]);
    return chdir("/") == 0 ? remove(*state) : -1;
}

static void available(void **state)
{
    (void)state;
    assert_true(histo_memory_available_in("nowhere", "nowhere") == SIZE_MAX);
    put("meminfo", "MemTotal: 900000 kB\nMemAvailable:   100000 kB\nSwapFree:  20000 kB\n");
    assert_int_equal(histo_memory_available_in(".", "."), 120000 * 1024);
    put("self/cgroup", "4:cpu,cpuacct:/elsewhere\n0::/outer/inner\n");
    assert_int_equal(histo_memory_available_in(".", "."), 120000 * 1024);
    put("outer/inner/memory.max", "50000000\n");
    put("outer/inner/memory.current", "41000000\n");
    assert_int_equal(histo_memory_available_in(".", "."), 9000000);
    put("outer/inner/memory.stat", "anon 1\nfile 2000001\ninactive_file 1000000\n");
    assert_int_equal(histo_memory_available_in(".", "."), 10000000);
    put("outer/memory.max", "max\n");
    put("outer/memory.current", "60000000\n");
    assert_int_equal(histo_memory_available_in(".", "."), 10000000);
    put("outer/memory.max", "60000001\n");
    assert_int_equal(histo_memory_available_in(".", "."), 1);
    put("self/cgroup", "4:memory:/job\n");
    put("memory/memory.limit_in_bytes", "7000000\n");
    put("memory/memory.usage_in_bytes", "5000000\n");
    put("memory/memory.stat", "inactive_file 9\ntotal_inactive_file 500000\n");
    assert_int_equal(histo_memory_available_in(".", "."), 2500000);
}

/* A request for more memory than available fails before it allocates, and reports both sizes. */
static void too_much(void **state)
{
    (void)state;
    struct rlimit before, tight;
    unsigned long long pages = 0;
    FILE *statm = fopen("/proc/self/statm", "r");
    if (!statm || fscanf(statm, "%llu", &pages) != 1) skip();
    fclose(statm);
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    tight = before;
    tight.rlim_cur = pages * (unsigned long long)sysconf(_SC_PAGESIZE) + (200U << 20);
    const histo_axis axis = histo_axis_regular(1 << 28, 0, 1), small = histo_axis_regular(1 << 20, 0, 1);
    const histo_axis long_axis = histo_axis_log(1 << 28, 1, 10);
    histo_hist *h = NULL;
    histo_plan *plan = NULL;
    const float x = 0.5F;
    const histo_view samples = {&x, HISTO_F32, 1, 0, {1 << 30}, {0}}; /* one sample, repeated by a stride of 0 */
    assert_int_equal(setrlimit(RLIMIT_AS, &tight), 0);
    fail_at = 1000000; /* counts allocations without failing any */
    histo_status dense = histo_hist_create(&h, 1, &axis, NULL);
    char sentence[512];
    snprintf(sentence, sizeof sentence, "%s", histo_last_error());
    histo_status edges = histo_hist_create(&h, 1, &long_axis, &(histo_hist_options){.storage = HISTO_SPARSE});
    histo_status batch = histo_hist_create(&h, 1, &small, &(histo_hist_options){.batch = 200});
    long allocated = 1000000 - fail_at;
    /* A plan chooses a strategy whose workspace fits. */
    fail_at = -1;
    const histo_axis medium = histo_axis_regular(14 << 20, 0, 1);
    histo_status fits = histo_hist_create(&h, 1, &medium, NULL);
    histo_status planned =
        histo_plan_create(&plan, h, &samples, NULL, &(histo_plan_options){.strategy = "cpu/privatized", .threads = 64});
    histo_status other = histo_plan_create(&plan, h, &samples, NULL, &(histo_plan_options){.threads = 64});
    setrlimit(RLIMIT_AS, &before);
    assert_int_equal(dense, HISTO_NO_MEMORY);
    assert_non_null(strstr(sentence, "out of memory: 2.15 GB for the counts of a histogram, and "));
    assert_non_null(strstr(sentence, "MB available: use fewer bins"));
    assert_int_equal(edges, HISTO_NO_MEMORY);
    assert_int_equal(batch, HISTO_NO_MEMORY);
    assert_true(allocated < 12);
    OK(fits);
    assert_int_equal(planned, HISTO_UNSUPPORTED);
    OK(other);
    histo_plan_destroy(plan);
    histo_hist_destroy(h);
}

/* The allocator must be set while no memory is used, and a limit holds for whatever is taken. */
static void limits(void **state)
{
    (void)state;
    enum { N = 1 << 16 };
    const histo_axis small = histo_axis_regular(10, 0, 1), large = histo_axis_regular(N, 0, 1);
    histo_hist *h, *other = NULL;
    histo_allocator half = counting;
    half.release = NULL;
    histo_wisdom_forget();
    assert_int_equal(given, 0);
    assert_int_equal(histo_memory_used(), 0);
    REFUSED(HISTO_INVALID, "needs both", histo_set_allocator(&half));
    OK(histo_set_allocator(NULL));
    OK(histo_hist_create(&h, 1, &small, NULL));
    assert_int_equal(given, 0);
    assert_true(histo_memory_used() > 13 * sizeof(uint64_t));
    REFUSED(HISTO_INVALID, "set it before all else", histo_set_allocator(&counting));
    histo_hist_destroy(h);
    assert_int_equal(histo_memory_used(), 0);
    OK(histo_set_allocator(&counting));
    OK(histo_hist_create(&h, 1, &large, NULL));
    assert_int_equal(histo_memory_used(), given);
    histo_set_memory_limit(histo_memory_used() + N);
    assert_true(histo_memory_available() <= N);
    REFUSED(HISTO_NO_MEMORY, "out of memory", histo_hist_create(&other, 1, &large, NULL));
    assert_null(other);
    OK(histo_hist_create(&other, 1, &small, NULL));
    histo_hist_destroy(other);
    histo_set_memory_limit(1); /* less than is used: nothing more, and what there is can be used */
    assert_int_equal(histo_memory_available(), 0);
    REFUSED(HISTO_NO_MEMORY, "out of memory", histo_hist_create(&other, 1, &small, NULL));
    histo_tally tally;
    OK(histo_hist_tally(h, &tally));
    histo_set_memory_limit(0);
    histo_hist_destroy(h);
    assert_int_equal(given, 0);
}

/* A fill takes no more than its plan says and, where a workspace is all, not much less. */
static void needs(void **state)
{
    (void)state;
    enum { N = 1 << 20 };
    rng r = {.state = 26};
    const histo_axis axis = histo_axis_regular(1000, 0, 65536);
    for (int wide = 0; wide < 2; wide++) {
        const histo_dtype dtype = wide ? HISTO_F32 : HISTO_U16;
        void *x = make_samples(&r, dtype, UNIFORM, &axis, N);
        const histo_view view = histo_view_1d(x, dtype, N);
        histo_strategy_info info;
        for (int s = 0; s < histo_strategy_count(); s++) {
            OK(histo_strategy_describe(s, &info));
            if (strcmp(info.backend, "cpu") != 0) continue;
            for (int threads = 1; threads <= 4; threads += 3) {
                histo_hist *h;
                histo_plan *plan;
                const histo_plan_options options = {.strategy = info.name, .threads = threads};
                const size_t before = given;
                OK(histo_hist_create(&h, 1, &axis, &(histo_hist_options){.storage = info.storage}));
                const size_t of_histogram = given - before;
                if (histo_plan_create(&plan, h, &view, NULL, &options) == HISTO_OK) {
                    size_t fill = 0, histogram = 0;
                    OK(histo_plan_memory(plan, &fill, &histogram));
                    assert_in_range(of_histogram, histogram, histogram + 4096);
                    const size_t held = given;
                    peak = held;
                    OK(histo_plan_fill(plan, h, &view, NULL));
                    if (peak - held > fill) fail_msg("%s: %zu bytes, not %zu", info.name, (size_t)(peak - held), fill);
                    if (info.storage == HISTO_DENSE) assert_in_range(fill - (peak - held), 0, 2 << 20);
                    histo_plan_destroy(plan);
                }
                histo_hist_destroy(h);
            }
        }
        free(x);
    }
    size_t fill;
    REFUSED(HISTO_INVALID, "is NULL", histo_plan_memory(NULL, &fill, &fill));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits),
        cmocka_unit_test(needs),
        cmocka_unit_test(histograms),

        cmocka_unit_test(maps),
        cmocka_unit_test(applied_maps),
        cmocka_unit_test(numbers),
        cmocka_unit_test(surveys),
        cmocka_unit_test(plans),
        cmocka_unit_test(pieces),
        cmocka_unit_test_setup_teardown(available, make_kernel, remove_kernel),
        cmocka_unit_test(too_much),
        cmocka_unit_test(every_call),
        cmocka_unit_test(last_plan),
        cmocka_unit_test(nothing_is_forgotten),
    };
    if (histo_set_allocator(&counting) != HISTO_OK) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
