/* Histogram objects: fills in any pieces and order add up; merge, project, rebin, slice, clone and reset; weights;
 * batches; failed calls change nothing. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/data.h"
#include "support/same.h"

/* Save a histogram, which the caller frees, load it again, and merge both. */
static histo_hist *saved_and_loaded(const histo_hist *h, histo_format format, void **data, size_t *size)
{
    histo_hist *loaded;
    OK(histo_hist_save(h, format, NULL, data, size));
    OK(histo_hist_load(*data, *size, NULL, &loaded));
    assert_same(h, loaded);
    OK(histo_hist_merge(loaded, h));
    return loaded;
}

static void pieces_order_and_merge(void **state)
{
    (void)state;
    rng r = {.state = 11};
    const int64_t n = 50000;
    histo_axis axis = histo_axis_closed(histo_axis_regular(123, -2, 3));
    double *data = make_samples(&r, HISTO_F64, SPECIAL, &axis, n);
    double *more = make_samples(&r, HISTO_F64, UNIFORM, &axis, n);
    memcpy(data, more, (size_t)n / 2 * sizeof *data);
    histo_hist *whole, *pieces, *shuffled, *other;
    histo_view v = histo_view_1d(data, HISTO_F64, n);
    OK(histo_hist_create(&whole, 1, &axis, NULL));
    OK(histo_hist_fill(whole, &v, NULL));
    OK(histo_hist_clone(whole, &pieces));
    OK(histo_hist_reset(pieces, NULL));
    for (int64_t at = 0; at < n;) {
        int64_t len = 1 + rng_below(&r, 9000);
        if (len > n - at) len = n - at;
        v = histo_view_1d(data + at, HISTO_F64, len);
        OK(histo_hist_fill(pieces, &v, NULL));
        at += len;
    }
    assert_same(whole, pieces);
    OK(histo_hist_create(&shuffled, 1, &axis, NULL));
    OK(histo_hist_create(&other, 1, &axis, NULL));
    v = (histo_view){.data = data + n - 1, .dtype = HISTO_F64, .ndim = 1, .shape = {n / 2}, .strides = {-16}};
    OK(histo_hist_fill(shuffled, &v, NULL));
    v.data = data + n - 2;
    OK(histo_hist_fill(other, &v, NULL));
    OK(histo_hist_merge(shuffled, other));
    assert_same(whole, shuffled);
    histo_hist_destroy(whole);
    histo_hist_destroy(pieces);
    histo_hist_destroy(shuffled);
    histo_hist_destroy(other);
    free(data);
    free(more);
}

/* Three columns of random data with weights, and a histogram of some of the columns. */
enum { COLUMNS = 3, ROWS = 20000 };

typedef struct table {
    histo_axis axes[COLUMNS];
    histo_view views[COLUMNS];
    histo_view weights, mask;
} table;

static table make_table(rng *r)
{
    static const double edges[] = {-1, 0, 0.5, 4, 9};
    table t = {.axes = {histo_axis_regular(12, 0, 1), histo_axis_closed(histo_axis_variable(4, edges)),
                        histo_axis_integer(0, 10)}};
    const histo_dtype dtypes[] = {HISTO_F32, HISTO_F64, HISTO_U8};
    histo_axis unit = histo_axis_regular(1, 0, 1);
    for (int c = 0; c < COLUMNS; c++)
        t.views[c] =
            histo_view_1d(make_samples(r, dtypes[c], c == 2 ? SPECIAL : UNIFORM, &t.axes[c], ROWS), dtypes[c], ROWS);
    ((float *)t.views[0].data)[17] = NAN;
    ((double *)t.views[1].data)[18] = NAN;
    double *w = make_samples(r, HISTO_F64, GAUSSIAN, &unit, ROWS);
    for (int i = 0; i < ROWS; i++)
        w[i] = ldexp(w[i] - 0.5, (int)rng_below(r, 80) - 40);
    t.weights = histo_view_1d(w, HISTO_F64, ROWS);
    t.mask = histo_view_1d(make_samples(r, HISTO_U8, SPECIAL, &unit, ROWS), HISTO_U8, ROWS);
    return t;
}

static void free_table(table *t)
{
    for (int c = 0; c < COLUMNS; c++)
        free((void *)t->views[c].data);
    free((void *)t->weights.data);
    free((void *)t->mask.data);
}

static histo_hist *fill_columns(const table *t, int n, const int *columns, histo_weighting weighting)
{
    histo_axis axes[COLUMNS];
    histo_view views[COLUMNS];
    for (int i = 0; i < n; i++) {
        axes[i] = t->axes[columns[i]];
        views[i] = t->views[columns[i]];
    }
    histo_hist *h;
    OK(histo_hist_create(&h, n, axes, &(histo_hist_options){.weighting = weighting}));
    OK(histo_hist_fill(h, views, &(histo_fill_options){.weights = weighting ? &t->weights : NULL, .mask = &t->mask}));
    return h;
}

/* A projection equals the histogram filled from its columns alone, including flow, NaN and exact sums. */
static void projections(void **state)
{
    (void)state;
    rng r = {.state = 12};
    table t = make_table(&r);
    static const int all[] = {0, 1, 2};
    static const struct {
        int n, columns[COLUMNS];
    } cases[] = {{1, {0}}, {1, {1}}, {1, {2}}, {2, {0, 1}}, {2, {2, 0}}, {3, {1, 2, 0}}};
    for (int weighting = 0; weighting <= HISTO_WEIGHT_REPRODUCIBLE; weighting += 2) {
        histo_hist *joint = fill_columns(&t, 3, all, (histo_weighting)weighting);
        for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
            histo_hist *alone = fill_columns(&t, cases[c].n, cases[c].columns, (histo_weighting)weighting), *projected;
            OK(histo_hist_project(joint, cases[c].n, cases[c].columns, &projected));
            assert_same(alone, projected);
            histo_hist_destroy(alone);
            histo_hist_destroy(projected);
        }
        histo_hist *none = NULL;
        REFUSED(HISTO_INVALID, "twice", histo_hist_project(joint, 2, (const int[]){1, 1}, &none));
        REFUSED(HISTO_INVALID, "no axis 3", histo_hist_project(joint, 1, (const int[]){3}, &none));
        REFUSED(HISTO_INVALID, "0 axes", histo_hist_project(joint, 0, all, &none));
        assert_null(none);
        histo_hist_destroy(joint);
    }
    free_table(&t);
}

/* Bins 0 and 2 of an axis, exchanged, and all other slots left out; one entry of the other axis, whose slots are
 * summed.
 */
static void regrouped(void **state)
{
    (void)state;
    rng r = {.state = 17};
    table t = make_table(&r);
    histo_hist *h = fill_columns(&t, 2, (const int[]){0, 1}, HISTO_WEIGHT_REPRODUCIBLE), *made = NULL;
    const histo_axis first = histo_hist_axis(h, 0), axis = histo_axis_integer(0, 2);
    const int64_t slots = first.bins + 3, others = histo_hist_axis(h, 1).bins + 3;
    uint32_t map[12 + 3];
    assert_int_equal(slots, sizeof map / sizeof *map);
    for (int64_t s = 0; s < slots; s++)
        map[s] = s == 1 ? 2 : s == 3 ? 1 : HISTO_NOWHERE;
    histo_regrouping by = {.naxes = 1, .axes = &axis, .targets = {0, -1}, .maps = {map}, .entry = -1};
    OK(histo_hist_regroup(h, &by, &made));
    uint64_t *counts = counts_of(h), *got = counts_of(made), expected[5] = {0};
    for (int64_t s = 0; s < slots; s++)
        for (int64_t o = 0; o < others; o++)
            if (map[s] != HISTO_NOWHERE) expected[map[s]] += counts[s * others + o];
    assert_memory_equal(got, expected, sizeof expected);
    histo_hist_destroy(made);

    by = (histo_regrouping){.naxes = 1, .axes = &first, .targets = {0, -1}, .entry = 0};
    histo_hist *projected;
    OK(histo_hist_regroup(h, &by, &made));
    OK(histo_hist_project(h, 1, (const int[]){0}, &projected));
    assert_same(projected, made);
    histo_hist_destroy(projected);
    histo_hist_destroy(made);

    made = NULL;
    REFUSED(HISTO_INVALID, "is NULL", histo_hist_regroup(h, NULL, &made));
    by.entry = 1;
    REFUSED(HISTO_INVALID, "entry 1 of a batch of 1", histo_hist_regroup(h, &by, &made));
    by = (histo_regrouping){.naxes = 1, .axes = &axis, .targets = {0, -1}, .entry = -1};
    REFUSED(HISTO_INVALID, "and would have 2", histo_hist_regroup(h, &by, &made));
    map[0] = 5;
    by.maps[0] = map;
    REFUSED(HISTO_INVALID, "would be slot 5", histo_hist_regroup(h, &by, &made));
    assert_null(made);
    free(counts);
    free(got);
    histo_hist_destroy(h);
    free_table(&t);
}

/* Rebinned and sliced histograms equal those filled on the resulting axis. */
static void rebin_and_slice(void **state)
{
    (void)state;
    rng r = {.state = 13};
    const int64_t n = 30000, bins = 60;
    const histo_axis axes[] = {histo_axis_regular(bins, 0, 0.7), histo_axis_closed(histo_axis_regular(bins, 0, 0.7)),
                               histo_axis_integer(-30, bins), histo_axis_log(bins, 0.1, 40)};
    for (size_t a = 0; a < sizeof axes / sizeof axes[0]; a++) {
        double edges[61], coarse[61], got[61];
        OK(histo_axis_edges(&axes[a], edges));
        double *data = make_samples(&r, HISTO_F64, EDGES, &axes[a], n);
        histo_view v = histo_view_1d(data, HISTO_F64, n);
        histo_hist *h, *made, *wanted;
        OK(histo_hist_create(&h, 1, &axes[a], NULL));
        OK(histo_hist_fill(h, &v, NULL));
        for (int64_t factor = 1; factor <= bins; factor++) {
            if (bins % factor) {
                REFUSED(HISTO_INVALID, "groups", histo_hist_rebin(h, 0, factor, &made));
                continue;
            }
            OK(histo_hist_rebin(h, 0, factor, &made));
            for (int64_t i = 0; i <= bins / factor; i++)
                coarse[i] = edges[i * factor];
            histo_axis axis = histo_hist_axis(made, 0);
            assert_int_equal(axis.bins, bins / factor);
            OK(histo_axis_edges(&axis, got));
            assert_memory_equal(got, coarse, (size_t)(bins / factor + 1) * sizeof *got);
            axis = histo_axis_variable(bins / factor, coarse);
            axis.closed = axes[a].closed;
            OK(histo_hist_create(&wanted, 1, &axis, NULL));
            OK(histo_hist_fill(wanted, &v, NULL));
            assert_same(made, wanted);
            histo_hist_destroy(made);
            histo_hist_destroy(wanted);
        }
        for (int round = 0; round < 20; round++) {
            int64_t begin = rng_below(&r, bins), end = begin + 1 + rng_below(&r, bins - begin);
            OK(histo_hist_slice(h, 0, begin, end, &made));
            histo_axis axis = histo_axis_variable(end - begin, edges + begin);
            axis.closed = axes[a].closed && end == bins;
            OK(histo_hist_create(&wanted, 1, &axis, NULL));
            OK(histo_hist_fill(wanted, &v, NULL));
            /* A closed axis counted x == hi in its last bin, so a slice without this bin has it in overflow. */
            assert_same(made, wanted);
            histo_hist_destroy(made);
            histo_hist_destroy(wanted);
        }
        REFUSED(HISTO_INVALID, "not a part", histo_hist_slice(h, 0, 5, 5, &made));
        REFUSED(HISTO_INVALID, "not a part", histo_hist_slice(h, 0, 0, bins + 1, &made));
        REFUSED(HISTO_INVALID, "no axis", histo_hist_slice(h, 1, 0, 1, &made));
        histo_hist_destroy(h);
        free(data);
    }
}

/* Reproducible sums have the same bits for any threads, strategy, chunks, order and merges; fast sums are close. */
static void weights(void **state)
{
    (void)state;
    rng r = {.state = 14};
    table t = make_table(&r);
    static const int columns[] = {0};
    histo_hist *reference = fill_columns(&t, 1, columns, HISTO_WEIGHT_REPRODUCIBLE);
    histo_fill_options options = {.weights = &t.weights, .mask = &t.mask};
    static const char *const strategies[] = {"sequential", "privatized"};
    for (int threads = 1; threads <= 7; threads += 3) {
        for (int s = 0; s < 2; s++) {
            histo_hist *h, *part;
            histo_plan *plan;
            OK(histo_hist_clone(reference, &h));
            OK(histo_hist_reset(h, NULL));
            OK(histo_hist_clone(h, &part));
            OK(histo_plan_create(&plan, h, t.views, &options,
                                 &(histo_plan_options){.threads = threads, .strategy = strategies[s]}));
            for (int64_t end = ROWS, len; end > 0; end -= len) { /* backwards, alternating between two histograms */
                len = 1 + rng_below(&r, 3000);
                if (len > end) len = end;
                histo_view v = histo_view_1d((const float *)t.views[0].data + end - len, HISTO_F32, len);
                histo_view w = histo_view_1d((const double *)t.weights.data + end - len, HISTO_F64, len);
                histo_view m = histo_view_1d((const char *)t.mask.data + end - len, HISTO_U8, len);
                OK(histo_plan_fill(plan, end & 1 ? h : part, &v, &(histo_fill_options){.weights = &w, .mask = &m}));
            }
            OK(histo_hist_merge(h, part));
            assert_same(reference, h);
            histo_plan_destroy(plan);
            histo_hist_destroy(h);
            histo_hist_destroy(part);
        }
    }
    histo_hist *fast = fill_columns(&t, 1, columns, HISTO_WEIGHT_FAST);
    double exact[15], exact2[15], sums[15], sums2[15], magnitude = 0;
    OK(histo_hist_read_weights(reference, HISTO_FLOW, exact, exact2, 15, NULL));
    OK(histo_hist_read_weights(fast, HISTO_FLOW, sums, sums2, 15, NULL));
    for (int i = 0; i < ROWS; i++)
        magnitude += fabs(((const double *)t.weights.data)[i]);
    for (int s = 0; s < 15; s++) {
        assert_true(fabs(exact[s] - sums[s]) <= ROWS * 0x1p-53 * magnitude);
        assert_true(fabs(exact2[s] - sums2[s]) <= ROWS * 0x1p-53 * exact2[s]);
    }
    /* Without squares, sums are unchanged and reading squares fails. */
    for (int weighting = HISTO_WEIGHT_FAST_SUM; weighting <= HISTO_WEIGHT_REPRODUCIBLE_SUM; weighting++) {
        histo_hist *h = fill_columns(&t, 1, columns, (histo_weighting)weighting), *half;
        const double *wanted = weighting == HISTO_WEIGHT_FAST_SUM ? sums : exact;
        double alone[15], halves[9];
        OK(histo_hist_read_weights(h, HISTO_FLOW, alone, NULL, 15, NULL));
        for (int s = 0; s < 15 && weighting == HISTO_WEIGHT_REPRODUCIBLE_SUM; s++)
            assert_memory_equal(&alone[s], &wanted[s], sizeof alone[s]);
        for (int s = 0; s < 15; s++)
            assert_true(fabs(exact[s] - alone[s]) <= ROWS * 0x1p-53 * magnitude);
        REFUSED(HISTO_INVALID, "squared", histo_hist_read_weights(h, HISTO_FLOW, alone, sums2, 15, NULL));
        REFUSED(HISTO_INVALID, "weightings differ", histo_hist_merge(h, reference));
        OK(histo_hist_rebin(h, 0, 2, &half));
        OK(histo_hist_merge(half, half));
        OK(histo_hist_read_weights(half, HISTO_FLOW, halves, NULL, 9, NULL));
        assert_true(fabs(halves[1] - 2 * (exact[1] + exact[2])) <= ROWS * 0x1p-50 * magnitude);
        histo_hist_destroy(half);
        histo_hist_destroy(h);
    }
    histo_hist_destroy(fast);
    histo_hist_destroy(reference);
    free_table(&t);
}

/* Integer weights are exact where doubles are not; samples without weights weigh 1. */
static void integer_weights(void **state)
{
    (void)state;
    histo_axis axis = histo_axis_integer(0, 2);
    const uint8_t samples[] = {0, 0, 0, 1};
    const int64_t w[] = {(INT64_C(1) << 60) + 1, -(INT64_C(1) << 60), 2, -7};
    histo_view v = histo_view_1d(samples, HISTO_U8, 4), weights = histo_view_1d(w, HISTO_I64, 4);
    double sum[2], sum2[2];
    histo_hist *h;
    OK(histo_hist_create(&h, 1, &axis, &(histo_hist_options){.weighting = HISTO_WEIGHT_REPRODUCIBLE}));
    OK(histo_hist_fill(h, &v, &(histo_fill_options){.weights = &weights}));
    OK(histo_hist_fill(h, &v, NULL));
    OK(histo_hist_read_weights(h, HISTO_BINS, sum, sum2, 2, NULL));
    assert_true(sum[0] == 6 && sum[1] == -6 && sum2[1] == 50);
    histo_hist_destroy(h);
    OK(histo_hist_create(&h, 1, &axis, NULL));
    REFUSED(HISTO_INVALID, "without weighting", histo_hist_fill(h, &v, &(histo_fill_options){.weights = &weights}));
    OK(histo_hist_fill(h, &v, NULL));
    OK(histo_hist_read_weights(h, HISTO_BINS, sum, NULL, 2, NULL));
    assert_true(sum[0] == 3 && sum[1] == 1);
    histo_hist_destroy(h);
}

/* The channels of an interleaved image: a histogram each, by one call. */
static void batches(void **state)
{
    (void)state;
    enum { WIDTH = 37, HEIGHT = 21, PITCH = 128 };
    rng r = {.state = 15};
    uint8_t image[HEIGHT * PITCH];
    for (size_t i = 0; i < sizeof image; i++)
        image[i] = (uint8_t)rng_next(&r);
    histo_axis axis = histo_axis_integer(0, 256);
    histo_view all = {.data = image,
                      .dtype = HISTO_U8,
                      .ndim = 3,
                      .batch_ndim = 1,
                      .shape = {3, HEIGHT, WIDTH},
                      .strides = {1, PITCH, 3}};
    histo_hist *h, *one;
    OK(histo_hist_create(&h, 1, &axis, &(histo_hist_options){.batch = 3}));
    OK(histo_hist_fill(h, &all, NULL));
    uint64_t *counts = counts_of(h);
    for (int c = 0; c < 3; c++) {
        histo_view channel = {
            .data = image + c, .dtype = HISTO_U8, .ndim = 2, .shape = {HEIGHT, WIDTH}, .strides = {PITCH, 3}};
        OK(histo_hist_create(&one, 1, &axis, NULL));
        OK(histo_hist_fill(one, &channel, NULL));
        uint64_t *alone = counts_of(one);
        assert_memory_equal(alone, counts + c * 259, 259 * sizeof *alone);
        free(alone);
        histo_hist_destroy(one);
    }
    all.batch_ndim = 0;
    REFUSED(HISTO_INVALID, "batch entries", histo_hist_fill(h, &all, NULL));
    free(counts);
    histo_hist_destroy(h);
}

/* Fills of every kind that replace the contents: of many, only the last counts; one that is refused changes nothing. */
static void replacing_fills(void **state)
{
    (void)state;
    enum { N = 6000, BATCH = 3 };
    rng r = {.state = 19};
    const histo_axis axis = histo_axis_regular(40, -1, 1);
    double *data = make_samples(&r, HISTO_F64, SPECIAL, &axis, N),
           *other = make_samples(&r, HISTO_F64, UNIFORM, &axis, N);
    float *weight = make_samples(&r, HISTO_F32, UNIFORM, &axis, N);
    uint8_t *mask = make_samples(&r, HISTO_U8, TWO_VALUES, &axis, N);
    for (int i = 0; i < N; i++)
        weight[i] = roundf(weight[i] * 64) / 64; /* so that sums have no rounding errors, whatever their order */
    const int64_t shape[] = {BATCH, N / BATCH};
    histo_view first = histo_view_nd(other, HISTO_F64, 2, shape), last = histo_view_nd(data, HISTO_F64, 2, shape),
               weights = histo_view_nd(weight, HISTO_F32, 2, shape), masked = histo_view_nd(mask, HISTO_U8, 2, shape);
    first.batch_ndim = last.batch_ndim = weights.batch_ndim = masked.batch_ndim = 1;
    for (int kind = 0; kind <= HISTO_WEIGHT_REPRODUCIBLE_SUM + 1; kind++)
        for (int is_masked = 0; is_masked <= 1; is_masked++) {
            const bool sparse = kind > HISTO_WEIGHT_REPRODUCIBLE_SUM, weighted = !sparse && kind != HISTO_UNWEIGHTED;
            const histo_hist_options options = {.batch = BATCH,
                                                .weighting = sparse ? HISTO_UNWEIGHTED : (histo_weighting)kind,
                                                .storage = sparse ? HISTO_SPARSE : HISTO_DENSE};
            histo_fill_options fill = {.weights = weighted ? &weights : NULL, .mask = is_masked ? &masked : NULL};
            histo_hist *h, *expected;
            OK(histo_hist_create(&h, 1, &axis, &options));
            OK(histo_hist_create(&expected, 1, &axis, &options));
            OK(histo_hist_fill(expected, &last, &fill));
            OK(histo_hist_fill(h, &first, &fill));
            fill.replace = true;
            OK(histo_hist_fill(h, &first, &fill));
            OK(histo_hist_fill(h, &last, &fill));
            assert_same(h, expected);
            histo_plan *plan;
            OK(histo_plan_create(&plan, h, &first, &fill, &(histo_plan_options){.threads = 2}));
            OK(histo_plan_fill(plan, h, &first, &fill));
            OK(histo_plan_fill(plan, h, &last, &fill));
            assert_same(h, expected);
            histo_plan_destroy(plan);
            histo_view wrong = last;
            wrong.shape[0] = BATCH + 1;
            assert_int_equal(histo_hist_fill(h, &wrong, &fill), HISTO_INVALID);
            assert_same(h, expected);
            fill.replace = false;
            OK(histo_hist_fill(h, &last, &fill)); /* and fills add up again */
            OK(histo_hist_merge(expected, expected));
            assert_same(h, expected);
            fill.replace = true;
            histo_view none = last, no_weights = weights, no_mask = masked;
            none.shape[1] = no_weights.shape[1] = no_mask.shape[1] = 0;
            if (weighted) fill.weights = &no_weights;
            if (is_masked) fill.mask = &no_mask;
            OK(histo_hist_fill(h, &none, &fill));
            OK(histo_hist_reset(expected, NULL));
            assert_same(h, expected);
            histo_hist_destroy(h);
            histo_hist_destroy(expected);
        }
    free(data);
    free(other);
    free(weight);
    free(mask);
}

/* A failed call leaves the histogram unchanged. */
static void refused_fills(void **state)
{
    (void)state;
    histo_axis axis = histo_axis_regular(4, 0, 4);
    const float data[] = {0, 1, 1, 2, 3, 9};
    histo_view v = histo_view_1d(data, HISTO_F32, 6), bad;
    histo_hist *h, *other, *before;
    OK(histo_hist_create(&h, 1, &axis, NULL));
    OK(histo_hist_fill(h, &v, NULL));
    OK(histo_hist_clone(h, &before));
    bad = v, bad.dtype = (histo_dtype)77;
    REFUSED(HISTO_INVALID, "unknown dtype", histo_hist_fill(h, &bad, NULL));
    bad = v, bad.ndim = 9;
    REFUSED(HISTO_INVALID, "9 dimensions", histo_hist_fill(h, &bad, NULL));
    bad = v, bad.shape[0] = -1;
    REFUSED(HISTO_INVALID, "negative extent", histo_hist_fill(h, &bad, NULL));
    bad = v, bad.data = NULL;
    REFUSED(HISTO_INVALID, "NULL", histo_hist_fill(h, &bad, NULL));
    bad = v, bad.ndim = 3, bad.shape[0] = bad.shape[1] = bad.shape[2] = INT64_C(1) << 30;
    REFUSED(HISTO_INVALID, "2^62", histo_hist_fill(h, &bad, NULL));
    bad = v, bad.shape[0] = 5;
    REFUSED(HISTO_INVALID, "mask", histo_hist_fill(h, &v, &(histo_fill_options){.mask = &bad}));
    REFUSED(HISTO_INVALID, "empty",
            histo_hist_fill(h, &v, &(histo_fill_options){.where = &v, .where_lo = 1, .where_hi = 0}));
    REFUSED(HISTO_INVALID, "NULL", histo_hist_fill(h, NULL, NULL));
    histo_plan *plan;
    const int64_t all[] = {0, 6}, early[] = {0, 5}, late[] = {1, 6}, back[] = {0, 4, 3, 6};
    OK(histo_plan_create(&plan, h, &v, NULL, NULL));
    REFUSED(HISTO_INVALID, "made for other", histo_plan_fill(plan, h, &v, &(histo_fill_options){.offsets = all}));
    histo_plan_destroy(plan);
    bad = v, bad.ndim = 2, bad.shape[1] = 1;
    REFUSED(HISTO_INVALID, "in one dimension", histo_hist_fill(h, &bad, &(histo_fill_options){.offsets = all}));
    REFUSED(HISTO_INVALID, "from 0 to 5, not", histo_hist_fill(h, &v, &(histo_fill_options){.offsets = early}));
    REFUSED(HISTO_INVALID, "from 1 to 6, not", histo_hist_fill(h, &v, &(histo_fill_options){.offsets = late}));
    OK(histo_hist_create(&other, 1, &axis, &(histo_hist_options){.batch = 3}));
    REFUSED(HISTO_INVALID, "offset 1 is 4, more than the next, 3",
            histo_hist_fill(other, &v, &(histo_fill_options){.offsets = back}));
    histo_hist_destroy(other);
    axis = histo_axis_regular(4, 0, 5);
    OK(histo_hist_create(&other, 1, &axis, NULL));
    REFUSED(HISTO_INVALID, "edges on axis 0 differ", histo_hist_merge(h, other));
    REFUSED(HISTO_INVALID, "NULL", histo_hist_merge(h, NULL));
    uint64_t counts[4];
    REFUSED(HISTO_INVALID, "room for 3", histo_hist_read_counts(h, HISTO_BINS, counts, 3, NULL));
    assert_same(h, before);
    histo_hist_destroy(h);
    histo_hist_destroy(other);
    histo_hist_destroy(before);
    const histo_axis big[] = {histo_axis_integer(0, 1 << 20), histo_axis_integer(0, 1 << 20)};
    REFUSED(HISTO_INVALID, "multiplied", histo_hist_create(&h, 2, big, NULL));
    REFUSED(HISTO_INVALID, "9 axes", histo_hist_create(&h, 9, big, NULL));
    REFUSED(HISTO_INVALID, "batch", histo_hist_create(&h, 1, big, &(histo_hist_options){.batch = -1}));
    REFUSED(HISTO_INVALID, "batch", histo_hist_create(&h, 1, big, &(histo_hist_options){.batch = INT64_MAX}));
}

/* One histogram from several threads: each fills a clone, and the clones are merged. Concurrent fills share the pool.
 */
typedef struct worker {
    pthread_t thread;
    histo_hist *hist;
    histo_view view;
} worker;

static void *fill_clone(void *context)
{
    worker *w = context;
    for (int i = 0; i < 20; i++)
        if (histo_hist_fill(w->hist, &w->view, NULL) != HISTO_OK) return w;
    return NULL;
}

static void threads(void **state)
{
    (void)state;
    enum { WORKERS = 4 };
    rng r = {.state = 16};
    const int64_t n = 300000;
    histo_axis axis = histo_axis_regular(500, 0, 1);
    float *data = make_samples(&r, HISTO_F32, ZIPF, &axis, n);
    histo_view v = histo_view_1d(data, HISTO_F32, n);
    histo_hist *h, *sum;
    OK(histo_hist_create(&h, 1, &axis, NULL));
    OK(histo_hist_clone(h, &sum));
    worker workers[WORKERS];
    for (int i = 0; i < WORKERS; i++) {
        workers[i].view = v;
        OK(histo_hist_clone(h, &workers[i].hist));
        assert_int_equal(pthread_create(&workers[i].thread, NULL, fill_clone, &workers[i]), 0);
    }
    for (int i = 0; i < WORKERS; i++) {
        void *failed;
        pthread_join(workers[i].thread, &failed);
        assert_null(failed);
        OK(histo_hist_merge(sum, workers[i].hist));
        histo_hist_destroy(workers[i].hist);
    }
    for (int i = 0; i < 20 * WORKERS; i++)
        OK(histo_hist_fill(h, &v, NULL));
    assert_same(h, sum);
    histo_hist_destroy(h);
    histo_hist_destroy(sum);
    free(data);
}

/* Equal and infinite edges are kept by merge, rebin, slice and files; what needs the middle of bins refuses them. */
static void equal_and_infinite_edges(void **state)
{
    (void)state;
    const double edges[] = {-INFINITY, -1, 0, 0, 2, 2}, x[] = {-INFINITY, -3, -1, 0, 0, 1, 2, 2, 3, NAN};
    const uint64_t wanted[] = {0, 2, 1, 0, 3, 2, 1, 1};
    const histo_axis axis = histo_axis_closed(histo_axis_variable(5, edges));
    const histo_view view = histo_view_1d(x, HISTO_F64, 10);
    histo_hist *h, *other, *part;
    OK(histo_hist_create(&h, 1, &axis, NULL));
    OK(histo_hist_fill(h, &view, NULL));
    uint64_t *counts = counts_of(h);
    assert_memory_equal(counts, wanted, sizeof wanted);
    free(counts);
    for (int format = HISTO_JSON; format <= HISTO_BINARY; format++) {
        void *data;
        size_t size;
        other = saved_and_loaded(h, (histo_format)format, &data, &size);
        const histo_axis loaded = histo_hist_axis(other, 0);
        assert_memory_equal(loaded.edges, edges, sizeof edges);
        histo_hist_destroy(other);
        free(data);
    }
    double quantiles[2];
    histo_summary summary;
    histo_map *map;
    int64_t last;
    OK(histo_hist_quantiles(h, HISTO_QUANTILE_LOWER, 2, (double[]){0.1, 0.8}, quantiles));
    assert_true(quantiles[0] == -(double)INFINITY && quantiles[1] == 2);
    REFUSED(HISTO_INVALID, "by a slice", histo_hist_summarize(h, &summary));
    REFUSED(HISTO_INVALID, "by a slice", histo_hist_split(h, HISTO_SPLIT_OTSU, 2, &last));
    REFUSED(HISTO_INVALID, "by a slice", histo_hist_compare(h, h, HISTO_EARTH_MOVER, quantiles));
    REFUSED(HISTO_INVALID, "finite edges that increase", histo_map_create(&map, 1, &axis, NULL));
    OK(histo_hist_compare(h, h, HISTO_INTERSECTION, quantiles));
    OK(histo_hist_slice(h, 0, 1, 5, &part));
    OK(histo_hist_summarize(part, &summary));
    assert_true(summary.count == 6 && summary.mean == (-0.5 + 3 * 1 + 2 * 2) / 6);
    histo_hist_destroy(part);
    OK(histo_hist_rebin(h, 0, 5, &part));
    const histo_axis whole = histo_hist_axis(part, 0);
    assert_true(whole.lo == -(double)INFINITY && whole.hi == 2);
    histo_hist_destroy(part);
    histo_hist_destroy(h);
}

/* Integer edges that doubles do not hold are kept by merge, rebin, slice and files. */
static void integer_edges(void **state)
{
    (void)state;
    const int64_t start = INT64_C(1700000000000000001), edges[] = {start, start + 1, start + 2, start + 500};
    int64_t others[] = {start, start + 1, start + 3, start + 500}, doubles[] = {-5, 0, 0, INT64_C(1) << 60};
    const uint64_t large[] = {UINT64_MAX - 2, UINT64_MAX - 1, UINT64_MAX};
    const int64_t x[] = {start - 1, start, start + 1, start + 1, start + 2, start + 499, start + 500, start + 501};
    const uint64_t wanted[] = {1, 1, 2, 3, 1, 0};
    const histo_axis axes[] = {histo_axis_closed(histo_axis_variable_i64(3, edges)), histo_axis_variable_u64(2, large)};
    const histo_view views[] = {histo_view_1d(x, HISTO_I64, 8), histo_view_1d(large, HISTO_U64, 3)};
    histo_hist *h, *other;
    OK(histo_hist_create(&h, 1, axes, NULL));
    OK(histo_hist_fill(h, views, NULL));
    uint64_t *counts = counts_of(h);
    assert_memory_equal(counts, wanted, sizeof wanted);
    free(counts);
    OK(histo_hist_slice(h, 0, 1, 3, &other));
    const histo_axis part = histo_hist_axis(other, 0);
    const int64_t *kept = part.edges;
    assert_true(part.bins == 2 && part.closed && part.edge_type == HISTO_EDGES_I64);
    assert_true(kept[0] == start + 1 && kept[2] == start + 500);
    histo_hist_destroy(other);
    OK(histo_hist_rebin(h, 0, 3, &other));
    const histo_axis whole = histo_hist_axis(other, 0);
    kept = whole.edges;
    assert_true(kept[0] == start && kept[1] == start + 500);
    assert_true(histo_axis_edge(&whole, 0) == (double)(start + 255));
    histo_hist_destroy(other);
    const histo_axis near = histo_axis_closed(histo_axis_variable_i64(3, others));
    OK(histo_hist_create(&other, 1, &near, NULL));
    REFUSED(HISTO_INVALID, "ax", histo_hist_merge(other, h));
    histo_hist_destroy(other);
    histo_hist_destroy(h);

    OK(histo_hist_create(&h, 2, axes, NULL)); /* of both types */
    OK(histo_hist_fill(h, (histo_view[]){histo_view_1d(x, HISTO_I64, 3), views[1]}, NULL));
    for (int format = HISTO_JSON; format <= HISTO_BINARY; format++) {
        void *data;
        size_t size;
        other = saved_and_loaded(h, (histo_format)format, &data, &size);
        const histo_axis loaded[] = {histo_hist_axis(other, 0), histo_hist_axis(other, 1)};
        assert_memory_equal(loaded[0].edges, edges, sizeof edges);
        assert_memory_equal(loaded[1].edges, large, sizeof large);
        histo_hist_destroy(other);
        for (size_t cut = 0; cut + 4 < size; cut += 1 + size / 200)
            assert_int_not_equal(histo_hist_load(data, cut, NULL, &other), HISTO_OK);
        free(data);
    }
    histo_hist_destroy(h);

    histo_axis axis = histo_axis_variable_i64(3, doubles);
    OK(histo_hist_create(&h, 1, &axis, NULL));
    axis = histo_hist_axis(h, 0);
    assert_true(axis.edge_type == HISTO_EDGES_F64 && histo_axis_edge(&axis, 3) == 0x1p60 && axis.lo == -5);
    histo_hist_destroy(h);
    others[2] = start;
    axis = histo_axis_variable_i64(3, others);
    REFUSED(HISTO_INVALID, "edge 2 is 1700000000000000001 after 1700000000000000002", histo_axis_check(&axis));
    REFUSED(HISTO_INVALID, "must not decrease", histo_hist_create(&h, 1, &axis, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_order_and_merge),
        cmocka_unit_test(projections),
        cmocka_unit_test(regrouped),
        cmocka_unit_test(rebin_and_slice),
        cmocka_unit_test(weights),
        cmocka_unit_test(integer_weights),
        cmocka_unit_test(batches),
        cmocka_unit_test(replacing_fills),
        cmocka_unit_test(refused_fills),
        cmocka_unit_test(equal_and_infinite_edges),
        cmocka_unit_test(integer_edges),
        cmocka_unit_test(threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
