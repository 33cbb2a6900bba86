/* Equality of axes and histograms, subtracting and scaling: of every weighting and storage, in batches. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/same.h"

enum { BATCH = 2, SAMPLES = 40000, BINS = 9, KINDS = 6 };

static const histo_hist_options kinds[KINDS] = {
    {.batch = BATCH},
    {.batch = BATCH, .storage = HISTO_SPARSE},
    {.batch = BATCH, .weighting = HISTO_WEIGHT_FAST},
    {.batch = BATCH, .weighting = HISTO_WEIGHT_REPRODUCIBLE},
    {.batch = BATCH, .weighting = HISTO_WEIGHT_FAST_SUM},
    {.batch = BATCH, .weighting = HISTO_WEIGHT_REPRODUCIBLE_SUM},
};

static histo_hist *make(const histo_hist_options *kind)
{
    const histo_axis axis = histo_axis_regular(BINS, 0, 1);
    histo_hist *h;
    OK(histo_hist_create(&h, 1, &axis, kind));
    return h;
}

/* Fill with some of the samples of every batch entry; weights are powers of two, so that sums are exact, or not. */
static void fill(histo_hist *h, int begin, int end, bool exact)
{
    static float x[BATCH][SAMPLES];
    static double w[BATCH][SAMPLES];
    static uint8_t mask[BATCH][SAMPLES];
    for (int b = 0; b < BATCH; b++)
        for (int i = 0; i < SAMPLES; i++) {
            x[b][i] = (float)((i * 37 + b) % 128) / 100 - 0.125F;
            w[b][i] = exact ? (double)(1 << i % 9) : pow(3, i % 60 - 30);
            mask[b][i] = i % 11 > 0;
        }
    const int64_t shape[] = {BATCH, end - begin}, row_x = sizeof x[0], row_w = sizeof w[0], row_m = sizeof mask[0];
    histo_view views[] = {histo_view_nd(x[0] + begin, HISTO_F32, 2, shape),
                          histo_view_nd(w[0] + begin, HISTO_F64, 2, shape),
                          histo_view_nd(mask[0] + begin, HISTO_U8, 2, shape)};
    const int64_t rows[] = {row_x, row_w, row_m};
    for (int v = 0; v < 3; v++) {
        views[v].batch_ndim = 1;
        views[v].strides[0] = rows[v];
    }
    const bool weighted = histo_hist_weighting(h) != HISTO_UNWEIGHTED;
    OK(histo_hist_fill(h, views, &(histo_fill_options){.weights = weighted ? &views[1] : NULL, .mask = &views[2]}));
}

static bool are_equal(const histo_hist *a, const histo_hist *b)
{
    bool there = false, back = true;
    OK(histo_hist_equal(a, b, &there));
    OK(histo_hist_equal(b, a, &back));
    assert_int_equal(there, back);
    return there;
}

/* ---- Equality ---- */

static bool same_axis(histo_axis a, histo_axis b)
{
    const bool there = histo_axis_equal(&a, &b);
    assert_int_equal(there, histo_axis_equal(&b, &a));
    histo_hist *of_a, *of_b; /* and as histograms own them */
    OK(histo_hist_create(&of_a, 1, &a, NULL));
    OK(histo_hist_create(&of_b, 1, &b, NULL));
    assert_int_equal(histo_hist_merge(of_a, of_b) == HISTO_OK, there);
    assert_int_equal(are_equal(of_a, of_b), there);
    const histo_axis owned_a = histo_hist_axis(of_a, 0), owned_b = histo_hist_axis(of_b, 0);
    assert_int_equal(histo_axis_equal(&owned_a, &owned_b), there);
    assert_int_equal(histo_axis_equal(&a, &owned_b), there);
    assert_int_equal(histo_axis_equal(&owned_a, &b), there);
    histo_hist_destroy(of_a);
    histo_hist_destroy(of_b);
    return there;
}

static void axes(void **state)
{
    (void)state;
    const double tenths[] = {0, 0.1, 0.2, 0.30000000000000004}, off[] = {0, 0.1, 0.2, 0.3},
                 minus[] = {-0.0, 0.1, 0.2, 0.3}, whole[] = {0, 1, 2, 3}, twice[] = {0, 1, 1, 3},
                 infinite[] = {-INFINITY, 1, 2, INFINITY};
    const int64_t integers[] = {0, 1, 2, 3}, large[] = {0, 1, 2, INT64_C(9007199254740993)},
                  larger[] = {0, 1, 2, INT64_C(9007199254740994)}, negative[] = {-3, 1, 2, 3};
    const uint64_t naturals[] = {0, 1, 2, 3}, natural_large[] = {0, 1, 2, UINT64_C(9007199254740993)},
                   beyond[] = {0, 1, 2, UINT64_MAX - 2};
    assert_true(same_axis(histo_axis_integer(0, 3), histo_axis_regular(3, 0, 3)));
    assert_true(same_axis(histo_axis_integer(0, 3), histo_axis_variable(3, whole)));
    assert_true(same_axis(histo_axis_variable_i64(3, integers), histo_axis_variable(3, whole)));
    assert_true(same_axis(histo_axis_variable_i64(3, integers), histo_axis_variable_u64(3, naturals)));
    assert_true(same_axis(histo_axis_variable_i64(3, integers), histo_axis_regular(3, 0, 3)));
    assert_true(same_axis(histo_axis_variable_i64(3, large), histo_axis_variable_u64(3, natural_large)));
    assert_true(same_axis(histo_axis_variable(3, off), histo_axis_variable(3, minus)));
    assert_true(same_axis(histo_axis_log(3, 1, 1000), histo_axis_log(3, 1, 1000)));
    assert_true(same_axis(histo_axis_sqrt(3, 1, 100), histo_axis_power(3, 1, 100, 0.5)));
    assert_true(same_axis(histo_axis_variable(3, infinite), histo_axis_variable(3, infinite)));
    assert_true(same_axis(histo_axis_variable(3, twice), histo_axis_variable(3, twice)));

    assert_false(same_axis(histo_axis_regular(3, 0, 3), histo_axis_regular(4, 0, 3)));
    assert_false(same_axis(histo_axis_regular(3, 0, 3), histo_axis_closed(histo_axis_regular(3, 0, 3))));
    assert_false(same_axis(histo_axis_regular(3, 0, 3), histo_axis_regular(3, 0, nextafter(3, 4))));
    assert_false(same_axis(histo_axis_variable(3, off), histo_axis_variable(3, tenths)));
    assert_false(same_axis(histo_axis_variable(3, whole), histo_axis_variable(3, twice)));
    assert_false(same_axis(histo_axis_variable_i64(3, large), histo_axis_variable_i64(3, larger)));
    assert_false(same_axis(histo_axis_variable_i64(3, large), histo_axis_variable(3, whole)));
    assert_false(same_axis(histo_axis_variable_i64(3, negative), histo_axis_variable_u64(3, beyond)));
    assert_false(same_axis(histo_axis_log(3, 1, 1000), histo_axis_sqrt(3, 1, 1000)));

    const histo_axis one = histo_axis_integer(0, 3);
    assert_false(histo_axis_equal(&one, NULL));
    assert_false(histo_axis_equal(NULL, NULL));
}

static void histograms(void **state)
{
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        histo_hist *a = make(&kinds[k]), *b = make(&kinds[k]);
        assert_true(are_equal(a, a));
        assert_true(are_equal(a, b));
        fill(a, 0, SAMPLES, true);
        assert_false(are_equal(a, b));
        fill(b, SAMPLES / 3, SAMPLES, true);
        assert_false(are_equal(a, b));
        fill(b, 0, SAMPLES / 3, true);
        assert_true(are_equal(a, b));
        const uint64_t masked[BATCH] = {0, 1};
        OK(histo_hist_add_masked(b, masked, BATCH));
        assert_false(are_equal(a, b));
        histo_hist_destroy(a);
        histo_hist_destroy(b);
        for (int other = 0; other < k; other++) {
            a = make(&kinds[k]);
            b = make(&kinds[other]);
            assert_false(are_equal(a, b));
            histo_hist_destroy(a);
            histo_hist_destroy(b);
        }
    }
    histo_hist *batch = make(&kinds[0]), *alone = make(NULL);
    assert_false(are_equal(batch, alone));
    bool equal = true;
    REFUSED(HISTO_INVALID, "a histogram is NULL", histo_hist_equal(batch, NULL, &equal));
    assert_false(equal);
    REFUSED(HISTO_INVALID, "equal", histo_hist_equal(batch, alone, NULL));
    histo_hist_destroy(batch);
    histo_hist_destroy(alone);
}

/* Reproducible sums that are read as the same number need not be equal; infinities and NaN are. */
static void sums(void **state)
{
    (void)state;
    static const double first[][2] = {{1, 0x1p-80}, {INFINITY, 1}, {NAN, 2}, {INFINITY, -INFINITY}, {0x1p60, -0x1p60}},
                        second[][2] = {{1, 0x1p-81}, {INFINITY, 7}, {NAN, NAN}, {NAN, 4}, {0x1p100, -0x1p100}};
    static const bool exactly[] = {false, true, true, true, true};
    const double x[2] = {0.5, 0.5};
    for (int fast = 0; fast < 2; fast++)
        for (int i = 0; i < 5; i++) {
            histo_hist *a = make(&(histo_hist_options){.weighting = fast ? HISTO_WEIGHT_FAST_SUM
                                                                         : HISTO_WEIGHT_REPRODUCIBLE_SUM}),
                       *b;
            OK(histo_hist_clone(a, &b));
            const histo_view samples = histo_view_1d(x, HISTO_F64, 2);
            const histo_view of_a = histo_view_1d(first[i], HISTO_F64, 2),
                             of_b = histo_view_1d(second[i], HISTO_F64, 2);
            OK(histo_hist_fill(a, &samples, &(histo_fill_options){.weights = &of_a}));
            OK(histo_hist_fill(b, &samples, &(histo_fill_options){.weights = &of_b}));
            assert_int_equal(are_equal(a, b), fast || exactly[i]);
            histo_hist_destroy(a);
            histo_hist_destroy(b);
        }
}

/* ---- Subtracting ---- */

static void parent_minus_child(void **state)
{
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        const bool fast = k == 2 || k == 4; /* whose sums are exact for such weights only */
        histo_hist *parent = make(&kinds[k]), *child = make(&kinds[k]), *rest = make(&kinds[k]), *before;
        fill(parent, 0, SAMPLES, fast);
        fill(child, 100, SAMPLES / 2, fast);
        fill(rest, 0, 100, fast);
        fill(rest, SAMPLES / 2, SAMPLES, fast);
        OK(histo_hist_clone(parent, &before));
        OK(histo_hist_subtract(parent, child));
        assert_true(are_equal(parent, rest));
        assert_same(parent, rest);
        OK(histo_hist_merge(parent, child));
        assert_true(are_equal(parent, before));
        OK(histo_hist_subtract(parent, parent));
        OK(histo_hist_reset(before, NULL));
        assert_true(are_equal(parent, before));
        fill(parent, 0, 300, fast); /* it counts on */
        fill(before, 0, 300, fast);
        assert_true(are_equal(parent, before));
        histo_hist_destroy(parent);
        histo_hist_destroy(child);
        histo_hist_destroy(rest);
        histo_hist_destroy(before);
    }
}

static void no_part(void **state)
{
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        histo_hist *few = make(&kinds[k]), *many = make(&kinds[k]), *before;
        fill(few, 0, SAMPLES - 1, false);
        fill(many, 0, SAMPLES, false);
        OK(histo_hist_clone(few, &before));
        REFUSED(HISTO_INVALID, "other must be a part of hist", histo_hist_subtract(few, many));
        assert_true(are_equal(few, before));
        const uint64_t masked[BATCH] = {0, 1};
        OK(histo_hist_reset(few, NULL));
        OK(histo_hist_reset(before, NULL));
        OK(histo_hist_reset(many, NULL));
        OK(histo_hist_add_masked(many, masked, BATCH));
        REFUSED(HISTO_INVALID, "left out of batch entry 1: other has 1 samples there, and hist only 0",
                histo_hist_subtract(few, many));
        assert_true(are_equal(few, before));
        histo_hist_destroy(few);
        histo_hist_destroy(many);
        histo_hist_destroy(before);
    }
    histo_hist *batch = make(&kinds[0]), *alone = make(NULL);
    REFUSED(HISTO_INVALID, "batch", histo_hist_subtract(batch, alone));
    REFUSED(HISTO_INVALID, "NULL", histo_hist_subtract(batch, NULL));
    REFUSED(HISTO_INVALID, "NULL", histo_hist_subtract(NULL, batch));
    histo_hist_destroy(batch);
    histo_hist_destroy(alone);
}

/* Slots of a sparse histogram that only the other has, before, between and behind its own. */
static void sparse_slots(void **state)
{
    (void)state;
    static const int64_t index[3] = {2, 5, 9}, others[4] = {1, 3, 7, 11};
    static const uint64_t counts[3] = {4, 4, 4}, one = 1;
    histo_hist *h = make(&kinds[1]), *other;
    OK(histo_hist_add_occupied(h, HISTO_FLOW, index, counts, 3));
    for (int i = 0; i < 4; i++) {
        other = make(&kinds[1]);
        OK(histo_hist_add_occupied(other, HISTO_FLOW, &others[i], &one, 1));
        REFUSED(HISTO_INVALID, "has 1 samples there, and hist only 0", histo_hist_subtract(h, other));
        histo_hist_destroy(other);
    }
    int64_t occupied;
    other = make(&kinds[1]);
    OK(histo_hist_add_occupied(other, HISTO_FLOW, index + 1, counts, 1));
    OK(histo_hist_subtract(h, other));
    OK(histo_hist_occupied(h, HISTO_FLOW, &occupied));
    assert_int_equal(occupied, 2);
    histo_hist_destroy(h);
    histo_hist_destroy(other);
}

/* Infinities and NaN follow IEEE 754. */
static void subtract_infinities(void **state)
{
    (void)state;
    const double x = 0.5, values[] = {1, INFINITY, -INFINITY, NAN};
    const histo_view sample = histo_view_1d(&x, HISTO_F64, 1);
    for (int k = 2; k < KINDS; k++)
        for (int i = 0; i < 16; i++) {
            const histo_hist_options kind = {.weighting = kinds[k].weighting};
            histo_hist *a = make(&kind), *b = make(&kind);
            const histo_view of_a = histo_view_1d(&values[i / 4], HISTO_F64, 1),
                             of_b = histo_view_1d(&values[i % 4], HISTO_F64, 1);
            OK(histo_hist_fill(a, &sample, &(histo_fill_options){.weights = &of_a}));
            OK(histo_hist_fill(b, &sample, &(histo_fill_options){.weights = &of_b}));
            OK(histo_hist_subtract(a, b));
            double got[BINS];
            const double expected = values[i / 4] - values[i % 4];
            OK(histo_hist_read_weights(a, HISTO_BINS, got, NULL, BINS, NULL));
            assert_true(got[4] == expected || (got[4] != got[4] && expected != expected));
            histo_hist_destroy(a);
            histo_hist_destroy(b);
        }
}

/* ---- Scaling ---- */

static void scaled_sums(void **state)
{
    (void)state;
    static const double factors[] = {0, 1, -1, 0.1, 3e200, 1e-300, -0.0};
    for (int k = 2; k < KINDS; k++)
        for (int f = 0; f < 7; f++) {
            histo_hist *h = make(&kinds[k]), *before;
            fill(h, 0, SAMPLES, false);
            OK(histo_hist_clone(h, &before));
            OK(histo_hist_scale(h, factors[f]));
            assert_same_counts(h, before);
            const int64_t n = histo_hist_size(h, HISTO_FLOW);
            double *old = sums_of(before), *new = sums_of(h);
            for (int64_t i = 0; i < n; i++) {
                assert_true(new[i] == old[i] * factors[f]);
                assert_true(new[n + i] == old[n + i] * factors[f] * factors[f]);
            }
            free(old);
            free(new);
            fill(h, 0, 100, false); /* it counts on */
            histo_hist_destroy(h);
            histo_hist_destroy(before);
        }
}

static void scaled_counts(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        histo_hist *h = make(&kinds[k]), *thrice = make(&kinds[k]), *before;
        fill(h, 0, SAMPLES, false);
        uint64_t masked[BATCH];
        for (int i = 0; i < 3; i++)
            OK(histo_hist_merge(thrice, h));
        OK(histo_hist_read_masked(h, masked, BATCH));
        OK(histo_hist_clone(h, &before));
        static const double refused[] = {0.5, -1, 0x1p64, 1e300};
        for (int f = 0; f < 4; f++)
            REFUSED(HISTO_INVALID, "hist has counts only", histo_hist_scale(h, refused[f]));
        REFUSED(HISTO_INVALID, "2^64", histo_hist_scale(h, 0x1p63));
        assert_true(are_equal(h, before));
        OK(histo_hist_scale(h, 3));
        for (int b = 0; b < BATCH; b++) /* the samples left out are not three times as many */
            masked[b] *= 2;
        OK(histo_hist_add_masked(h, masked, BATCH));
        assert_true(are_equal(h, thrice));
        OK(histo_hist_scale(h, -0.0));
        int64_t occupied;
        OK(histo_hist_occupied(h, HISTO_FLOW, &occupied));
        assert_int_equal(occupied, 0);
        histo_hist_destroy(h);
        histo_hist_destroy(thrice);
        histo_hist_destroy(before);
    }
}

static void refused_factors(void **state)
{
    (void)state;
    static const double factors[] = {NAN, INFINITY, -INFINITY};
    for (int k = 0; k < KINDS; k++)
        for (int f = 0; f < 3; f++) {
            histo_hist *h = make(&kinds[k]);
            REFUSED(HISTO_INVALID, "must be finite", histo_hist_scale(h, factors[f]));
            histo_hist_destroy(h);
        }
    REFUSED(HISTO_INVALID, "hist is NULL", histo_hist_scale(NULL, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(axes),
        cmocka_unit_test(histograms),
        cmocka_unit_test(sums),
        cmocka_unit_test(parent_minus_child),
        cmocka_unit_test(no_part),
        cmocka_unit_test(sparse_slots),
        cmocka_unit_test(subtract_infinities),
        cmocka_unit_test(scaled_sums),
        cmocka_unit_test(scaled_counts),
        cmocka_unit_test(refused_factors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
