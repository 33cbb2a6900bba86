/* Small fills, which make no plan, and counting in one call: random problems of every dtype, axis, layout, mask, range
 * filter, weighting and number of axes, compared with the oracle, to the bit. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/data.h"
#include "support/same.h"
#include "view/dtype.h"

enum { MOST_AXES = 3, OPERANDS = MOST_AXES + 3, MOST = 300 };

/* A random problem: its samples in one or two dimensions, the first of which may be that of a batch. */
typedef struct problem {
    int naxes;
    histo_axis axes[MOST_AXES];
    histo_hist_options kind;
    histo_view views[OPERANDS]; /* samples, weights, mask, where */
    void *data[OPERANDS];
    histo_fill_options fill;
} problem;

static histo_dtype random_dtype(rng *r)
{
    const histo_dtype dtype = (histo_dtype)rng_below(r, HISTO_DTYPE_COUNT);
    return rng_below(r, 6) ? dtype : (histo_dtype)(dtype | HISTO_SWAPPED);
}

/* An axis of data.h with few enough bins for joint histograms, and for batches of some in memory that sanitizers watch.
 */
static histo_axis random_axis(rng *r, histo_dtype dtype, int naxes)
{
    enum { MOST_BINS = 1 << 16, MOST_BINS_JOINT = 300 };
    histo_axis axis = {0};
    int axes = 0;
    while (test_axis(axes, dtype, &axis))
        axes++;
    do
        test_axis((int)rng_below(r, axes), dtype, &axis);
    while (axis.bins > (naxes > 1 ? MOST_BINS_JOINT : MOST_BINS));
    return axis;
}

/* Samples of this shape (any bytes, if they are swapped): contiguous, with gaps, backwards, in Fortran order, repeated,
 * or unaligned. */
static histo_view random_view(rng *r, histo_dtype dtype, const histo_axis *axis, const histo_view *shape, void **data)
{
    const bool bits = dtype == HISTO_BIT; /* strides are then in bits, whose addresses are bytes */
    const histo_dtype made = bits ? HISTO_U8 : histo_dtype_plain(dtype);
    const int64_t size = (int64_t)histo_dtype_size(made), n = histo_view_size(shape), gap = 1 + rng_below(r, 3) / 2;
    char *samples = make_samples(r, made, (distribution)rng_below(r, DISTRIBUTIONS), axis, n * gap + 1);
    histo_view view = *shape;
    view.dtype = dtype;
    *data = malloc((size_t)((n * gap + 1) * size + 1));
    const int64_t off = rng_below(r, 4) == 0; /* a byte */
    memcpy((char *)*data + off, samples, (size_t)((n * gap + 1) * size));
    free(samples);
    view.data = (char *)*data + off;
    if (rng_below(r, 3) == 0) { /* Fortran order */
        view.strides[0] = gap * size;
        view.strides[1] = gap * size * view.shape[0];
    } else {
        view.strides[1] = gap * size;
        view.strides[0] = gap * size * view.shape[1];
    }
    for (int d = 0; d < 2; d++) {
        const int64_t which = rng_below(r, 8);
        if (which == 0 && n && !bits) {
            view.data = (const char *)view.data + (view.shape[d] - 1) * view.strides[d];
            view.strides[d] = -view.strides[d];
        } else if (which == 1) {
            view.strides[d] = 0;
        }
    }
    return view;
}

static void draw(rng *r, problem *p)
{
    memset(p, 0, sizeof *p);
    p->naxes = rng_below(r, 3) ? 1 : 1 + (int)rng_below(r, MOST_AXES);
    const int64_t rows = rng_below(r, 2) ? 1 : 1 + rng_below(r, 12);
    const int64_t columns = rng_below(r, 20) ? rng_below(r, MOST / rows + 1) : rng_below(r, (2 << 14) / rows);
    const histo_view shape = {.ndim = 2, .batch_ndim = (int)rng_below(r, 2), .shape = {rows, columns}};
    p->kind.batch = shape.batch_ndim ? rows : 1;
    p->kind.weighting =
        rng_below(r, 2) ? HISTO_UNWEIGHTED : (histo_weighting)rng_below(r, HISTO_WEIGHT_REPRODUCIBLE_SUM + 1);
    p->kind.storage = p->kind.weighting == HISTO_UNWEIGHTED && rng_below(r, 10) == 0 ? HISTO_SPARSE : HISTO_DENSE;
    for (int a = 0; a < p->naxes; a++) {
        const histo_dtype dtype = random_dtype(r);
        p->axes[a] = random_axis(r, histo_dtype_plain(dtype), p->naxes);
        p->views[a] = random_view(r, dtype, &p->axes[a], &shape, &p->data[a]);
    }
    const histo_axis of_others = histo_axis_regular(10, -5, 5);
    const histo_view **others[] = {&p->fill.weights, &p->fill.mask, &p->fill.where};
    for (int i = 0; i < 3; i++) {
        const int operand = p->naxes + i;
        if (rng_below(r, 3) || (i == 0 && p->kind.weighting == HISTO_UNWEIGHTED)) continue;
        const histo_dtype dtype = i == 1 && rng_below(r, 4) == 0 ? HISTO_BIT : random_dtype(r);
        p->views[operand] = random_view(r, dtype, &of_others, &shape, &p->data[operand]);
        *others[i] = &p->views[operand];
    }
    p->fill.where_lo = p->fill.where ? -2 : 0;
    p->fill.where_hi = p->fill.where ? 3 : 0;
}

static void discard(problem *p)
{
    for (int o = 0; o < OPERANDS; o++)
        free(p->data[o]);
}

/* A histogram of the problem. */
static histo_hist *make(const problem *p)
{
    histo_hist *hist;
    OK(histo_hist_create(&hist, p->naxes, p->axes, &p->kind));
    return hist;
}

/* The same, filled by the oracle `times` times. */
static histo_hist *expected(const problem *p, int times)
{
    histo_hist *hist = make(p);
    histo_plan *plan;
    OK(histo_plan_create(&plan, hist, p->views, &p->fill,
                         &(histo_plan_options){.strategy = p->kind.storage ? "cpu/hash_table" : "cpu/sequential"}));
    for (int i = 0; i < times; i++)
        OK(histo_plan_fill(plan, hist, p->views, &p->fill));
    histo_plan_destroy(plan);
    return hist;
}

static bool is_fast(histo_weighting weighting)
{
    return weighting == HISTO_WEIGHT_FAST || weighting == HISTO_WEIGHT_FAST_SUM;
}

static void assert_sums(const double *a, const double *b, int64_t size, bool exact)
{
    for (int64_t i = 0; i < size; i++) {
        const bool both_nan = isnan(a[i]) && isnan(b[i]);
        const bool near = a[i] == b[i] || fabs(a[i] - b[i]) <= 1e-9 * (fabs(a[i]) + 1e6);
        const bool lost = isinf(a[i]) || isinf(b[i]) || fabs(a[i]) > 1e15 || fabs(b[i]) > 1e15;
        if (!both_nan && !(exact ? a[i] == b[i] : near || lost))
            fail_msg("sum %lld is %.17g, not %.17g", (long long)i, a[i], b[i]);
    }
}

/* Fast sums may have been added in another order. */
static void assert_equal(const histo_hist *a, const histo_hist *b)
{
    assert_same_counts(a, b);
    double *in_a = sums_of(a), *in_b = sums_of(b);
    assert_sums(in_a, in_b, 2 * histo_hist_size(a, HISTO_FLOW), !is_fast(histo_hist_weighting(a)));
    free(in_a);
    free(in_b);
}

static void assert_equal_then_discard(histo_hist *hist, histo_hist *wanted, problem *p)
{
    assert_equal(hist, wanted);
    histo_hist_destroy(hist);
    histo_hist_destroy(wanted);
    discard(p);
}

static void any_problem(void **state)
{
    (void)state;
    rng r = {.state = 42};
    for (int i = 0; i < 3000; i++) {
        problem p;
        draw(&r, &p);
        const int times = 1 + (int)rng_below(&r, 2);
        histo_hist *hist = make(&p), *wanted = expected(&p, times);
        for (int k = 0; k < times; k++)
            OK(histo_hist_fill(hist, p.views, &p.fill));
        assert_equal(hist, wanted);
        p.fill.replace = true;
        OK(histo_hist_fill(hist, p.views, &p.fill));
        histo_hist_destroy(wanted);
        wanted = expected(&p, 1);
        assert_equal_then_discard(hist, wanted, &p);
    }
}

/* histo_count gives what a histogram that it filled would be read as. */
static void counted_at_once(void **state)
{
    (void)state;
    rng r = {.state = 77};
    for (int i = 0; i < 3000; i++) {
        problem p;
        draw(&r, &p);
        const histo_slots slots = (histo_slots)rng_below(&r, 2);
        const histo_dtype dtypes[] = {HISTO_U8 /* the default */, HISTO_F64, HISTO_F32};
        histo_read_options read = {.dtype = dtypes[rng_below(&r, 3)]};
        histo_count_options how = {.slots = slots, .dtype = read.dtype, .weighting = p.kind.weighting};
        const histo_plan_options sequential = {.strategy = "cpu/sequential"};
        if (rng_below(&r, 3) == 0) how.plan = &sequential;
        if (p.fill.weights && rng_below(&r, 2)) how.weighting = HISTO_UNWEIGHTED; /* that is: the default */
        p.kind.storage = HISTO_DENSE;
        if (p.fill.weights && !how.weighting) p.kind.weighting = HISTO_WEIGHT_FAST_SUM;
        histo_hist *hist = expected(&p, 1);
        const int64_t size = histo_hist_size(hist, slots);
        double *wanted = calloc((size_t)size, sizeof *wanted), *counted = malloc((size_t)size * sizeof *counted + 8);
        memset(counted, 0x55, (size_t)size * sizeof *counted + 8);
        histo_tally of_hist, tally;
        OK(histo_hist_tally(hist, &of_hist));
        if (p.kind.weighting)
            OK(histo_hist_read_weights(hist, slots, wanted, NULL, size, &read));
        else
            OK(histo_hist_read_counts(hist, slots, wanted, size, &read));
        p.fill.replace = rng_below(&r, 2);
        OK(histo_count(p.naxes, p.axes, p.views, &p.fill, counted, size, rng_below(&r, 2) ? &tally : NULL, &how));
        OK(histo_count(p.naxes, p.axes, p.views, &p.fill, counted, size, &tally, &how));
        assert_memory_equal(&tally, &of_hist, sizeof tally);
        const bool narrow = read.dtype == HISTO_F32, fast = is_fast(p.kind.weighting);
        if (!fast)
            assert_memory_equal(counted, wanted, (size_t)size * (narrow ? sizeof(float) : sizeof(double)));
        else if (!narrow)
            assert_sums(counted, wanted, size, false);
        assert_memory_equal(counted + size, "UUUUUUUU", 8);
        histo_hist_destroy(hist);
        free(wanted);
        free(counted);
        discard(&p);
    }
}

/* Contiguous arrays, which are counted without a histogram if they are few, or few compared with the bins. */
static void counted_straight(void **state)
{
    (void)state;
    rng r = {.state = 99};
    for (int i = 0; i < 1000; i++) {
        problem p = {.naxes = rng_below(&r, 2) ? 1 : 1 + (int)rng_below(&r, MOST_AXES)};
        const int64_t n = rng_below(&r, 10) ? 1 + rng_below(&r, MOST) : 1 + rng_below(&r, 5000);
        const bool weighted = rng_below(&r, 3) == 0, closed = rng_below(&r, 2);
        const histo_dtype dtypes[] = {HISTO_U64, HISTO_F64, HISTO_F32};
        const histo_dtype dtype = dtypes[weighted ? 1 + rng_below(&r, 2) : rng_below(&r, 3)];
        const histo_axis of_weights = histo_axis_regular(10, -5, 5);
        for (int a = 0; a < p.naxes + weighted; a++) {
            const histo_dtype sample_dtype = (histo_dtype)rng_below(&r, HISTO_DTYPE_COUNT);
            if (a < p.naxes) p.axes[a] = random_axis(&r, sample_dtype, p.naxes);
            if (a < p.naxes) p.axes[a].closed = closed;
            p.data[a] = make_samples(&r, sample_dtype, (distribution)rng_below(&r, DISTRIBUTIONS),
                                     a < p.naxes ? &p.axes[a] : &of_weights, n);
            p.views[a] = histo_view_1d(p.data[a], sample_dtype, n);
        }
        p.fill.weights = weighted ? &p.views[p.naxes] : NULL;
        p.kind = (histo_hist_options){
            .batch = 1, .weighting = weighted ? HISTO_WEIGHT_FAST_SUM : HISTO_UNWEIGHTED, .storage = HISTO_DENSE};
        histo_hist *hist = expected(&p, 1);
        const int64_t size = histo_hist_size(hist, HISTO_BINS);
        const size_t bytes = (size_t)size * histo_dtype_size(dtype);
        double *wanted = calloc((size_t)size, sizeof *wanted), *counted = malloc(bytes + 8);
        memset(counted, 0x55, bytes + 8);
        histo_tally of_hist, tally;
        OK(histo_hist_tally(hist, &of_hist));
        const histo_read_options read = {.dtype = dtype};
        if (weighted)
            OK(histo_hist_read_weights(hist, HISTO_BINS, wanted, NULL, size, &read));
        else
            OK(histo_hist_read_counts(hist, HISTO_BINS, wanted, size, &read));
        const histo_count_options how = {.dtype = dtype, .zeroed = rng_below(&r, 2)};
        if (how.zeroed) memset(counted, 0, bytes);
        OK(histo_count(p.naxes, p.axes, p.views, &p.fill, counted, size, &tally, &how));
        assert_memory_equal(&tally, &of_hist, sizeof tally);
        assert_memory_equal((char *)counted + bytes, "UUUUUUUU", 8);
        if (!weighted)
            assert_memory_equal(counted, wanted, bytes);
        else if (dtype == HISTO_F64)
            assert_sums(counted, wanted, size, false);
        histo_hist_destroy(hist);
        free(wanted);
        free(counted);
        discard(&p);
    }
}

/* Many numbers in far more bins: into zeros, or elsewhere and then copied. */
static void counted_sparsely(void **state)
{
    (void)state;
    enum { N = 1100000, BINS = 4 * N };
    rng r = {.state = 98};
    int32_t *numbers = malloc(N * sizeof *numbers);
    uint64_t *zeroed = calloc(BINS, sizeof *zeroed), *counts = malloc(BINS * sizeof *counts);
    for (int i = 0; i < N; i++)
        numbers[i] = (int32_t)rng_below(&r, BINS + 100) - 50;
    const histo_axis axis = histo_axis_integer(0, BINS);
    const histo_view view = histo_view_1d(numbers, HISTO_I32, N);
    histo_tally straight, copied;
    OK(histo_count(1, &axis, &view, NULL, zeroed, BINS, &straight, &(histo_count_options){.zeroed = true}));
    OK(histo_count(1, &axis, &view, NULL, counts, BINS, &copied, NULL));
    assert_memory_equal(zeroed, counts, BINS * sizeof *counts);
    assert_memory_equal(&straight, &copied, sizeof copied);
    assert_true(copied.under[0] > 0 && copied.over[0] > 0);
    free(counts);
    free(zeroed);
    free(numbers);
}

static void counted_segments(void **state)
{
    (void)state;
    const double samples[] = {0.5, 1.5, 2.5, 1.5, -1}, edges[] = {0, 1, 2, 3};
    const int64_t offsets[] = {0, 0, 3, 5};
    histo_axis axis = histo_axis_variable(3, edges);
    histo_view view = histo_view_1d(samples, HISTO_F64, 5);
    uint64_t counts[3 * 6];
    histo_tally tally;
    const histo_fill_options fill = {.offsets = offsets};
    OK(histo_count(1, &axis, &view, &fill, counts, 9, &tally, NULL));
    const uint64_t bins[] = {0, 0, 0, 1, 1, 1, 0, 1, 0};
    assert_memory_equal(counts, bins, sizeof bins);
    assert_int_equal(tally.under[0], 1);
    OK(histo_count(1, &axis, &view, &fill, counts, 18, NULL, &(histo_count_options){.slots = HISTO_FLOW}));
    assert_int_equal(counts[12], 1);
    REFUSED(HISTO_INVALID, "gives 9", histo_count(1, &axis, &view, &fill, counts, 10, NULL, NULL));
    REFUSED(HISTO_INVALID, "batch", histo_count(1, &axis, &view, &fill, counts, 0, NULL, NULL));
    REFUSED(HISTO_INVALID, "batch", histo_count(1, &axis, &view, &fill, counts, -3, NULL, NULL));
}

static void bad_input(void **state)
{
    (void)state;
    const double samples[] = {1, 2, 3}, edges[] = {0, 2, 1, 3}, nan[] = {NAN, 1};
    histo_axis axis = histo_axis_regular(10, 0, 1), unordered = histo_axis_variable(3, edges),
               empty = histo_axis_regular(0, 0, 1), backwards = histo_axis_regular(5, 1, 0),
               no_number = histo_axis_variable(1, nan);
    histo_view view = histo_view_1d(samples, HISTO_F64, 3), none = {0}, other = histo_view_1d(samples, HISTO_F64, 2);
    uint64_t counts[13];
    const histo_count_options flow = {.slots = HISTO_FLOW}, odd = {.slots = (histo_slots)9},
                              strange = {.weighting = (histo_weighting)99}, integers = {.dtype = HISTO_I32},
                              absent = {.plan = &(histo_plan_options){.strategy = "cpu/none"}};
    none.ndim = 99;
    REFUSED(HISTO_INVALID, "axes are NULL", histo_count(1, NULL, &view, NULL, counts, 10, NULL, NULL));
    REFUSED(HISTO_INVALID, "0 axes", histo_count(0, &axis, &view, NULL, counts, 10, NULL, NULL));
    REFUSED(HISTO_INVALID, "9 axes", histo_count(9, &axis, &view, NULL, counts, 10, NULL, NULL));
    REFUSED(HISTO_INVALID, "samples are NULL", histo_count(1, &axis, NULL, NULL, counts, 10, NULL, NULL));
    REFUSED(HISTO_INVALID, "99 dimensions", histo_count(1, &axis, &none, NULL, counts, 10, NULL, NULL));
    REFUSED(HISTO_INVALID, "array", histo_count(1, &axis, &view, NULL, NULL, 10, NULL, NULL));
    REFUSED(HISTO_INVALID, "gives 10", histo_count(1, &axis, &view, NULL, counts, 11, NULL, NULL));
    REFUSED(HISTO_INVALID, "gives 13", histo_count(1, &axis, &view, NULL, counts, 10, NULL, &flow));
    REFUSED(HISTO_INVALID, "unknown slots", histo_count(1, &axis, &view, NULL, counts, 10, NULL, &odd));
    REFUSED(HISTO_INVALID, "unknown weighting", histo_count(1, &axis, &view, NULL, counts, 10, NULL, &strange));
    REFUSED(HISTO_INVALID, "u32, u64", histo_count(1, &axis, &view, NULL, counts, 10, NULL, &integers));
    REFUSED(HISTO_UNSUPPORTED, "cpu/none", histo_count(1, &axis, &view, NULL, counts, 10, NULL, &absent));
    REFUSED(HISTO_INVALID, "decrease", histo_count(1, &unordered, &view, NULL, counts, 3, NULL, NULL));
    REFUSED(HISTO_INVALID, "one bin", histo_count(1, &empty, &view, NULL, counts, 10, NULL, NULL));
    REFUSED(HISTO_INVALID, "empty", histo_count(1, &backwards, &view, NULL, counts, 5, NULL, NULL));
    REFUSED(HISTO_INVALID, "not a number", histo_count(1, &no_number, &view, NULL, counts, 1, NULL, NULL));
    const histo_fill_options fill = {.mask = &other};
    REFUSED(HISTO_INVALID, "mask", histo_count(1, &axis, &view, &fill, counts, 10, NULL, NULL));
    /* The counters of many bins are not on the stack. */
    histo_axis many = histo_axis_regular(HISTO_MAX_BINS, 0, 1), two[] = {many, many};
    histo_view views[] = {view, view};
    REFUSED(HISTO_INVALID, "gives", histo_count(1, &many, &view, NULL, counts, 10, NULL, NULL));
    REFUSED(HISTO_INVALID, "multiplied", histo_count(2, two, views, NULL, counts, 10, NULL, NULL));
}

/* The plan that describes a fill without one is made when it is asked for, and fits the fills that follow. */
static void plan_on_demand(void **state)
{
    (void)state;
    rng r = {.state = 5};
    for (int i = 0; i < 500; i++) {
        problem p;
        char text[4096];
        draw(&r, &p);
        histo_hist *hist = make(&p), *wanted = expected(&p, 2);
        assert_null(histo_hist_last_plan(hist));
        OK(histo_hist_fill(hist, p.views, &p.fill));
        const histo_plan *plan = histo_hist_last_plan(hist);
        assert_non_null(plan);
        assert_ptr_equal(histo_hist_last_plan(hist), plan);
        assert_true(histo_plan_explain(plan, text, sizeof text) < sizeof text);
        OK(histo_plan_fill(plan, hist, p.views, &p.fill));
        assert_equal_then_discard(hist, wanted, &p);
    }
}

static void explained(void **state)
{
    (void)state;
    const double samples[] = {0.5, 1.5, 2.5};
    histo_axis axis = histo_axis_regular(3, 0, 3);
    histo_view view = histo_view_1d(samples, HISTO_F64, 3);
    histo_hist *hist;
    char text[4096];
    OK(histo_hist_create(&hist, 1, &axis, NULL));
    OK(histo_hist_fill(hist, &view, NULL));
    histo_plan_explain(histo_hist_last_plan(hist), text, sizeof text);
    assert_non_null(strstr(text, "without a plan"));
    assert_string_equal(histo_plan_strategy(histo_hist_last_plan(hist)), "cpu/direct");
    setenv("HISTO_STRATEGY", "cpu/sequential", 1);
    view.dtype = HISTO_I64; /* the plan for doubles does not fit */
    OK(histo_hist_fill(hist, &view, NULL));
    unsetenv("HISTO_STRATEGY");
    assert_string_equal(histo_plan_strategy(histo_hist_last_plan(hist)), "cpu/sequential");
    histo_hist_destroy(hist);
}

/* Many small fills do make a plan, and large ones in between keep theirs. */
static void planned_in_the_end(void **state)
{
    (void)state;
    enum { N = 1 << 17 };
    static uint8_t samples[N];
    histo_axis axis = histo_axis_integer(0, 256);
    histo_view few = histo_view_1d(samples, HISTO_U8, 10), many = histo_view_1d(samples, HISTO_U8, N);
    histo_hist *hist;
    OK(histo_hist_create(&hist, 1, &axis, NULL));
    for (int i = 0; i < 3; i++) {
        OK(histo_hist_fill(hist, &few, NULL));
        OK(histo_hist_fill(hist, &many, NULL));
    }
    const histo_plan *of_many = histo_hist_last_plan(hist);
    for (int i = 0; i < 1000; i++)
        OK(histo_hist_fill(hist, &few, NULL));
    assert_ptr_not_equal(histo_hist_last_plan(hist), of_many);
    uint64_t counts[256];
    OK(histo_hist_read_counts(hist, HISTO_BINS, counts, 256, NULL));
    assert_int_equal(counts[0], 3 * (10 + N) + 1000 * 10);
    histo_hist_destroy(hist);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_problem),      cmocka_unit_test(counted_at_once),  cmocka_unit_test(counted_straight),
        cmocka_unit_test(counted_sparsely), cmocka_unit_test(counted_segments), cmocka_unit_test(bad_input),
        cmocka_unit_test(plan_on_demand),   cmocka_unit_test(explained),        cmocka_unit_test(planned_in_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
