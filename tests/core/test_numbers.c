/* Numbers from histograms: batches, large counts, weights, what is refused. tests/python/test_numbers.py compares the
 * values with those of NumPy, SciPy, scikit-image and OpenCV. */
#include <math.h>
#include <string.h>

#include "support/check.h"
#include "support/data.h"

enum { BINS = 200, BATCH = 3, EACH = 4000 };

static double samples[BATCH][EACH];

static void make_batches(uint64_t seed)
{
    rng r = {.state = seed};
    for (int b = 0; b < BATCH; b++)
        for (int i = 0; i < EACH; i++)
            samples[b][i] = (double)(rng_below(&r, BINS) + rng_below(&r, 2 * BINS)) / (2 + b) - 3;
}

static histo_hist *count(histo_storage storage, int64_t batch, const double *from)
{
    const histo_axis axis = histo_axis_integer(0, BINS);
    const int64_t shape[] = {batch, EACH};
    histo_view view = histo_view_nd(from, HISTO_F64, 2, shape);
    view.batch_ndim = 1;
    histo_hist *h;
    OK(histo_hist_create(&h, 1, &axis, &(histo_hist_options){.batch = batch, .storage = storage}));
    OK(histo_hist_fill(h, &view, NULL));
    return h;
}

/* A histogram of one integer axis from 0 with these counts, times 2^doublings. */
static histo_hist *of_counts(const int *counts, int bins, int doublings)
{
    double x[4096];
    int64_t n = 0;
    for (int b = 0; b < bins; b++)
        for (int i = 0; i < counts[b]; i++)
            x[n++] = b;
    const histo_axis axis = histo_axis_integer(0, bins);
    const histo_view view = histo_view_1d(x, HISTO_F64, n);
    histo_hist *h;
    OK(histo_hist_create(&h, 1, &axis, NULL));
    OK(histo_hist_fill(h, &view, NULL));
    for (int i = 0; i < doublings; i++)
        OK(histo_hist_merge(h, h));
    return h;
}

/* Every number of a batch, dense or sparse, is that of its entries counted alone. */
static void entries_are_independent(void **state)
{
    (void)state;
    const double q[] = {0, 0.01, 0.5, 1};
    make_batches(3);
    histo_hist *other = count(HISTO_DENSE, BATCH, samples[0]);
    make_batches(4);
    for (int storage = HISTO_DENSE; storage <= HISTO_SPARSE; storage++) {
        histo_hist *all = count((histo_storage)storage, BATCH, samples[0]);
        double quantiles[BATCH][4], distances[BATCH];
        histo_summary summaries[BATCH];
        int64_t last[BATCH][2];
        OK(histo_hist_quantiles(all, HISTO_QUANTILE_HAZEN, 4, q, quantiles[0]));
        OK(histo_hist_summarize(all, summaries));
        OK(histo_hist_split(all, HISTO_SPLIT_OTSU, 3, last[0]));
        if (storage == HISTO_DENSE) OK(histo_hist_compare(all, other, HISTO_EARTH_MOVER, distances));
        for (int b = 0; b < BATCH; b++) {
            histo_hist *alone = count(HISTO_DENSE, 1, samples[b]);
            double values[4];
            histo_summary summary;
            int64_t ends[2];
            OK(histo_hist_quantiles(alone, HISTO_QUANTILE_HAZEN, 4, q, values));
            OK(histo_hist_summarize(alone, &summary));
            OK(histo_hist_split(alone, HISTO_SPLIT_OTSU, 3, ends));
            assert_memory_equal(values, quantiles[b], sizeof values);
            assert_memory_equal(&summary, &summaries[b], sizeof summary);
            assert_memory_equal(ends, last[b], sizeof ends);
            assert_true(ends[0] < ends[1]);
            assert_true(storage == HISTO_SPARSE || distances[b] > 0);
            histo_hist_destroy(alone);
        }
        histo_hist_destroy(all);
    }
    histo_hist_destroy(other);
}

/* Two splits that are equally good, or that differ by less than a double can tell: the first, or the better one. */
static void otsu_is_exact(void **state)
{
    (void)state;
    const int even[] = {1, 0, 1, 0, 1}, odd[] = {1000, 0, 999, 0, 1000}, other[] = {999, 0, 1000, 0, 1000};
    for (int doublings = 0; doublings <= 50; doublings += 25) {
        int64_t last;
        histo_hist *tie = of_counts(even, 5, doublings), *a = of_counts(odd, 5, doublings),
                   *b = of_counts(other, 5, doublings);
        OK(histo_hist_split(tie, HISTO_SPLIT_OTSU, 2, &last));
        assert_int_equal(last, 0);
        OK(histo_hist_split(a, HISTO_SPLIT_OTSU, 2, &last));
        assert_int_equal(last, 0);
        OK(histo_hist_split(b, HISTO_SPLIT_OTSU, 2, &last));
        assert_int_equal(last, 2);
        histo_hist_destroy(tie);
        histo_hist_destroy(a);
        histo_hist_destroy(b);
    }
    /* One sample of 2^60 in the highest bin: OpenCV drops classes that are so small. */
    const int one[] = {2047, 2048, 0, 0, 0};
    histo_hist *h = of_counts(one, 5, 49);
    const double high = 4;
    const histo_view view = histo_view_1d(&high, HISTO_F64, 1);
    OK(histo_hist_fill(h, &view, NULL));
    int64_t last[2];
    OK(histo_hist_split(h, HISTO_SPLIT_OTSU, 3, last));
    assert_int_equal(last[0], 0);
    assert_int_equal(last[1], 1);
    histo_hist_destroy(h);
}

static void flow_and_nan(void **state)
{
    (void)state;
    const double x[] = {-5, -5, 3, 4, NAN, NAN, NAN, 1000}, q[] = {0, 0.3, 0.5, 0.9, 1};
    const histo_axis axis = histo_axis_integer(0, 10);
    const histo_view view = histo_view_1d(x, HISTO_F64, 8);
    histo_hist *h;
    double values[5];
    OK(histo_hist_create(&h, 1, &axis, NULL));
    OK(histo_hist_fill(h, &view, NULL));
    OK(histo_hist_quantiles(h, HISTO_QUANTILE_LINEAR, 5, q, values));
    assert_true(values[0] == -INFINITY && values[1] == -INFINITY && values[2] == 3);
    assert_true(values[3] == INFINITY && values[4] == INFINITY);
    histo_summary summary;
    OK(histo_hist_summarize(h, &summary));
    assert_int_equal(summary.count, 2);
    assert_true(summary.mean == 3.5 && summary.variance == 0.25 && summary.entropy == 1);
    histo_hist_destroy(h);
}

/* Values far from zero have the moments of the same values near it. */
static void far_from_zero(void **state)
{
    (void)state;
    const double x[] = {0, 2, 4, 4, 1, 1, 4}, origins[] = {0, 46610, 0x1p52};
    for (int i = 0; i < 3; i++) {
        const histo_axis axis = histo_axis_integer((int64_t)origins[i] - 1, 7);
        double shifted[7];
        for (int k = 0; k < 7; k++)
            shifted[k] = x[k] + origins[i];
        const histo_view view = histo_view_1d(shifted, HISTO_F64, 7);
        histo_hist *h;
        histo_summary summary;
        OK(histo_hist_create(&h, 1, &axis, NULL));
        OK(histo_hist_fill(h, &view, NULL));
        OK(histo_hist_summarize(h, &summary));
        assert_true(fabs(summary.variance - 122.0 / 49) < 1e-15);
        assert_true(fabs(summary.skewness + 0.040073199068000005) < 1e-15);
        assert_true(fabs(summary.kurtosis + 1.6478097285675894) < 1e-15);
        histo_hist_destroy(h);
    }
}

/* Information from sums of weights is that of counts in these shares. */
static void information_of_weights(void **state)
{
    (void)state;
    const double x[] = {0, 0, 1, 1}, y[] = {0, 1, 0, 1}, w[] = {0.75, 0.25, 0.5, 1.5}, minus[] = {1, 1, -1, 1};
    const histo_axis axes[] = {histo_axis_integer(0, 2), histo_axis_integer(0, 2)};
    const histo_view views[] = {histo_view_1d(x, HISTO_F64, 4), histo_view_1d(y, HISTO_F64, 4)},
                     weights = histo_view_1d(w, HISTO_F64, 4), negative = histo_view_1d(minus, HISTO_F64, 4);
    histo_hist *weighted, *counts;
    histo_information of_weights, of_counts;
    OK(histo_hist_create(&weighted, 2, axes, &(histo_hist_options){.weighting = HISTO_WEIGHT_REPRODUCIBLE_SUM}));
    OK(histo_hist_create(&counts, 2, axes, NULL));
    OK(histo_hist_fill(weighted, views, &(histo_fill_options){.weights = &weights}));
    for (int i = 0; i < 4; i++) {
        const histo_view one[] = {histo_view_1d(x + i, HISTO_F64, 1), histo_view_1d(y + i, HISTO_F64, 1)};
        for (int times = (int)(4 * w[i]); times > 0; times--)
            OK(histo_hist_fill(counts, one, NULL));
    }
    OK(histo_hist_inform(weighted, &of_weights));
    OK(histo_hist_inform(counts, &of_counts));
    assert_memory_equal(&of_weights, &of_counts, sizeof of_counts);
    assert_true(of_counts.mutual > 0.1 && of_counts.normalized > 1);
    OK(histo_hist_fill(weighted, views, &(histo_fill_options){.weights = &negative}));
    REFUSED(HISTO_INVALID, "a sum of weights is -0.5", histo_hist_inform(weighted, &of_weights));
    const double tiny[] = {1, 0, 0, 1e-200}; /* the product of its shares underflows */
    const histo_view small = histo_view_1d(tiny, HISTO_F64, 4);
    OK(histo_hist_reset(weighted, NULL));
    OK(histo_hist_fill(weighted, views, &(histo_fill_options){.weights = &small}));
    OK(histo_hist_inform(weighted, &of_weights));
    assert_true(of_weights.mutual < 1e-190);
    histo_hist_destroy(weighted);
    histo_hist_destroy(counts);
}

static void names(void **state)
{
    (void)state;
    histo_quantile_rule rule;
    histo_split_method method;
    histo_metric metric;
    OK(histo_quantile_rule_parse("normal_unbiased", &rule));
    OK(histo_split_method_parse("max-entropy", &method));
    OK(histo_metric_parse("earth-mover", &metric));
    assert_true(rule == HISTO_QUANTILE_NORMAL_UNBIASED && method == HISTO_SPLIT_MAX_ENTROPY);
    assert_true(metric == HISTO_EARTH_MOVER);
    REFUSED(HISTO_INVALID, "unknown quantile rule 'Linear'", histo_quantile_rule_parse("Linear", &rule));
    REFUSED(HISTO_INVALID, "unknown method ''", histo_split_method_parse("", &method));
    REFUSED(HISTO_INVALID, "is NULL", histo_metric_parse(NULL, &metric));
}

static void refusals(void **state)
{
    (void)state;
    const histo_axis axes[] = {histo_axis_integer(0, 4), histo_axis_integer(0, 4)};
    const int counts[] = {1, 2, 0, 1};
    histo_hist *one = of_counts(counts, 4, 0), *two, *longer;
    const histo_axis long_axis = histo_axis_integer(0, 5);
    OK(histo_hist_create(&two, 2, axes, NULL));
    OK(histo_hist_create(&longer, 1, &long_axis, NULL));
    const double outside[] = {0.5, 1.5}, none[] = {NAN};
    double values[2];
    histo_summary summary;
    histo_information information;
    int64_t last[3];
    REFUSED(HISTO_INVALID, "histogram is NULL", histo_hist_quantiles(NULL, HISTO_QUANTILE_LINEAR, 1, outside, values));
    REFUSED(HISTO_INVALID, "is NULL", histo_hist_quantiles(one, HISTO_QUANTILE_LINEAR, 1, NULL, values));
    REFUSED(HISTO_INVALID, "is NULL", histo_hist_quantiles(one, HISTO_QUANTILE_LINEAR, 1, outside, NULL));
    REFUSED(HISTO_INVALID, "1.5 is not in 0 to 1",
            histo_hist_quantiles(one, HISTO_QUANTILE_LINEAR, 2, outside, values));
    REFUSED(HISTO_INVALID, "not in 0 to 1", histo_hist_quantiles(one, HISTO_QUANTILE_LINEAR, 1, none, values));
    REFUSED(HISTO_INVALID, "unknown quantile rule 13",
            histo_hist_quantiles(one, (histo_quantile_rule)13, 1, outside, values));
    REFUSED(HISTO_INVALID, "must have 1 axis, it has 2", histo_hist_summarize(two, &summary));
    REFUSED(HISTO_INVALID, "must have 2 axes, it has 1", histo_hist_inform(one, &information));
    REFUSED(HISTO_INVALID, "must have 1 axis", histo_hist_compare(two, two, HISTO_EARTH_MOVER, values));
    OK(histo_hist_compare(two, two, HISTO_CHI_SQUARE, values));
    REFUSED(HISTO_INVALID, "", histo_hist_compare(one, longer, HISTO_CHI_SQUARE, values));
    REFUSED(HISTO_INVALID, "unknown metric -1", histo_hist_compare(one, one, (histo_metric)-1, values));
    REFUSED(HISTO_INVALID, "2 or more", histo_hist_split(one, HISTO_SPLIT_OTSU, 1, last));
    REFUSED(HISTO_INVALID, "only 'otsu'", histo_hist_split(one, HISTO_SPLIT_LI, 3, last));
    REFUSED(HISTO_INVALID, "histogram 0 has 3 occupied bins, too few for 4",
            histo_hist_split(one, HISTO_SPLIT_OTSU, 4, last));
    OK(histo_hist_split(one, HISTO_SPLIT_OTSU, 3, last));
    assert_true(last[0] == 0 && last[1] == 1);
    OK(histo_hist_quantiles(one, HISTO_QUANTILE_LINEAR, 0, NULL, values));
    histo_hist_destroy(one);
    histo_hist_destroy(two);
    histo_hist_destroy(longer);
}

/* The bits are those of a dense histogram of the same bins, whose axes end after the last. */
static void information_of_sparse_axes(void **state)
{
    (void)state;
    enum { N = 5000, FEW = 64 };
    static double x[2][N];
    histo_information information[2];
    rng r = {.state = 7};
    for (int i = 0; i < N; i++) {
        x[0][i] = (double)rng_below(&r, FEW);
        x[1][i] = floor(x[0][i] / 3) + (double)rng_below(&r, 4);
    }
    for (int sparse = 0; sparse < 2; sparse++) {
        const histo_axis axis = histo_axis_integer(0, sparse ? HISTO_MAX_BINS : FEW), axes[] = {axis, axis};
        const histo_view views[] = {histo_view_1d(x[0], HISTO_F64, N), histo_view_1d(x[1], HISTO_F64, N)};
        histo_hist *h;
        OK(histo_hist_create(&h, 2, axes, &(histo_hist_options){.storage = sparse ? HISTO_SPARSE : HISTO_DENSE}));
        OK(histo_hist_fill(h, views, NULL));
        OK(histo_hist_inform(h, &information[sparse]));
        histo_hist_destroy(h);
    }
    assert_true(information[0].mutual > 1);
    assert_memory_equal(&information[0], &information[1], sizeof information[0]);
}

/* Whatever the counts are, no metric of equal histograms is off by a rounding error. */
static void equal_histograms(void **state)
{
    (void)state;
    const double wanted[] = {[HISTO_CORRELATION] = 1, [HISTO_INTERSECTION] = 1, [HISTO_EARTH_MOVER] = 0};
    for (uint64_t seed = 1; seed < 20; seed++) {
        make_batches(seed);
        histo_hist *h = count(HISTO_DENSE, 1, samples[seed % BATCH]);
        for (int metric = HISTO_CORRELATION; metric <= HISTO_EARTH_MOVER; metric++) {
            double value;
            OK(histo_hist_compare(h, h, (histo_metric)metric, &value));
            if (metric == HISTO_CORRELATION)
                assert_true(value <= 1 && value > 1 - 1e-12);
            else
                assert_true(value == wanted[metric]);
        }
        histo_hist_destroy(h);
    }
}

static void quantiles_of_changing_samples(void **state)
{
    (void)state;
    enum { N = (1 << 20) + 1 };
    static float x[N];
    const double half = 0.5, outside = 1.5;
    double value;
    for (int i = 0; i < N; i++)
        x[i] = (float)i;
    const histo_view all = histo_view_1d(x, HISTO_F32, N), first = histo_view_1d(x, HISTO_F32, N / 10),
                     other = histo_view_1d(x, HISTO_U32, N);
    histo_quantiles *q;
    REFUSED(HISTO_INVALID, "1.5 is not in 0 to 1",
            histo_quantiles_create(&q, HISTO_F32, HISTO_QUANTILE_LINEAR, 1, &outside));
    REFUSED(HISTO_INVALID, "unknown dtype",
            histo_quantiles_create(&q, HISTO_DTYPE_COUNT, HISTO_QUANTILE_LINEAR, 1, &half));
    OK(histo_quantiles_create(&q, HISTO_F32, HISTO_QUANTILE_LINEAR, 1, &half));
    REFUSED(HISTO_INVALID, "no pass has begun", histo_quantiles_add(q, &all, NULL));
    assert_true(quantiles_next_pass(q));
    REFUSED(HISTO_INVALID, "of f32 samples, and these are u32", histo_quantiles_add(q, &other, NULL));
    OK(histo_quantiles_add(q, &first, NULL)); /* unlike the others, so that another pass is needed */
    OK(histo_quantiles_add(q, &all, NULL));
    REFUSED(HISTO_INVALID, "not known", histo_quantiles_read(q, &value));
    assert_true(quantiles_next_pass(q));
    OK(histo_quantiles_add(q, &all, NULL));
    while (quantiles_next_pass(q))
        OK(histo_quantiles_add(q, &all, NULL));
    REFUSED(HISTO_INVALID, "changed between two passes", histo_quantiles_read(q, &value));
    histo_quantiles_destroy(q);
    histo_quantiles_destroy(NULL);
}

/* Next to 2^62 samples, single ones are lost in a double. */
static void classes_beside_a_large_count(void **state)
{
    (void)state;
    const int first[] = {1, 0, 0, 0, 0, 0, 0, 0}, others[] = {0, 1, 1, 0, 0, 0, 1, 1};
    histo_hist *h = of_counts(first, 8, 62), *few = of_counts(others, 8, 0);
    OK(histo_hist_merge(h, few));
    int64_t last[2];
    OK(histo_hist_split(h, HISTO_SPLIT_OTSU, 3, last));
    assert_int_equal(last[0], 0);
    assert_int_equal(last[1], 2);
    histo_hist_destroy(h);
    histo_hist_destroy(few);
}

static void minimum_has_a_limit(void **state)
{
    (void)state;
    const histo_axis axis = histo_axis_integer(0, 1 << 21);
    const double far[] = {0, 1 << 16};
    const histo_view view = histo_view_1d(far, HISTO_F64, 2);
    histo_hist *h;
    int64_t last;
    OK(histo_hist_create(&h, 1, &axis, &(histo_hist_options){.storage = HISTO_SPARSE}));
    OK(histo_hist_fill(h, &view, NULL));
    REFUSED(HISTO_UNSUPPORTED, "span 65537 bins", histo_hist_split(h, HISTO_SPLIT_MINIMUM, 2, &last));
    histo_hist_destroy(h);
}

/* Thousands of classes of many bins would take minutes and gigabytes. */
static void otsu_has_a_limit(void **state)
{
    (void)state;
    enum { MANY = 1 << 16, CLASSES = 1 << 12 };
    static uint64_t counts[MANY];
    static int64_t last[CLASSES];
    const histo_axis axis = histo_axis_integer(0, MANY), few = histo_axis_integer(0, CLASSES + 1);
    histo_hist *h;
    for (int i = 0; i < MANY; i++)
        counts[i] = 1;
    OK(histo_hist_create(&h, 1, &axis, NULL));
    OK(histo_hist_write(h, HISTO_BINS, counts, NULL, NULL, MANY, NULL));
    REFUSED(HISTO_UNSUPPORTED, "histogram 0 has 65536 occupied bins, too many for 4097 classes",
            histo_hist_split(h, HISTO_SPLIT_OTSU, CLASSES + 1, last));
    OK(histo_hist_split(h, HISTO_SPLIT_OTSU, 3, last));
    assert_in_range(last[0], MANY / 3 - 1, MANY / 3);
    assert_in_range(last[1], 2 * MANY / 3 - 1, 2 * MANY / 3);
    histo_hist_destroy(h);
    /* A class for each bin but two. */
    OK(histo_hist_create(&h, 1, &few, NULL));
    OK(histo_hist_write(h, HISTO_BINS, counts, NULL, NULL, CLASSES + 1, NULL));
    OK(histo_hist_split(h, HISTO_SPLIT_OTSU, CLASSES, last));
    for (int c = 1; c < CLASSES - 1; c++)
        assert_in_range(last[c] - last[c - 1], 1, 2);
    histo_hist_destroy(h);
}

static void thresholds_of_changing_samples(void **state)
{
    (void)state;
    enum { N = (1 << 20) + 1 };
    static float x[N];
    for (int i = 0; i < N; i++)
        x[i] = (float)i;
    const histo_view all = histo_view_1d(x, HISTO_F32, N), none = histo_view_1d(x, HISTO_F32, 0),
                     other = histo_view_1d(x, HISTO_U32, N);
    const histo_fill_options weighted = {.weights = &all};
    histo_thresholds *t;
    histo_number number;
    REFUSED(HISTO_INVALID, "unknown dtype", histo_thresholds_create(&t, HISTO_DTYPE_COUNT, HISTO_SPLIT_OTSU, 2, 0));
    REFUSED(HISTO_INVALID, "unknown method", histo_thresholds_create(&t, HISTO_F32, (histo_split_method)99, 2, 0));
    REFUSED(HISTO_INVALID, "257 classes", histo_thresholds_create(&t, HISTO_F32, HISTO_SPLIT_OTSU, 257, 0));
    REFUSED(HISTO_INVALID, "only 'otsu'", histo_thresholds_create(&t, HISTO_F32, HISTO_SPLIT_LI, 3, 0));
    REFUSED(HISTO_INVALID, "bins is -1", histo_thresholds_create(&t, HISTO_F32, HISTO_SPLIT_OTSU, 2, -1));
    OK(histo_thresholds_create(&t, HISTO_F32, HISTO_SPLIT_OTSU, 2, 0));
    REFUSED(HISTO_INVALID, "no pass has begun", histo_thresholds_add(t, &all, NULL));
    assert_true(thresholds_next_pass(t));
    REFUSED(HISTO_INVALID, "of f32 samples, and these are u32", histo_thresholds_add(t, &other, NULL));
    REFUSED(HISTO_INVALID, "weights are for fills", histo_thresholds_add(t, &all, &weighted));
    OK(histo_thresholds_add(t, &all, NULL));
    REFUSED(HISTO_INVALID, "not known", histo_thresholds_read(t, &number));
    assert_true(thresholds_next_pass(t)); /* nothing is added in this pass */
    bool more;
    REFUSED(HISTO_INVALID, "changed between two passes", histo_thresholds_next_pass(t, &more));
    histo_thresholds_destroy(t);
    for (int method = HISTO_SPLIT_OTSU; method <= HISTO_SPLIT_MAX_ENTROPY; method++) {
        OK(histo_thresholds_create(&t, HISTO_F32, (histo_split_method)method, 2, 0));
        assert_true(thresholds_next_pass(t));
        OK(histo_thresholds_add(t, &none, NULL));
        REFUSED(HISTO_INVALID, "no sample is finite", histo_thresholds_next_pass(t, &more));
        histo_thresholds_destroy(t);
    }
    OK(histo_thresholds_create(&t, HISTO_F32, HISTO_SPLIT_OTSU, 3, 0));
    assert_true(thresholds_next_pass(t));
    const histo_view two = histo_view_1d(x, HISTO_F32, 2);
    OK(histo_thresholds_add(t, &two, NULL));
    REFUSED(HISTO_INVALID, "2 values, too few for 3 classes", histo_thresholds_next_pass(t, &more));
    histo_thresholds_destroy(t);
}

/* Splits that are equally good but for a few bits: the lowest of them. */
static void equal_thresholds(void **state)
{
    (void)state;
    const double x[] = {0x1p-1000, 3 * 0x1p-1000, 5 * 0x1p-1000, 0, -0.0};
    const int64_t y[] = {INT64_MIN, 0, INT64_MAX - 1, INT64_MAX, INT64_MIN + 1};
    histo_thresholds *t;
    histo_number number;
    OK(histo_thresholds_create(&t, HISTO_F64, HISTO_SPLIT_OTSU, 2, 0));
    const histo_view three = histo_view_1d(x, HISTO_F64, 3);
    while (thresholds_next_pass(t))
        OK(histo_thresholds_add(t, &three, NULL));
    OK(histo_thresholds_read(t, &number));
    assert_true(number.f64 == 0x1p-1000);
    histo_thresholds_destroy(t);
    OK(histo_thresholds_create(&t, HISTO_I64, HISTO_SPLIT_OTSU, 2, 0));
    const histo_view wide = histo_view_1d(y, HISTO_I64, 5);
    while (thresholds_next_pass(t))
        OK(histo_thresholds_add(t, &wide, NULL));
    OK(histo_thresholds_read(t, &number));
    assert_true(number.i64 == INT64_MIN + 1);
    histo_thresholds_destroy(t);
    histo_ranks *r;
    const histo_view zeros = histo_view_1d(x + 3, HISTO_F64, 2);
    double value;
    uint64_t upto;
    int64_t size;
    OK(histo_ranks_create(&r, HISTO_F64));
    while (ranks_next_pass(r))
        OK(histo_ranks_add(r, &zeros, NULL));
    OK(histo_ranks_size(r, &size));
    assert_int_equal(size, 1);
    OK(histo_ranks_read(r, &value, &upto, &size));
    assert_true(value == 0 && !signbit(value) && upto == 2);
    size = 2;
    REFUSED(HISTO_INVALID, "size is 2", histo_ranks_read(r, &value, &upto, &size));
    histo_ranks_destroy(r);
}

/* As many bins as it smooths, whose maxima are never two; the test times out if each smoothing looks at all of them. */
static void minimum_of_noise(void **state)
{
    (void)state;
    enum { NOISY = 1 << 16 };
    static uint64_t counts[NOISY];
    const histo_axis axis = histo_axis_integer(0, NOISY);
    rng r = {.state = 3};
    histo_hist *h;
    int64_t last;
    for (int i = 0; i < NOISY; i++)
        counts[i] = (uint64_t)rng_below(&r, 8);
    OK(histo_hist_create(&h, 1, &axis, NULL));
    OK(histo_hist_write(h, HISTO_BINS, counts, NULL, NULL, NOISY, NULL));
    REFUSED(HISTO_INVALID, "no two maxima", histo_hist_split(h, HISTO_SPLIT_MINIMUM, 2, &last));
    histo_hist_destroy(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_are_independent),
        cmocka_unit_test(otsu_is_exact),
        cmocka_unit_test(flow_and_nan),
        cmocka_unit_test(far_from_zero),
        cmocka_unit_test(information_of_weights),
        cmocka_unit_test(names),
        cmocka_unit_test(refusals),
        cmocka_unit_test(information_of_sparse_axes),
        cmocka_unit_test(equal_histograms),
        cmocka_unit_test(quantiles_of_changing_samples),
        cmocka_unit_test(thresholds_of_changing_samples),
        cmocka_unit_test(equal_thresholds),
        cmocka_unit_test(classes_beside_a_large_count),
        cmocka_unit_test(minimum_has_a_limit),
        cmocka_unit_test(otsu_has_a_limit),
        cmocka_unit_test(minimum_of_noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
