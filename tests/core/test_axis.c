/* Axes: their edges, and which axes are invalid. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"

static void regular_edges_are_two_roundings(void **state)
{
    (void)state;
    double edges[11];
    histo_axis axis = histo_axis_regular(10, 0, 1);
    OK(histo_axis_edges(&axis, edges));
    /* Edge 3 is 3 * 0.1, which differs from 0.3. */
    assert_true(edges[3] == 3 * 0.1 && edges[3] != 0.3);
    assert_true(edges[0] == 0 && edges[10] == 1);
    axis = histo_axis_regular(3, -1, 2.2);
    OK(histo_axis_edges(&axis, edges));
    volatile double step = (2.2 + 1) / 3, product = 2 * step;
    assert_true(edges[2] == -1 + product && edges[3] == 2.2);
}

/* In float every operation is rounded to float; in double only the edges are. */
static void linspace_rounds_like_numpy(void **state)
{
    (void)state;
    double in_float[11], rounded[11], in_half[11];
    OK(histo_linspace(10, 0, 1, HISTO_F32, HISTO_F32, in_float));
    OK(histo_linspace(10, 0, 1, HISTO_F64, HISTO_F32, rounded));
    OK(histo_linspace(10, 0, 1, HISTO_F16, HISTO_F16, in_half));
    const volatile float step = 1.0F / 10, product = 9 * step;
    assert_true(in_float[9] == (double)product && rounded[9] == (double)(float)(9 * 0.1));
    assert_true(in_float[9] != rounded[9]);
    assert_true(in_half[1] == 0x1.998p-4 && in_half[10] == 1);
    OK(histo_linspace(2, 0, 0x1p-149, HISTO_F64, HISTO_F64, in_float));
    assert_true(in_float[1] == 0x1p-150);
    double *edges = in_float;
    REFUSED(HISTO_INVALID, "too many", histo_linspace(10, 1, 1 + 0x1p-22, HISTO_F64, HISTO_F32, edges));
    REFUSED(HISTO_INVALID, "lo must be less", histo_linspace(10, 1, 1 + 0x1p-25, HISTO_F64, HISTO_F32, edges));
    REFUSED(HISTO_INVALID, "not finite", histo_linspace(10, 0, 1e39, HISTO_F64, HISTO_F32, edges));
    REFUSED(HISTO_INVALID, "wider than f16", histo_linspace(10, -6e4, 6e4, HISTO_F16, HISTO_F16, edges));
    REFUSED(HISTO_INVALID, "HISTO_F16, HISTO_F32 or", histo_linspace(10, 0, 1, HISTO_F64, HISTO_BF16, edges));
    REFUSED(HISTO_INVALID, "at least one bin", histo_linspace(0, 0, 1, HISTO_F64, HISTO_F64, edges));
    REFUSED(HISTO_INVALID, "NULL", histo_linspace(10, 0, 1, HISTO_F64, HISTO_F64, NULL));
}

static void transformed_edges(void **state)
{
    (void)state;
    double edges[5];
    histo_axis axis = histo_axis_log(4, 1e-2, 1e2);
    OK(histo_axis_edges(&axis, edges));
    assert_true(edges[0] == 1e-2 && edges[4] == 1e2 && fabs(edges[2] - 1) < 1e-14 && fabs(edges[1] - 0.1) < 1e-15);
    axis = histo_axis_sqrt(4, 0, 16);
    OK(histo_axis_edges(&axis, edges));
    for (int i = 0; i <= 4; i++)
        assert_true(edges[i] == i * i);
    axis = histo_axis_power(2, 1, 4, -1); /* equal steps of 1/x: 1, 0.625, 0.25 */
    OK(histo_axis_edges(&axis, edges));
    assert_true(edges[0] == 1 && edges[1] == 1.6 && edges[2] == 4);
    /* Existing edges are kept. */
    const double given[] = {1, 2, 5, 10};
    axis = histo_axis_log(3, 1, 10);
    axis.edges = given;
    OK(histo_axis_edges(&axis, edges));
    assert_memory_equal(edges, given, sizeof given);
}

static void refused(void **state)
{
    (void)state;
    const double rising[] = {1, 2, 4}, falling[] = {0, 2, 1}, nan_edge[] = {0, NAN, 1}, nan_end[] = {NAN, 0, NAN};
    const double equal[] = {1, 1, 2}, endless[] = {1, 2, INFINITY};
    const struct {
        histo_axis axis;
        const char *words;
    } cases[] = {
        {histo_axis_regular(0, 0, 1), "at least one bin"},
        {histo_axis_regular(INT64_C(1) << 40, 0, 1), "more than"},
        {histo_axis_regular(10, 1, 0), "lo must be less than hi"},
        {histo_axis_regular(10, 1, 1), "lo must be less than hi"},
        {histo_axis_regular(10, NAN, 1), "not finite"},
        {histo_axis_regular(10, 0, INFINITY), "not finite"},
        {histo_axis_regular(10, -1e308, 1.7e308), "wider than a double can hold: give a narrower"},
        {histo_axis_regular(10, 1, 1 + 0x1p-51), "too many"},
        {histo_axis_regular(10, 1, 1 + 0x1p-51), "give fewer bins or a wider range"},
        {histo_axis_variable(2, falling), "must not decrease: edge 2 is 1 after 2"},
        {histo_axis_variable(2, nan_edge), "edge 1 is not a number"},
        {histo_axis_variable(2, nan_end), "edge 0 is not a number"},
        {histo_axis_variable(1, nan_edge), "edge 1 is not a number"},
        {{.kind = HISTO_LOG, .bins = 2, .lo = 1, .hi = 2, .edges = equal}, "must increase: edge 1 is 1 after 1"},
        {{.kind = HISTO_LOG, .bins = 2, .lo = 1, .hi = INFINITY, .edges = endless}, "not finite"},
        {histo_axis_variable(2, NULL), "needs its edges"},
        {{.kind = HISTO_VARIABLE, .bins = 2, .lo = 0, .hi = 3, .edges = rising}, "first and last edge"},
        {{.kind = HISTO_LOG, .bins = 2, .lo = 1, .hi = 3, .edges = rising}, "first and last edge"},
        {histo_axis_log(10, 0, 1), "lo > 0"},
        {histo_axis_sqrt(10, -1, 1), "lo >= 0"},
        {histo_axis_power(10, 0, 1, -1), "lo > 0 for a negative"},
        {histo_axis_power(10, 1, 2, 0), "not 0"},
        {histo_axis_power(10, 1, 2, NAN), "finite power"},
        {histo_axis_integer((INT64_C(1) << 53) - 5, 10), "2^53"},
        {histo_axis_integer((INT64_C(1) << 53) - 3, 4), "at most 2^53, not 9007199254740993"},
        {histo_axis_integer(-(INT64_C(1) << 60), 10), "2^53"},
        {{.kind = HISTO_INTEGER, .bins = 3, .lo = 0.5, .hi = 3.5}, "a whole number from -2^53"},
        {{.kind = HISTO_INTEGER, .bins = 3, .lo = 0, .hi = 6}, "lo + bins"},
        {{.kind = (histo_axis_kind)99, .bins = 3, .lo = 0, .hi = 6}, "unknown kind"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double edges[16];
        histo_hist *h = NULL;
        REFUSED(HISTO_INVALID, cases[i].words, histo_axis_check(&cases[i].axis));
        REFUSED(HISTO_INVALID, cases[i].words, histo_axis_edges(&cases[i].axis, edges));
        REFUSED(HISTO_INVALID, cases[i].words, histo_hist_create(&h, 1, &cases[i].axis, NULL));
        assert_null(h);
    }
}

/* Regular and integer axes follow their formula, even when their edges are stored. */
static void foreign_edges_are_ignored(void **state)
{
    (void)state;
    const double foreign[] = {7, 8, 9}, narrow[] = {1, 1 + 0x1p-52, 1 + 0x1p-51};
    const histo_axis axes[] = {
        {.kind = HISTO_REGULAR, .bins = 2, .lo = 1, .hi = 1 + 0x1p-51, .edges = foreign},
        {.kind = HISTO_REGULAR, .bins = 2, .lo = 0, .hi = 4, .edges = foreign},
        {.kind = HISTO_INTEGER, .bins = 2, .lo = 3, .hi = 5, .edges = foreign},
    };
    const double wanted[][3] = {{narrow[0], narrow[1], narrow[2]}, {0, 2, 4}, {3, 4, 5}};
    for (size_t i = 0; i < sizeof axes / sizeof *axes; i++) {
        double edges[3];
        histo_hist *h;
        uint64_t counts[2];
        histo_view view = histo_view_1d(wanted[i], HISTO_F64, 2);
        OK(histo_axis_check(&axes[i]));
        OK(histo_axis_edges(&axes[i], edges));
        assert_memory_equal(edges, wanted[i], sizeof edges);
        OK(histo_hist_create(&h, 1, &axes[i], NULL));
        OK(histo_hist_fill(h, &view, NULL));
        OK(histo_hist_read_counts(h, HISTO_BINS, counts, 2, NULL));
        assert_true(counts[0] == 1 && counts[1] == 1);
        histo_axis kept = histo_hist_axis(h, 0);
        OK(histo_axis_edges(&kept, edges));
        assert_memory_equal(edges, wanted[i], sizeof edges);
        histo_hist_destroy(h);
    }
    /* Change the axis of a histogram, which may point to stored edges. */
    histo_hist *h;
    double edges[5];
    OK(histo_hist_create(&h, 1, &axes[0], NULL));
    histo_axis changed = histo_hist_axis(h, 0);
    assert_non_null(changed.edges);
    changed.bins = 4;
    changed.lo = 1 - 0x1p-51;
    OK(histo_axis_edges(&changed, edges));
    for (int i = 0; i <= 4; i++)
        assert_true(edges[i] == 1 + (i - 2) * 0x1p-52);
    histo_hist_destroy(h);
}

static void sizes_are_refused_first(void **state)
{
    (void)state;
    histo_axis narrow = histo_axis_regular(10, 1, 1 + 0x1p-51), wide = histo_axis_regular(INT64_C(1) << 30, 0, 1);
    histo_hist *h;
    REFUSED(HISTO_INVALID, "when multiplied", histo_hist_create(&h, 2, (const histo_axis[]){narrow, wide}, NULL));
    REFUSED(HISTO_INVALID, "a batch of",
            histo_hist_create(&h, 1, &narrow, &(histo_hist_options){.batch = INT64_C(1) << 60}));
    wide.bins++;
    REFUSED(HISTO_INVALID, "1073741825 bins", histo_hist_create(&h, 2, (const histo_axis[]){narrow, wide}, NULL));
}

/* More edges than are all computed when an axis is checked. The ranges are narrower and narrower: an axis that is taken
 * has edges that increase. */
static void many_computed_edges(void **state)
{
    (void)state;
    enum { BINS = (1 << 22) + 1 };
    double *edges = malloc((BINS + 1) * sizeof *edges);
    const double powers[] = {3, 0.5, -2, 0.01, 100};
    assert_non_null(edges);
    for (int kind = 0; kind < 8; kind++) {
        int taken = 0, refused = 0;
        for (int k = 0; k <= 52; k += k < 16 ? 16 : 2) {
            const double lo = k ? 3 : 0x1p-30, hi = k ? 3 * (1 + ldexp(1, -k)) : 7;
            const histo_axis axis = kind == 0   ? histo_axis_regular(BINS, lo, hi)
                                    : kind == 1 ? histo_axis_log(BINS, lo, hi)
                                    : kind == 2 ? histo_axis_sqrt(BINS, lo, hi)
                                                : histo_axis_power(BINS, lo, hi, powers[kind - 3]);
            if (histo_axis_check(&axis) != HISTO_OK) {
                assert_non_null(strstr(histo_last_error(), "bins are too many"));
                refused++;
                continue;
            }
            OK(histo_axis_edges(&axis, edges));
            for (int i = 0; i < BINS; i++)
                if (!(edges[i] < edges[i + 1])) fail_msg("kind %d, 2^-%d: bin %d has no width", kind, k, i);
            taken++;
        }
        assert_true(taken && refused);
    }
    free(edges);
    /* Those of the largest axes are not looked at. */
    const int64_t most = HISTO_MAX_BINS;
    histo_axis axis = histo_axis_power(most, 0, 1, 2);
    OK(histo_axis_check(&axis));
    axis = histo_axis_log(most, 1, 10);
    OK(histo_axis_check(&axis));
    axis = histo_axis_sqrt(most, 0, 1e300);
    OK(histo_axis_check(&axis));
    const histo_axis narrow[] = {histo_axis_power(most, 0, 1, 0.001), histo_axis_power(most, 1, 1 + 0x1p-20, 2),
                                 histo_axis_log(most, 1, 1 + 0x1p-20), histo_axis_sqrt(most, 0, 0x1p-1000),
                                 histo_axis_regular(most, 1, 1 + 0x1p-23)};
    for (int i = 0; i < 5; i++)
        REFUSED(HISTO_INVALID, "bins are too many", histo_axis_check(&narrow[i]));
}

static void kinds_and_weightings_have_names(void **state)
{
    (void)state;
    for (int kind = 0; kind < HISTO_AXIS_KIND_COUNT; kind++)
        assert_non_null(histo_axis_kind_name((histo_axis_kind)kind));
    assert_string_equal(histo_axis_kind_name(HISTO_POWER), "power");
    assert_null(histo_axis_kind_name((histo_axis_kind)HISTO_AXIS_KIND_COUNT));
    for (int weighting = 0; weighting <= HISTO_WEIGHT_REPRODUCIBLE_SUM; weighting++)
        assert_non_null(histo_weighting_name((histo_weighting)weighting));
    assert_string_equal(histo_weighting_name(HISTO_WEIGHT_FAST_SUM), "fast-sum");
    assert_null(histo_weighting_name((histo_weighting)(HISTO_WEIGHT_REPRODUCIBLE_SUM + 1)));
}

static void dtypes_have_names(void **state)
{
    (void)state;
    for (int d = 0; d < HISTO_DTYPE_COUNT; d++) {
        histo_dtype parsed;
        OK(histo_dtype_parse(histo_dtype_name((histo_dtype)d), &parsed));
        assert_int_equal(parsed, d);
    }
    histo_dtype unused;
    REFUSED(HISTO_INVALID, "f80", histo_dtype_parse("f80", &unused));
    assert_null(histo_dtype_name(HISTO_DTYPE_COUNT));
    assert_int_equal(histo_dtype_size(HISTO_DTYPE_COUNT), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regular_edges_are_two_roundings),
        cmocka_unit_test(linspace_rounds_like_numpy),
        cmocka_unit_test(transformed_edges),
        cmocka_unit_test(refused),
        cmocka_unit_test(foreign_edges_are_ignored),
        cmocka_unit_test(sizes_are_refused_first),
        cmocka_unit_test(many_computed_edges),
        cmocka_unit_test(dtypes_have_names),
        cmocka_unit_test(kinds_and_weightings_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
