/* Histograms of gradient boosting, compared to the bit with integers that are added up one by one: random tables,
 * layouts, weights, nodes, threads and places for the sums; trees, whose children add up to their parents; arguments
 * that are refused. tests/CMakeLists.txt runs this for each level of the instruction set. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/data.h"
#include "support/node_problems.h"

/* ---- Tests ---- */

static void compare(rng *r, node_problem *p, const histo_features *features, const histo_gradients *g, bool listed)
{
    const int64_t total = histo_features_bins(features);
    node_problem_offsets(r, p, listed ? p->listed : p->rows);
    int64_t *expected = node_problem_sums(p, g, listed, total);
    for (int threads = 1; threads <= 4; threads++) {
        node_place at;
        node_place_make(r, p, total, rng_below(r, 2), &at);
        const histo_node_options options = {
            .rows = listed ? &p->list : NULL,
            .offsets = p->offsets,
            .nodes = p->nodes,
            .selected = p->selected_count ? p->selected : NULL,
            .selected_count = p->selected_count,
            .threads = threads,
        };
        OK(histo_features_fill(features, g, &options, &at.to));
        node_place_check(p, g, &at, total, expected);
        node_place_free(&at);
    }
    free(expected);
}

static void check_problem(rng *r, int64_t rows)
{
    node_problem p;
    histo_gradients *g;
    node_problem_make(r, &p, rows);
    OK(histo_gradients_create(&g, rows, p.weights));
    OK(histo_gradients_set(g, p.values, &(histo_gradients_options){.threads = 1 + (int)rng_below(r, 3)}));
    for (int by_rows = 0; by_rows < 2; by_rows++) {
        histo_features *features;
        const histo_features_options options = {.by_rows = by_rows, .threads = 1 + (int)rng_below(r, 3)};
        OK(histo_features_create(&features, &p.table, p.bins, &options));
        for (int listed = 0; listed < 2; listed++)
            compare(r, &p, features, g, listed);
        histo_features_destroy(features);
    }
    histo_gradients_destroy(g);
    node_problem_free(&p);
}

static void test_random(void **state)
{
    (void)state;
    rng r = {.state = 38};
    for (int i = 0; i < 150; i++)
        check_problem(&r, rng_below(&r, 300));
    for (int i = 0; i < 6; i++)
        check_problem(&r, 5000 + rng_below(&r, 10000));
}

/* More rows than an accumulator counts, and than one piece has; all in one bin. */
static void test_many_rows(void **state)
{
    (void)state;
    enum { ROWS = 300000, FEATURES = 5 };
    uint8_t *bins = calloc(ROWS, FEATURES);
    int32_t *weights = malloc(ROWS * sizeof *weights);
    const int64_t shape[] = {ROWS, FEATURES};
    for (int i = 0; i < ROWS; i++)
        weights[i] = i % 3 ? INT32_MAX : INT32_MIN;
    const histo_view table = histo_view_nd(bins, HISTO_U8, 2, shape);
    const histo_view values[] = {histo_view_1d(weights, HISTO_I32, ROWS), histo_view_1d(weights, HISTO_I32, ROWS)};
    histo_features *features;
    histo_gradients *g;
    OK(histo_features_create(&features, &table, (const int32_t[]){1, 1, 1, 1, 1}, NULL));
    OK(histo_gradients_create(&g, ROWS, 2));
    OK(histo_gradients_set(g, values, NULL));
    const int64_t expected = ROWS / 3 * (2 * (int64_t)INT32_MAX + INT32_MIN);
    for (int threads = 1; threads <= 7; threads++) {
        int64_t sums[2][FEATURES];
        uint32_t counts[FEATURES];
        OK(histo_features_fill(
            features, g, &(histo_node_options){.threads = threads},
            &(histo_node_sums){.sums = {sums[0], sums[1]}, .counts = counts, .sum_dtype = HISTO_I64}));
        for (int f = 0; f < FEATURES; f++) {
            assert_int_equal(counts[f], ROWS);
            assert_int_equal(sums[0][f], expected);
            assert_int_equal(sums[1][f], expected);
        }
    }
    histo_gradients_destroy(g);
    histo_features_destroy(features);
    free(weights);
    free(bins);
}

static void test_units(void **state)
{
    (void)state;
    enum { N = 4 };
    static const double largest[] = {1, 0.75, 0x1.fffffffffffffp0, 5e-324, 0x1p-1060, 0x1.8p1023, 3e-39};
    histo_gradients *g;
    OK(histo_gradients_create(&g, N, 1));
    assert_true(histo_gradients_unit(g, 0) == 1 && histo_gradients_unit(g, 1) == 0 && histo_gradients_unit(g, -1) == 0);
    assert_true(histo_gradients_unit(NULL, 0) == 0);
    for (size_t i = 0; i < sizeof largest / sizeof *largest; i++) {
        const double x[N] = {largest[i], -largest[i], largest[i] / 3, 0};
        const uint8_t bins[N] = {0, 1, 2, 3};
        const histo_view values = histo_view_1d(x, HISTO_F64, N),
                         table = histo_view_nd(bins, HISTO_U8, 2, (const int64_t[]){N, 1});
        double sums[N];
        histo_features *features;
        OK(histo_gradients_set(g, &values, NULL));
        const double unit = histo_gradients_unit(g, 0);
        int exponent;
        assert_true(frexp(unit, &exponent) == 0.5);
        /* The least unit of which the largest magnitude is not too many. */
        assert_true(unit == 0x1p-1074 || rint(largest[i] / unit) > 0x1p30 - 1);
        assert_true(largest[i] / unit < 0x1p31);
        OK(histo_features_create(&features, &table, (const int32_t[]){N}, NULL));
        OK(histo_features_fill(features, g, NULL, &(histo_node_sums){.sums = {sums}}));
        for (int k = 0; k < N; k++)
            assert_true(fabs(sums[k] - x[k]) <= unit / 2);
        histo_features_destroy(features);
    }
    const float x[N] = {3, -2.5f, 1, 0};
    const histo_view values = histo_view_1d(x, HISTO_F32, N);
    OK(histo_gradients_set(g, &values, &(histo_gradients_options){.units = (const double[]){0.25}}));
    assert_true(histo_gradients_unit(g, 0) == 0.25);
    REFUSED(HISTO_INVALID, "units[0] is 0.3, which is not a power of two",
            histo_gradients_set(g, &values, &(histo_gradients_options){.units = (const double[]){0.3}}));
    REFUSED(HISTO_INVALID, "units[0] is 0, ",
            histo_gradients_set(g, &values, &(histo_gradients_options){.units = (const double[]){0}}));
    REFUSED(HISTO_INVALID, "units[0] is inf",
            histo_gradients_set(g, &values, &(histo_gradients_options){.units = (const double[]){INFINITY}}));
    REFUSED(HISTO_INVALID, "more than 2^31 - 1 units",
            histo_gradients_set(g, &values, &(histo_gradients_options){.units = (const double[]){0x1p-30}}));
    assert_true(histo_gradients_unit(g, 0) == 0.25);
    histo_gradients_destroy(g);
}

/* NaN and infinite weights: refused, or counted, and 0 with all weights of their rows. */
static void test_nonfinite(void **state)
{
    (void)state;
    enum { N = 3000 };
    static float g_of[N], h_of[N];
    static uint8_t bins[N];
    for (int i = 0; i < N; i++)
        g_of[i] = h_of[i] = 1;
    g_of[7] = NAN;
    h_of[7] = 1e30f;
    g_of[2500] = -INFINITY;
    h_of[2501] = INFINITY;
    const histo_view values[] = {histo_view_1d(g_of, HISTO_F32, N), histo_view_1d(h_of, HISTO_F32, N)};
    const histo_view table = histo_view_nd(bins, HISTO_U8, 2, (const int64_t[]){N, 1});
    histo_gradients *g;
    histo_features *features;
    double sums[2] = {0};
    uint32_t count;
    int64_t nonfinite = -1;
    OK(histo_gradients_create(&g, N, 2));
    OK(histo_features_create(&features, &table, (const int32_t[]){1}, NULL));
    REFUSED(HISTO_INVALID, "values[0]: the value of row 7 is NaN or infinite", histo_gradients_set(g, values, NULL));
    const histo_node_sums to = {.sums = {&sums[0], &sums[1]}, .counts = &count};
    OK(histo_features_fill(features, g, NULL, &to));
    assert_true(sums[0] == 0 && sums[1] == 0 && count == N);
    OK(histo_gradients_set(g, values, &(histo_gradients_options){.nonfinite = &nonfinite}));
    assert_int_equal(nonfinite, 3);
    OK(histo_features_fill(features, g, NULL, &to));
    assert_true(sums[0] == N - 3 && sums[1] == N - 3 && count == N);
    histo_features_destroy(features);
    histo_gradients_destroy(g);
}

/* Split nodes of a tree at random: the sums of the children, in double, add up to their parent's exactly, and what is
 * left of the parent's without one child's are the other's. */
static void test_conservation(void **state)
{
    (void)state;
    enum { ROWS = 20000, FEATURES = 6, BINS = 40, TOTAL = FEATURES * BINS, LEVELS = 5 };
    rng r = {.state = 5};
    static uint8_t bins[ROWS * FEATURES];
    static float values_of[2][ROWS];
    static uint32_t rows[ROWS], sorted[ROWS];
    static double parent[1 << LEVELS][TOTAL][2], child[2 << LEVELS][TOTAL][2];
    int64_t offsets[(2 << LEVELS) + 1] = {0, ROWS}, next[(2 << LEVELS) + 1];
    for (int i = 0; i < ROWS * FEATURES; i++)
        bins[i] = (uint8_t)rng_below(&r, BINS);
    for (int i = 0; i < ROWS; i++) {
        rows[i] = (uint32_t)i;
        values_of[0][i] = (float)(rng_uniform(&r) - 0.5);
        values_of[1][i] = (float)exp(20 * rng_uniform(&r) - 20);
    }
    const histo_view table = histo_view_nd(bins, HISTO_U8, 2, (const int64_t[]){ROWS, FEATURES});
    const histo_view values[] = {histo_view_1d(values_of[0], HISTO_F32, ROWS),
                                 histo_view_1d(values_of[1], HISTO_F32, ROWS)};
    const histo_view list = histo_view_1d(rows, HISTO_U32, ROWS);
    int32_t of[FEATURES];
    for (int f = 0; f < FEATURES; f++)
        of[f] = BINS;
    histo_features *features;
    histo_gradients *g;
    OK(histo_features_create(&features, &table, of, NULL));
    OK(histo_gradients_create(&g, ROWS, 2));
    OK(histo_gradients_set(g, values, NULL));
    for (int level = 0; level <= LEVELS; level++) {
        const int64_t nodes = INT64_C(1) << level;
        double *to = level ? &child[0][0][0] : &parent[0][0][0];
        OK(histo_features_fill(
            features, g,
            &(histo_node_options){.rows = &list, .offsets = offsets, .nodes = nodes, .threads = 1 + level % 3},
            &(histo_node_sums){.sums = {to, to + 1}, .bin_stride = 2 * sizeof(double)}));
        for (int64_t s = 0; level && s < nodes / 2; s++)
            for (int b = 0; b < TOTAL; b++)
                for (int w = 0; w < 2; w++) {
                    assert_true(child[2 * s][b][w] + child[2 * s + 1][b][w] == parent[s][b][w]);
                    assert_true(parent[s][b][w] - child[2 * s][b][w] == child[2 * s + 1][b][w]);
                }
        if (level) memcpy(parent, child, sizeof parent);
        int64_t n = 0;
        for (int64_t s = 0; s < nodes; s++) {
            const int f = (int)rng_below(&r, FEATURES), threshold = (int)rng_below(&r, BINS);
            for (int side = 0; side < 2; side++) {
                next[2 * s + side] = n;
                for (int64_t i = offsets[s]; i < offsets[s + 1]; i++)
                    if ((bins[rows[i] * FEATURES + (uint32_t)f] > threshold) == side) sorted[n++] = rows[i];
            }
        }
        next[2 * nodes] = n;
        assert_int_equal(n, ROWS);
        if (level < LEVELS) memcpy(offsets, next, sizeof offsets);
        memcpy(rows, sorted, sizeof rows);
    }
    histo_gradients_destroy(g);
    histo_features_destroy(features);
}

/* ---- Arguments ---- */

static void test_refused_features(void **state)
{
    (void)state;
    enum { N = 6, FEATURES = 2 };
    uint8_t bins[N][FEATURES] = {{0, 1}, {1, 2}, {2, 3}, {3, 3}, {9, 0}, {0, 0}};
    histo_view table = histo_view_nd(bins, HISTO_U8, 2, (const int64_t[]){N, FEATURES});
    histo_features *f = NULL;
    const int32_t four[] = {4, 4};
    REFUSED(HISTO_INVALID, "table: row 4 has bin 9 of feature 0, which has 4 bins",
            histo_features_create(&f, &table, four, NULL));
    assert_null(f);
    OK(histo_features_create(&f, &table, (const int32_t[]){10, 4}, NULL));
    assert_int_equal(histo_features_bins(f), 14);
    histo_features_destroy(f);
    OK(histo_features_create(&f, &table, NULL, NULL));
    assert_int_equal(histo_features_bins(f), 512);
    histo_features_destroy(f);
    assert_int_equal(histo_features_bins(NULL), 0);
    REFUSED(HISTO_INVALID, "bins[1] is 0, not 1 to 256",
            histo_features_create(&f, &table, (const int32_t[]){4, 0}, NULL));
    REFUSED(HISTO_INVALID, "bins[0] is 257", histo_features_create(&f, &table, (const int32_t[]){257, 1}, NULL));
    REFUSED(HISTO_INVALID, "threads",
            histo_features_create(&f, &table, four, &(histo_features_options){.threads = -1}));
    table.dtype = HISTO_I8;
    REFUSED(HISTO_INVALID, "table: bins are of HISTO_U8 or HISTO_U16", histo_features_create(&f, &table, four, NULL));
    table.dtype = HISTO_U8;
    table.ndim = 1;
    REFUSED(HISTO_INVALID, "table has 1 dimensions", histo_features_create(&f, &table, four, NULL));
    table.ndim = 2;
    table.shape[0] = INT64_C(1) << 31;
    REFUSED(HISTO_INVALID, "more than 2^31 - 1", histo_features_create(&f, &table, four, NULL));
    assert_null(f);
}

static void test_refused_gradients(void **state)
{
    (void)state;
    enum { N = 4 };
    const float x[N] = {0};
    histo_gradients *g;
    REFUSED(HISTO_INVALID, "rows is -1", histo_gradients_create(&g, -1, 1));
    assert_null(g);
    REFUSED(HISTO_INVALID, "weights is 0", histo_gradients_create(&g, N, 0));
    REFUSED(HISTO_INVALID, "weights is 9", histo_gradients_create(&g, N, HISTO_MAX_GRADIENTS + 1));
    OK(histo_gradients_create(&g, N, 2));
    histo_view values[] = {histo_view_1d(x, HISTO_F32, N), histo_view_1d(x, HISTO_F32, N - 1)};
    REFUSED(HISTO_INVALID, "values[1] has 3 values, and gradients has 4 rows", histo_gradients_set(g, values, NULL));
    values[1] = histo_view_1d(x, HISTO_U32, N);
    REFUSED(HISTO_INVALID, "values[1]: gradients are of HISTO_F32", histo_gradients_set(g, values, NULL));
    values[1] = histo_view_1d(x, HISTO_F32 | HISTO_SWAPPED, N);
    REFUSED(HISTO_INVALID, "values[1]: gradients are of", histo_gradients_set(g, values, NULL));
    values[1] = histo_view_1d(x, HISTO_I32, N);
    REFUSED(HISTO_INVALID, "units[1] is 2, and integers have the unit 1",
            histo_gradients_set(g, values, &(histo_gradients_options){.units = (const double[]){1, 2}}));
    OK(histo_gradients_set(g, values, NULL));
    histo_gradients_destroy(g);
}

static void test_refused_fills(void **state)
{
    (void)state;
    enum { N = 4, FEATURES = 2, TOTAL = 8 };
    const uint8_t bins[N][FEATURES] = {{0, 1}, {1, 2}, {2, 3}, {3, 3}};
    const histo_view table = histo_view_nd(bins, HISTO_U8, 2, (const int64_t[]){N, FEATURES});
    histo_features *f;
    histo_gradients *g, *other;
    OK(histo_features_create(&f, &table, (const int32_t[]){4, 4}, NULL));
    OK(histo_gradients_create(&g, N, 2));
    OK(histo_gradients_create(&other, N + 1, 2));
    double sums[TOTAL];
    uint32_t counts[TOTAL];
    memset(sums, NODE_MARK, sizeof sums);
    memset(counts, NODE_MARK, sizeof counts);
    const histo_node_sums to = {.sums = {sums}, .counts = counts};
    const int32_t negative[] = {0, -1}, large[] = {0, 1, 4}, repeated[] = {1, 1};
    const int64_t far[] = {INT64_C(1) << 32}, offsets[] = {0, 2, 1, 3}, short_of[] = {0, 2};
    const histo_view below = histo_view_1d(negative, HISTO_I32, 2), above = histo_view_1d(large, HISTO_I32, 3);
    const histo_view beyond = histo_view_1d(far, HISTO_I64, 1), bytes = histo_view_1d(bins, HISTO_U8, 2);
#define FILL(words, ...)                                                                                               \
    REFUSED(HISTO_INVALID, words, histo_features_fill(f, g, &(histo_node_options){__VA_ARGS__}, &to))
    FILL("rows[1] is -1, and there are 4 rows", .rows = &below);
    FILL("rows[2] is 4, and there are 4 rows", .rows = &above);
    FILL("rows[0] is 4294967296", .rows = &beyond);
    FILL("rows: numbers are of HISTO_U32", .rows = &bytes);
    FILL("rows has 2 dimensions", .rows = &table);
    FILL("offset 1 is 2, more than the next, 1", .offsets = offsets, .nodes = 3,
         .rows = &(histo_view){large, HISTO_U32, 1, 0, {3}, {0}});
    FILL("the offsets are from 0 to 2, not from 0 to the 4 samples", .offsets = short_of);
    FILL("offsets is NULL, and nodes is 2", .nodes = 2);
    FILL("nodes is -1", .nodes = -1);
    FILL("selected[1] is -1", .selected = negative, .selected_count = 2);
    FILL("selected[2] is 4, and there are 2 features", .selected = large, .selected_count = 3);
    FILL("selected[1] is 1, not more than", .selected = repeated, .selected_count = 2);
    FILL("selected_count is -1", .selected = large, .selected_count = -1);
    FILL("selected is NULL", .selected_count = 1);
    FILL("threads", .threads = -1);
#undef FILL
    REFUSED(HISTO_INVALID, "gradients has 5 rows, and features has 4", histo_features_fill(f, other, NULL, &to));
    REFUSED(HISTO_INVALID, "sums[2] is not NULL, and gradients has 2 weights",
            histo_features_fill(f, g, NULL, &(histo_node_sums){.sums = {[2] = sums}}));
    REFUSED(HISTO_INVALID, "counts and all sums are NULL",
            histo_features_fill(f, g, NULL, &(histo_node_sums){.counts = NULL}));
    REFUSED(HISTO_INVALID, "sum_dtype",
            histo_features_fill(f, g, NULL, &(histo_node_sums){.counts = counts, .sum_dtype = HISTO_U32}));
    REFUSED(HISTO_INVALID, "count_dtype",
            histo_features_fill(f, g, NULL, &(histo_node_sums){.counts = counts, .count_dtype = HISTO_I8}));
    for (size_t i = 0; i < sizeof sums; i++)
        assert_int_equal(((char *)sums)[i], NODE_MARK);
    for (size_t i = 0; i < sizeof counts; i++)
        assert_int_equal(((char *)counts)[i], NODE_MARK);
    OK(histo_features_fill(f, g, NULL, &to));
    histo_gradients_destroy(other);
    histo_gradients_destroy(g);
    histo_features_destroy(f);
}

/* No rows, no features, and no rows of some nodes. */
static void test_empty(void **state)
{
    (void)state;
    const uint8_t bins[2] = {0, 1};
    double sums[2] = {7, 7};
    histo_view table = histo_view_nd(bins, HISTO_U8, 2, (const int64_t[]){0, 1});
    histo_features *f;
    histo_gradients *g;
    OK(histo_gradients_create(&g, 0, 1));
    OK(histo_gradients_set(g, &(histo_view){.dtype = HISTO_F32, .ndim = 1}, NULL));
    OK(histo_features_create(&f, &table, (const int32_t[]){2}, NULL));
    OK(histo_features_fill(f, g, NULL, &(histo_node_sums){.sums = {sums}}));
    assert_true(sums[0] == 0 && sums[1] == 0);
    histo_features_destroy(f);
    histo_gradients_destroy(g);
    table = histo_view_nd(bins, HISTO_U8, 2, (const int64_t[]){2, 0});
    OK(histo_gradients_create(&g, 2, 1));
    OK(histo_features_create(&f, &table, NULL, NULL));
    OK(histo_features_fill(f, g, NULL, &(histo_node_sums){.sums = {sums}}));
    histo_features_destroy(f);
    histo_gradients_destroy(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_many_rows),
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_nonfinite),
        cmocka_unit_test(test_conservation),
        cmocka_unit_test(test_refused_features),
        cmocka_unit_test(test_refused_gradients),
        cmocka_unit_test(test_refused_fills),
        cmocka_unit_test(test_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
