/* Axes from data: ranges and quantiles against sorted samples, rules against NumPy's numbers, and the required order of
 * calls. tests/python/test_rules.py compares more of it with NumPy. */
#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/data.h"

#define LENGTH(array) ((int64_t)(sizeof(array) / sizeof *(array)))

static size_t size_of(histo_dtype dtype)
{
    return histo_dtype_size(dtype);
}

/* ---- Ranges ---- */

static histo_axis axis_of(const histo_view *view, histo_survey_options options)
{
    histo_axis axis = {0};
    if (histo_axis_from_data(view, NULL, &options, &axis) != HISTO_OK) fail_msg("%s", histo_last_error());
    return axis;
}

static void assert_refused(const histo_view *view, histo_survey_options options, const char *part)
{
    histo_axis axis = {.bins = -7};
    assert_int_equal(histo_axis_from_data(view, NULL, &options, &axis), HISTO_INVALID);
    if (!strstr(histo_last_error(), part)) fail_msg("'%s' is not in '%s'", part, histo_last_error());
    assert_int_equal(axis.bins, 0);
}

static void assert_axis(histo_axis axis, histo_axis_kind kind, int64_t bins, double lo, double hi)
{
    assert_int_equal(axis.kind, kind);
    assert_int_equal(axis.bins, bins);
    if (axis.lo != lo || axis.hi != hi) fail_msg("[%.17g, %.17g], not [%.17g, %.17g]", axis.lo, axis.hi, lo, hi);
    assert_int_equal(axis.closed, kind == HISTO_REGULAR);
}

static void ranges_are_as_asked_for(void **state)
{
    (void)state;
    const float x[] = {3, NAN, -1, INFINITY, 2, 2.5f};
    histo_view view = histo_view_1d(x, HISTO_F32, LENGTH(x));
    assert_axis(axis_of(&view, (histo_survey_options){.bins = 8}), HISTO_REGULAR, 8, -1, 3);
    assert_axis(axis_of(&view, (histo_survey_options){.range = HISTO_RANGE_DTYPE, .bins = 8}), HISTO_REGULAR, 8, 0, 1);
    assert_axis(axis_of(&view, (histo_survey_options){.range = HISTO_RANGE_FIXED, .lo = -5, .hi = 5, .bins = 8}),
                HISTO_REGULAR, 8, -5, 5);
    assert_axis(axis_of(&view, (histo_survey_options){.range = HISTO_RANGE_FIXED, .lo = 5, .hi = 5, .bins = 1}),
                HISTO_REGULAR, 1, 4.5, 5.5);
    assert_axis(axis_of(&view, (histo_survey_options){.range = HISTO_RANGE_PERCENTILE, .lo = 0, .hi = 50, .bins = 2}),
                HISTO_REGULAR, 2, -1, 2.5);
    assert_refused(&view, (histo_survey_options){.range = HISTO_RANGE_PERCENTILE, .lo = 0, .hi = 100, .bins = 2},
                   "finite");

    const double huge_end = INFINITY; /* an open end */
    histo_survey_options half = {.range = HISTO_RANGE_FIXED, .lo = 0, .hi = huge_end, .bins = 6};
    assert_axis(axis_of(&view, half), HISTO_REGULAR, 6, 0, 3);
    half.lo = -huge_end;
    half.hi = 2.25;
    assert_axis(axis_of(&view, half), HISTO_REGULAR, 6, -1, 2.25);
    half.hi = huge_end;
    assert_axis(axis_of(&view, half), HISTO_REGULAR, 6, -1, 3);
    half.lo = 3;
    assert_axis(axis_of(&view, half), HISTO_REGULAR, 6, 2.5, 3.5);
    half.lo = 3.5;
    assert_refused(&view, half, "no finite sample in [3.5, inf]");
    half = (histo_survey_options){.range = HISTO_RANGE_TO_PERCENTILE, .lo = -5, .hi = 50, .bins = 2};
    assert_axis(axis_of(&view, half), HISTO_REGULAR, 2, -5, 2.5);
    half.lo = 2.75;
    assert_refused(&view, half, "is empty");
    half = (histo_survey_options){.range = HISTO_RANGE_FROM_PERCENTILE, .lo = 50, .hi = 9, .bins = 2};
    assert_axis(axis_of(&view, half), HISTO_REGULAR, 2, 2.5, 9);
    half.lo = 100;
    assert_refused(&view, half, "the percentile 100 is not finite");

    const double alike[] = {7, 7, 7}, huge[] = {1e300, 1e300};
    view = histo_view_1d(alike, HISTO_F64, 3);
    assert_axis(axis_of(&view, (histo_survey_options){.rule = HISTO_RULE_AUTO}), HISTO_REGULAR, 1, 6.5, 7.5);
    view = histo_view_1d(huge, HISTO_F64, 2); /* rounding loses a half */
    assert_axis(axis_of(&view, (histo_survey_options){.bins = 1}), HISTO_REGULAR, 1, nextafter(1e300, 0),
                nextafter(1e300, INFINITY));

    const int8_t bytes[] = {-128, 127, 0};
    view = histo_view_1d(bytes, HISTO_I8, 3);
    histo_survey_options whole = {.range = HISTO_RANGE_DTYPE, .bins = 256};
    assert_axis(axis_of(&view, whole), HISTO_INTEGER, 256, -128, 128);
    whole.bins = 64;
    assert_axis(axis_of(&view, whole), HISTO_REGULAR, 64, -128, 128);
    whole.width = 1;
    assert_axis(axis_of(&view, whole), HISTO_INTEGER, 256, -128, 128);
}

static void no_finite_sample_is_refused(void **state)
{
    (void)state;
    const double none[] = {NAN, NAN}, infinite[] = {INFINITY, NAN};
    const char *sentence = "no finite sample to take a range from: give one";
    histo_view views[] = {histo_view_1d(none, HISTO_F64, 2), histo_view_1d(none, HISTO_F64, 0),
                          histo_view_1d(infinite, HISTO_F64, 2)};
    for (int v = 0; v < 3; v++) {
        for (int rule = HISTO_RULE_NONE; rule <= HISTO_RULE_SQRT; rule++) {
            histo_survey_options options = {.rule = (histo_rule)rule, .bins = 3};
            assert_refused(&views[v], options, sentence);
            options.range = HISTO_RANGE_PERCENTILE;
            options.hi = 100;
            assert_refused(&views[v], options, v < 2 ? sentence : "finite");
            options.range = HISTO_RANGE_FIXED;
            histo_axis axis = axis_of(&views[v], options);
            assert_int_equal(axis.bins, rule == HISTO_RULE_NONE ? 3 : 1);
        }
    }
}

static void widths_cover_the_range(void **state)
{
    (void)state;
    histo_view none = histo_view_1d(NULL, HISTO_F64, 0);
    histo_survey_options o = {.range = HISTO_RANGE_FIXED, .lo = 0, .hi = 1, .width = 0.3};
    assert_axis(axis_of(&none, o), HISTO_REGULAR, 4, 0, 4 * 0.3);
    o.hi = 2.7; /* 2.7 / 0.3 is above 9, and 9 * 0.3 is below 2.7 */
    assert_axis(axis_of(&none, o), HISTO_REGULAR, 9, 0, 2.7);
    o.hi = 0.3; /* 0.3 / 0.1 is below 3, and 3 * 0.1 above 0.3 */
    o.width = 0.1;
    assert_axis(axis_of(&none, o), HISTO_REGULAR, 3, 0, 3 * 0.1);
    o.width = 1e9;
    assert_axis(axis_of(&none, o), HISTO_REGULAR, 1, 0, 1e9);
    o.width = 1e-10;
    assert_refused(&none, o, "give a larger width");
    o.width = DBL_TRUE_MIN;
    assert_refused(&none, o, "give a larger width");
    o.width = DBL_MAX;
    o.lo = 1e308;
    o.hi = 1.5e308;
    assert_refused(&none, o, "not finite");
    o = (histo_survey_options){.range = HISTO_RANGE_FIXED, .hi = 1, .width = 1e-300};
    assert_refused(&none, o, "would be 1e+300, more than 1073741824: give a larger width");
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double sorted_quantile(const double *sorted, int64_t n, double q)
{
    double position = (double)(n - 1) * q, t = position - floor(position);
    int64_t below = (int64_t)position;
    double a = sorted[below], b = sorted[below + 1 < n ? below + 1 : below];
    return t < 0.5 ? a + (b - a) * t : b - (b - a) * (1 - t);
}

static void percentiles_equal_sorting(void **state)
{
    (void)state;
    rng r = {4};
    const int64_t sizes[] = {1, 2, 3, 10, 1000, 20011};
    for (int dtype = 0; dtype < HISTO_DTYPE_COUNT; dtype++) {
        for (int d = 0; d < DISTRIBUTIONS - 1; d++) { /* all but SPECIAL, which may have infinite percentiles */
            for (int k = 0; k < LENGTH(sizes); k++) {
                int64_t n = sizes[k];
                histo_axis axis = histo_axis_regular(50, 1, 120);
                char *samples = make_samples(&r, (histo_dtype)dtype, (distribution)d, &axis, n);
                double *sorted = malloc((size_t)n * sizeof *sorted);
                for (int64_t i = 0; i < n; i++)
                    sorted[i] =
                        (double)sample_value(samples + i * (int64_t)size_of((histo_dtype)dtype), (histo_dtype)dtype);
                qsort(sorted, (size_t)n, sizeof *sorted, by_value);
                histo_survey_options o = {.range = HISTO_RANGE_PERCENTILE, .bins = 1};
                o.lo = floor(rng_uniform(&r) * 50);
                o.hi = o.lo + rng_uniform(&r) * 50;
                double lo = sorted_quantile(sorted, n, o.lo / 100), hi = sorted_quantile(sorted, n, o.hi / 100);
                histo_view view = histo_view_1d(samples, (histo_dtype)dtype, n);
                bool point = lo == hi;
                assert_axis(axis_of(&view, o), HISTO_REGULAR, 1, point ? lo - 0.5 : lo, point ? hi + 0.5 : hi);
                free(sorted);
                free(samples);
            }
        }
    }
}

/* The axis of samples that are added in pieces, and the number of passes. */
static int passes_in_pieces(const double *x, int64_t n, const histo_survey_options *options, histo_axis *axis)
{
    const int64_t piece = 30000;
    histo_survey *survey;
    int passes = 0;
    assert_int_equal(histo_survey_create(&survey, HISTO_F64, options), HISTO_OK);
    for (; survey_next_pass(survey); passes++)
        for (int64_t at = 0; at < n; at += piece) {
            const histo_view part = histo_view_1d(x + at, HISTO_F64, n - at < piece ? n - at : piece);
            assert_int_equal(histo_survey_add(survey, &part, NULL), HISTO_OK);
        }
    assert_int_equal(histo_survey_axis(survey, axis), HISTO_OK);
    histo_survey_destroy(survey);
    return passes;
}

static void little_memory_takes_passes(void **state)
{
    (void)state;
    rng r = {9};
    const int64_t n = 1500000;
    double *x = malloc((size_t)n * sizeof *x);
    int more = 0;
    for (int kind = 0; kind < 3;
         kind++) { /* alike everywhere; ascending; the first ones unlike the others, in clusters */
        for (int64_t i = 0; i < n; i++)
            x[i] = kind == 0   ? rng_uniform(&r)
                   : kind == 1 ? (double)i
                   : i < n / 3 ? -rng_uniform(&r)
                               : 1e6 + floor(rng_uniform(&r) * 5) + 1e-9 * rng_uniform(&r);
        for (int in_parts = 0; in_parts < 2; in_parts++) {
            histo_survey_options o = {
                .range = HISTO_RANGE_PERCENTILE, .lo = 7, .hi = 61, .bins = 1, .in_parts = in_parts};
            histo_axis plenty, little;
            const int passes = passes_in_pieces(x, n, &o, &plenty);
            o.memory = 1;
            const int with_little = passes_in_pieces(x, n, &o, &little);
            assert_true(with_little >= passes);
            more += with_little > passes;
            assert_axis(little, HISTO_REGULAR, 1, plenty.lo, plenty.hi);
        }
    }
    assert_true(more > 0);
    free(x);
}

/* ---- Rules ---- */

static const char *const names[] = {"auto", "fd", "scott", "stone", "sturges", "doane", "rice", "sqrt"};

static void rules_have_names(void **state)
{
    (void)state;
    for (int i = 0; i < LENGTH(names); i++) {
        histo_rule rule = HISTO_RULE_NONE;
        assert_int_equal(histo_rule_parse(names[i], &rule), HISTO_OK);
        assert_int_equal(rule, HISTO_RULE_AUTO + i);
    }
    histo_rule rule = HISTO_RULE_FD;
    assert_int_equal(histo_rule_parse("none", &rule), HISTO_INVALID);
    assert_int_equal(histo_rule_parse("", &rule), HISTO_INVALID);
    assert_int_equal(histo_rule_parse(NULL, &rule), HISTO_INVALID);
    assert_int_equal(rule, HISTO_RULE_NONE);
}

/* numpy.histogram_bin_edges gives the same number of bins for these samples, over their range and over [0.25, 0.75] or
 * [10, 20]. */
static void rules_equal_numpy(void **state)
{
    (void)state;
    static const int64_t floats[][2] = {{11, 10}, {10, 8}, {10, 8}, {95, 3}, {11, 10}, {15, 11}, {20, 15}, {32, 20}};
    static const int64_t integers[][2] = {{11, 10}, {10, 5}, {10, 5}, {99, 10}, {11, 10}, {11, 10}, {20, 10}, {32, 10}};
    double x[1000];
    uint16_t y[1000];
    for (int i = 0; i < 1000; i++) {
        double u = (double)(i * 7919 % 1000) / 1000.0;
        x[i] = u * u;
        y[i] = (uint16_t)(i * i * 31 % 257);
    }
    histo_view views[] = {histo_view_1d(x, HISTO_F64, 1000), histo_view_1d(y, HISTO_U16, 1000)};
    for (int rule = 0; rule < LENGTH(names); rule++) {
        histo_survey_options o = {.rule = (histo_rule)(HISTO_RULE_AUTO + rule)};
        assert_int_equal(axis_of(&views[0], o).bins, floats[rule][0]);
        assert_int_equal(axis_of(&views[1], o).bins, integers[rule][0]);
        o.range = HISTO_RANGE_FIXED;
        o.lo = 0.25;
        o.hi = 0.75;
        assert_int_equal(axis_of(&views[0], o).bins, floats[rule][1]);
        o.lo = 10;
        o.hi = 20;
        assert_int_equal(axis_of(&views[1], o).bins, integers[rule][1]);
    }
}

/* One bin has the same estimated error as nine, the maximum that keeps the first two samples together. */
static void stone_prefers_fewer_bins(void **state)
{
    (void)state;
    const uint8_t x[] = {0, 21, 200};
    const uint64_t y[] = {0, 21, 200};
    histo_view few = histo_view_1d(x, HISTO_U8, 3), many = histo_view_1d(y, HISTO_U64, 3);
    assert_int_equal(axis_of(&few, (histo_survey_options){.rule = HISTO_RULE_STONE}).bins, 1);
    assert_int_equal(axis_of(&many, (histo_survey_options){.rule = HISTO_RULE_STONE}).bins, 1);
}

static void absurd_numbers_are_refused(void **state)
{
    (void)state;
    double x[1000];
    for (int i = 0; i < 1000; i++)
        x[i] = i * 1e-9;
    x[999] = 1e9;
    histo_view view = histo_view_1d(x, HISTO_F64, 1000);
    assert_refused(&view, (histo_survey_options){.rule = HISTO_RULE_FD}, "rule fd asks for");
    x[999] = 1;
    x[998] = nextafter(1, 2);
    view = histo_view_1d(x + 998, HISTO_F64, 2);
    assert_refused(&view, (histo_survey_options){.bins = 2}, "too many for the range");
    x[998] = -DBL_MAX;
    x[999] = DBL_MAX;
    for (int rule = HISTO_RULE_NONE; rule <= HISTO_RULE_SQRT; rule++)
        assert_refused(&view, (histo_survey_options){.rule = (histo_rule)rule, .bins = 2}, "wider than a double");
}

/* ---- Passes ---- */

/* Survey the samples in random pieces; returns the number of passes. */
static int survey_in_pieces(rng *r, const char *samples, histo_dtype dtype, int64_t n, histo_survey_options options,
                            histo_axis *axis)
{
    histo_survey *survey;
    assert_int_equal(histo_survey_create(&survey, dtype, &options), HISTO_OK);
    int passes = 0;
    while (survey_next_pass(survey)) {
        passes++;
        for (int64_t begin = 0, length; begin < n; begin += length) {
            length = rng_below(r, n / 3 + 1) + 1;
            if (length > n - begin) length = n - begin;
            histo_view piece = histo_view_1d(samples + begin * (int64_t)size_of(dtype), dtype, length);
            assert_int_equal(histo_survey_add(survey, &piece, NULL), HISTO_OK);
        }
    }
    assert_int_equal(histo_survey_axis(survey, axis), HISTO_OK);
    assert_false(survey_next_pass(survey));
    histo_survey_destroy(survey);
    return passes;
}

static void passes_are_no_more_than_needed(void **state)
{
    (void)state;
    rng r = {5};
    float x[3000];
    for (int i = 0; i < 3000; i++)
        x[i] = (float)rng_uniform(&r);
    const char *samples = (const char *)x;
    histo_survey_options o = {.range = HISTO_RANGE_FIXED, .hi = 1, .bins = 10};
    histo_axis axis;
    assert_int_equal(survey_in_pieces(&r, samples, HISTO_F32, 3000, o, &axis), 0);
    o.rule = HISTO_RULE_SCOTT;
    assert_int_equal(survey_in_pieces(&r, samples, HISTO_F32, 3000, o, &axis), 1);
    o.range = HISTO_RANGE_MINMAX;
    for (int rule = HISTO_RULE_NONE; rule <= HISTO_RULE_SQRT; rule++) {
        o.rule = (histo_rule)rule;
        int expected = rule == HISTO_RULE_STONE ? 2 : 1;
        assert_int_equal(survey_in_pieces(&r, samples, HISTO_F32, 3000, o, &axis), expected);
    }
    o = (histo_survey_options){.range = HISTO_RANGE_PERCENTILE, .lo = 1, .hi = 99, .bins = 10};
    assert_int_equal(survey_in_pieces(&r, samples, HISTO_F32, 3000, o, &axis), 1);
    o.rule = HISTO_RULE_AUTO;
    assert_int_equal(survey_in_pieces(&r, samples, HISTO_F32, 3000, o, &axis), 2);
}

static void pieces_do_not_matter(void **state)
{
    (void)state;
    rng r = {6};
    for (int dtype = 0; dtype < HISTO_DTYPE_COUNT; dtype++) {
        histo_axis around = histo_axis_regular(50, 1, 120);
        char *samples = make_samples(&r, (histo_dtype)dtype, GAUSSIAN, &around, 4000);
        histo_view view = histo_view_1d(samples, (histo_dtype)dtype, 4000);
        for (int rule = HISTO_RULE_NONE; rule <= HISTO_RULE_SQRT; rule++) {
            histo_survey_options o = {.range = (histo_range)rng_below(&r, 2), .lo = 5, .hi = 90, .bins = 9};
            o.rule = (histo_rule)rule;
            histo_axis whole = axis_of(&view, o), pieces;
            survey_in_pieces(&r, samples, (histo_dtype)dtype, 4000, o, &pieces);
            assert_axis(pieces, whole.kind, whole.bins, whole.lo, whole.hi);
        }
        free(samples);
    }
}

/* The first pieces are unlike the others, so what is looked for is not where they have it. */
static void drifting_data_takes_two_passes(void **state)
{
    (void)state;
    enum { N = 1200000 };
    rng r = {7};
    uint64_t *x = malloc(N * sizeof *x);
    for (int64_t i = 0; i < N; i++)
        x[i] = (UINT64_C(1) << 40) + (uint64_t)i;
    histo_survey_options o = {.range = HISTO_RANGE_PERCENTILE, .lo = 25, .hi = 75, .bins = 10};
    histo_axis axis;
    assert_int_equal(survey_in_pieces(&r, (const char *)x, HISTO_U64, N, o, &axis), 2);
    double quarter = (N - 1) * 0.25;
    assert_axis(axis, HISTO_REGULAR, 10, 0x1p40 + quarter, 0x1p40 + 3 * quarter);
    free(x);
}

/* The bits of moments, axes and quantiles. */
static void threads_change_nothing(void **state)
{
    (void)state;
    enum { N = 1000003 };
    rng r = {13};
    const histo_dtype dtypes[] = {HISTO_U8, HISTO_I16, HISTO_F16, HISTO_F32, HISTO_F64, HISTO_I64};
    uint8_t *mask = malloc(N);
    for (int64_t i = 0; i < N; i++)
        mask[i] = rng_below(&r, 3) > 0;
    const histo_view mask_view = histo_view_1d(mask, HISTO_U8, N);
    for (int k = 0; k < LENGTH(dtypes); k++) {
        histo_axis around = histo_axis_regular(50, 1, 120);
        void *samples = make_samples(&r, dtypes[k], GAUSSIAN, &around, N);
        const histo_view view = histo_view_1d(samples, dtypes[k], N);
        for (int masked = 0; masked < 2; masked++) {
            histo_stats stats[2] = {0};
            histo_axis axes[2][HISTO_RULE_SQRT + 1];
            memset(axes, 0, sizeof axes);
            for (int t = 0; t < 2; t++) {
                const histo_fill_options fill = {.mask = masked ? &mask_view : NULL, .threads = t ? 5 : 1};
                assert_int_equal(histo_stats_add(&stats[t], &view, &fill), HISTO_OK);
                for (int rule = HISTO_RULE_AUTO; rule <= HISTO_RULE_SQRT; rule++) {
                    const histo_survey_options o = {.rule = (histo_rule)rule};
                    if (rule == HISTO_RULE_STONE) continue;
                    assert_int_equal(histo_axis_from_data(&view, &fill, &o, &axes[t][rule]), HISTO_OK);
                }
            }
            assert_memory_equal(&stats[0], &stats[1], sizeof stats[0]);
            assert_memory_equal(axes[0], axes[1], sizeof axes[0]);
        }
        free(samples);
    }
    assert_int_equal(histo_stats_add(&(histo_stats){0}, &mask_view, &(histo_fill_options){.threads = -1}),
                     HISTO_INVALID);
    free(mask);
}

/* ---- Quantiles ---- */

/* How many passes it takes to find the quantiles q[n], with samples added in two pieces, of which the first has
 * `first`.
 */
static int find_quantiles(const void *samples, histo_dtype dtype, int64_t count, int64_t first, int n, const double *q,
                          double *values)
{
    const histo_view pieces[] = {
        histo_view_1d(samples, dtype, first),
        histo_view_1d((const char *)samples + first * (int64_t)size_of(dtype), dtype, count - first)};
    histo_quantiles *quantiles;
    int passes = 0;
    assert_int_equal(histo_quantiles_create(&quantiles, dtype, HISTO_QUANTILE_LINEAR, n, q), HISTO_OK);
    for (; quantiles_next_pass(quantiles); passes++)
        for (int i = 0; i < 2; i++)
            assert_int_equal(histo_quantiles_add(quantiles, &pieces[i], NULL), HISTO_OK);
    assert_int_equal(histo_quantiles_read(quantiles, values), HISTO_OK);
    histo_quantiles_destroy(quantiles);
    return passes;
}

static void quantiles_equal_sorting(void **state)
{
    (void)state;
    enum { N = 150000, MOST = 12 };
    rng r = {10};
    for (int dtype = 0; dtype < HISTO_DTYPE_COUNT; dtype++)
        for (int d = 0; d < DISTRIBUTIONS - 1; d++) {
            const int64_t n = N / 15 * (1 + rng_below(&r, 15)), size = (int64_t)size_of((histo_dtype)dtype);
            histo_axis axis = histo_axis_regular(50, 1, 120);
            char *samples = make_samples(&r, (histo_dtype)dtype, (distribution)d, &axis, n);
            double *sorted = malloc((size_t)n * sizeof *sorted), q[MOST], values[MOST];
            for (int64_t i = 0; i < n; i++)
                sorted[i] = (double)sample_value(samples + i * size, (histo_dtype)dtype);
            qsort(sorted, (size_t)n, sizeof *sorted, by_value);
            const int count = 1 + (int)rng_below(&r, MOST);
            for (int i = 0; i < count; i++)
                q[i] = rng_below(&r, 6) ? rng_uniform(&r) : (double)rng_below(&r, 5) / 4;
            find_quantiles(samples, (histo_dtype)dtype, n, rng_below(&r, n), count, q, values);
            for (int i = 0; i < count; i++) {
                const double wanted = sorted_quantile(sorted, n, q[i]);
                if (values[i] != wanted) fail_msg("%s: %g is %.17g", distribution_name((distribution)d), q[i], wanted);
            }
            free(sorted);
            free(samples);
        }
}

/* On the way to an axis: the same quantiles, unless infinities are left out. */
static void surveys_find_quantiles(void **state)
{
    (void)state;
    enum { N = 100000, ASKED = 3 };
    const histo_survey_options kinds[] = {
        {.bins = 5},
        {.rule = HISTO_RULE_AUTO},
        {.rule = HISTO_RULE_STONE},
        {.range = HISTO_RANGE_PERCENTILE, .lo = 1, .hi = 99, .bins = 5},
        {.range = HISTO_RANGE_FROM_PERCENTILE, .lo = 1, .hi = 1e6, .rule = HISTO_RULE_FD}};
    const double q[] = {0.25, 0.5, 0.9};
    rng r = {13};
    for (int dtype = 0; dtype < HISTO_DTYPE_COUNT; dtype++)
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            histo_axis like = histo_axis_regular(50, 1, 120);
            const int64_t n = k % 2 ? N : N / 1000;
            void *samples = make_samples(&r, (histo_dtype)dtype, UNIFORM, &like, n);
            const histo_view all = histo_view_1d(samples, (histo_dtype)dtype, n);
            double values[ASKED], wanted[ASKED];
            histo_survey *survey;
            find_quantiles(samples, (histo_dtype)dtype, n, n / 3, ASKED, q, wanted);
            assert_int_equal(histo_survey_create(&survey, (histo_dtype)dtype, &kinds[k]), HISTO_OK);
            assert_int_equal(histo_survey_ask_quantiles(survey, ASKED, q), HISTO_OK);
            while (survey_next_pass(survey))
                assert_int_equal(histo_survey_add(survey, &all, NULL), HISTO_OK);
            assert_int_equal(histo_survey_quantiles(survey, values), HISTO_OK);
            assert_memory_equal(values, wanted, sizeof wanted);
            histo_survey_destroy(survey);
            free(samples);
        }
}

static void some_surveys_find_no_quantiles(void **state)
{
    (void)state;
    const float samples[] = {1, 2, INFINITY};
    const histo_view all = histo_view_1d(samples, HISTO_F32, 3);
    const double q[7] = {0};
    double value;
    histo_survey *survey;
    const histo_survey_options given = {.range = HISTO_RANGE_FIXED, .lo = 0, .hi = 1, .rule = HISTO_RULE_FD};
    assert_int_equal(histo_survey_create(&survey, HISTO_F32, &given), HISTO_OK);
    assert_int_equal(histo_survey_ask_quantiles(survey, 1, q), HISTO_UNSUPPORTED);
    histo_survey_destroy(survey);
    assert_int_equal(histo_survey_create(&survey, HISTO_F32, &(histo_survey_options){.bins = 1, .in_parts = true}),
                     HISTO_OK);
    assert_int_equal(histo_survey_ask_quantiles(survey, 1, q), HISTO_UNSUPPORTED);
    histo_survey_destroy(survey);
    for (int rule = 0; rule < 2; rule++) {
        const histo_survey_options options = {.bins = 1, .rule = rule ? HISTO_RULE_FD : HISTO_RULE_NONE};
        assert_int_equal(histo_survey_create(&survey, HISTO_F32, &options), HISTO_OK);
        assert_int_equal(histo_survey_ask_quantiles(survey, 7, q), HISTO_INVALID);
        assert_int_equal(histo_survey_ask_quantiles(survey, 1, (const double[]){1.5}), HISTO_INVALID);
        assert_int_equal(histo_survey_ask_quantiles(survey, 1, q), HISTO_OK);
        assert_int_equal(histo_survey_quantiles(survey, &value), HISTO_INVALID); /* not done */
        while (survey_next_pass(survey))
            assert_int_equal(histo_survey_add(survey, &all, NULL), HISTO_OK);
        assert_int_equal(histo_survey_ask_quantiles(survey, 1, q), HISTO_INVALID); /* too late */
        assert_int_equal(histo_survey_quantiles(survey, &value), rule ? HISTO_UNSUPPORTED : HISTO_OK);
        histo_survey_destroy(survey);
    }
    assert_true(value == 1); /* numpy.quantile([1, 2, inf], 0) */
}

/* Samples that several threads add, piece by piece. */
typedef struct crowd {
    histo_quantiles *quantiles;
    const double *samples;
    int64_t size, piece, next;
} crowd;

static void *add_pieces(void *context)
{
    crowd *c = context;
    for (int64_t at; (at = __atomic_fetch_add(&c->next, c->piece, __ATOMIC_RELAXED)) < c->size;) {
        const int64_t left = c->size - at;
        const histo_view view = histo_view_1d(c->samples + at, HISTO_F64, left < c->piece ? left : c->piece);
        if (histo_quantiles_add(c->quantiles, &view, &(histo_fill_options){.threads = 1}) != HISTO_OK) return context;
    }
    return NULL;
}

/* In any order, brackets that become narrower on the way count what they would have counted from the beginning. */
static void threads_may_add_at_once(void **state)
{
    (void)state;
    enum { N = 1500000, THREADS = 4, ASKED = 4, KINDS = 5 };
    static const double q[ASKED] = {0.01, 0.25, 0.5, 0.75};
    rng r = {14};
    double *x = malloc(N * sizeof *x), *sorted = malloc(N * sizeof *x), values[ASKED];
    for (int kind = 0; kind < KINDS; kind++) {
        crowd c = {.samples = x, .size = N, .piece = kind == 1 ? 700 : 30000};
        for (int64_t i = 0; i < N; i++)
            x[i] = kind < 2    ? rng_uniform(&r)
                   : kind == 2 ? (double)i                                      /* sorted */
                   : kind == 3 ? (double)rng_below(&r, 5)                       /* few values */
                               : (double)(i % 977) + 1e6 * (double)(i > N / 2); /* later ones are others */
        memcpy(sorted, x, N * sizeof *x);
        qsort(sorted, N, sizeof *sorted, by_value);
        assert_int_equal(histo_quantiles_create(&c.quantiles, HISTO_F64, HISTO_QUANTILE_LINEAR, ASKED, q), HISTO_OK);
        for (; quantiles_next_pass(c.quantiles); c.next = 0) {
            pthread_t threads[THREADS];
            void *failed;
            for (int t = 0; t < THREADS; t++)
                assert_int_equal(pthread_create(&threads[t], NULL, add_pieces, &c), 0);
            for (int t = 0; t < THREADS; t++)
                assert_true(pthread_join(threads[t], &failed) == 0 && !failed);
        }
        assert_int_equal(histo_quantiles_read(c.quantiles, values), HISTO_OK);
        for (int i = 0; i < ASKED; i++)
            assert_true(values[i] == sorted_quantile(sorted, N, q[i]));
        histo_quantiles_destroy(c.quantiles);
    }
    free(sorted);
    free(x);
}

/* Few values, each more often than keys fit into memory; the quartiles are between two of them. */
static void common_values_take_one_pass(void **state)
{
    (void)state;
    enum { N = 10000000 };
    rng r = {11};
    float *x = malloc(N * sizeof *x);
    double values[3];
    for (int64_t i = 0; i < N; i++)
        x[i] = (float)(i % 4 + 1);
    assert_int_equal(find_quantiles(x, HISTO_F32, N, N / 2, 3, (const double[]){0.25, 0.5, 0.75}, values), 1);
    assert_true(values[0] == 1.75 && values[1] == 2.5 && values[2] == 3.25);
    for (int64_t i = 0; i < N; i++)
        x[i] = (float)rng_below(&r, 7);
    assert_int_equal(find_quantiles(x, HISTO_F32, N, N / 2, 3, (const double[]){0.25, 0.5, 0.75}, values), 1);
    assert_true(values[0] == 1 && values[1] == 3 && values[2] == 5);
    free(x);
}

/* The first samples find a bracket that is right, but where later ones crowd. */
static void crowded_brackets_are_narrowed(void **state)
{
    (void)state;
    enum { FIRST = 1 << 17, BELOW = 400000, INSIDE = 6000000, N = FIRST + 2 * BELOW + INSIDE };
    rng r = {12};
    double *x = malloc(N * sizeof *x), *sorted = malloc(N * sizeof *x), values[2];
    for (int64_t i = 0; i < N; i++)
        x[i] = i < FIRST               ? rng_uniform(&r)
               : i < FIRST + BELOW     ? -rng_uniform(&r)
               : i < FIRST + 2 * BELOW ? 1 + rng_uniform(&r)
                                       : 0.4999 + rng_uniform(&r) * 0.0002;
    memcpy(sorted, x, N * sizeof *x);
    qsort(sorted, N, sizeof *sorted, by_value);
    assert_int_equal(find_quantiles(x, HISTO_F64, N, FIRST, 1, (const double[]){0.5}, values), 1);
    assert_true(values[0] == sorted_quantile(sorted, N, 0.5));
    free(sorted);
    free(x);
}

/* Many quantiles are found by their bits; here down to the last ones. */
static void many_quantiles_take_all_digits(void **state)
{
    (void)state;
    enum { N = 4400000, MANY = 10 };
    uint64_t *x = malloc(N * sizeof *x);
    double q[MANY], values[MANY];
    for (int64_t i = 0; i < N; i++)
        x[i] = (UINT64_C(1) << 40) + (uint64_t)(i * 7 % N);
    for (int i = 0; i < MANY; i++)
        q[i] = i / (double)MANY;
    assert_int_equal(find_quantiles(x, HISTO_U64, N, N / 3, MANY, q, values), 4);
    for (int i = 0; i < MANY; i++)
        assert_true(values[i] == 0x1p40 + (N - 1) * q[i]);
    free(x);
}

/* ---- Wrong use ---- */

static void survey_is_used_in_order(void **state)
{
    (void)state;
    double x[] = {1, 2, 3, 4};
    histo_view view = histo_view_1d(x, HISTO_F64, 4), other = histo_view_1d(x, HISTO_F32, 4);
    histo_survey_options o = {.rule = HISTO_RULE_SQRT};
    histo_survey *survey;
    histo_axis axis;
    assert_int_equal(histo_survey_create(&survey, HISTO_F64, &o), HISTO_OK);
    assert_int_equal(histo_survey_add(survey, &view, NULL), HISTO_INVALID);
    assert_int_equal(histo_survey_axis(survey, &axis), HISTO_INVALID);
    assert_true(survey_next_pass(survey));
    assert_int_equal(histo_survey_axis(survey, &axis), HISTO_INVALID);
    assert_int_equal(histo_survey_add(survey, &other, NULL), HISTO_INVALID);
    histo_view short_mask = histo_view_1d(x, HISTO_F64, 3);
    assert_int_equal(histo_survey_add(survey, &view, &(histo_fill_options){.mask = &short_mask}), HISTO_INVALID);
    assert_int_equal(histo_survey_add(survey, NULL, NULL), HISTO_INVALID);
    assert_int_equal(histo_survey_add(NULL, &view, NULL), HISTO_INVALID);
    assert_int_equal(histo_survey_add(survey, &view, NULL), HISTO_OK); /* failed calls changed nothing */
    assert_false(survey_next_pass(survey));
    assert_int_equal(histo_survey_add(survey, &view, NULL), HISTO_INVALID);
    assert_int_equal(histo_survey_axis(survey, NULL), HISTO_INVALID);
    assert_int_equal(histo_survey_axis(survey, &axis), HISTO_OK);
    assert_axis(axis, HISTO_REGULAR, 2, 1, 4);
    histo_survey_destroy(survey);
    histo_survey_destroy(NULL);
    bool more = true;
    REFUSED(HISTO_INVALID, "survey", histo_survey_next_pass(NULL, &more));
    assert_false(more);
    assert_int_equal(histo_stats_add(NULL, &view, NULL), HISTO_INVALID);
}

static void assert_change_is_noticed(histo_survey *survey, uint64_t *x, int64_t n)
{
    for (int64_t pass = 0; survey_next_pass(survey); pass++) {
        for (int64_t i = 0; i < n; i++)
            x[i] = pass % 2 ? x[i] << 20 : (UINT64_C(1) << 40) + (uint64_t)i;
        histo_view first = histo_view_1d(x, HISTO_U64, n / 10), others = histo_view_1d(x, HISTO_U64, n - pass);
        assert_int_equal(histo_survey_add(survey, &first, NULL), HISTO_OK);
        assert_int_equal(histo_survey_add(survey, &others, NULL), HISTO_OK);
    }
    histo_axis axis;
    assert_int_equal(histo_survey_axis(survey, &axis), HISTO_INVALID);
    assert_non_null(strstr(histo_last_error(), "changed"));
    histo_survey_destroy(survey);
}

static void changed_samples_are_noticed(void **state)
{
    (void)state;
    enum { MANY = 1100000, FEW = 20000 };
    uint64_t *x = malloc(MANY * sizeof *x);
    histo_survey *survey;
    histo_survey_options o = {.rule = HISTO_RULE_STONE};
    assert_int_equal(histo_survey_create(&survey, HISTO_U64, &o), HISTO_OK);
    assert_change_is_noticed(survey, x, FEW);
    o = (histo_survey_options){.rule = HISTO_RULE_FD};
    assert_int_equal(histo_survey_create(&survey, HISTO_U64, &o), HISTO_OK);
    assert_change_is_noticed(survey, x, MANY);
    o = (histo_survey_options){.range = HISTO_RANGE_PERCENTILE, .lo = 10, .hi = 90, .bins = 5};
    assert_int_equal(histo_survey_create(&survey, HISTO_U64, &o), HISTO_OK);
    assert_change_is_noticed(survey, x, MANY);
    free(x);
}

static void wrong_options_are_refused(void **state)
{
    (void)state;
    const histo_survey_options wrong[] = {
        {.bins = 0},
        {.bins = -1},
        {.bins = HISTO_MAX_BINS + 1},
        {.bins = 5, .width = -1},
        {.width = NAN},
        {.width = INFINITY},
        {.bins = 5, .range = (histo_range)17},
        {.bins = 5, .rule = (histo_rule)17},
        {.bins = 5, .range = HISTO_RANGE_FIXED, .lo = 2, .hi = 1},
        {.bins = 5, .range = HISTO_RANGE_FIXED, .lo = NAN, .hi = 1},
        {.bins = 5, .range = HISTO_RANGE_FIXED, .lo = INFINITY, .hi = INFINITY},
        {.bins = 5, .range = HISTO_RANGE_FIXED, .lo = -INFINITY, .hi = -INFINITY},
        {.bins = 5, .range = HISTO_RANGE_FROM_PERCENTILE, .lo = 101, .hi = 1},
        {.bins = 5, .range = HISTO_RANGE_FROM_PERCENTILE, .lo = 1, .hi = INFINITY},
        {.bins = 5, .range = HISTO_RANGE_TO_PERCENTILE, .lo = NAN, .hi = 1},
        {.bins = 5, .range = HISTO_RANGE_TO_PERCENTILE, .lo = 1, .hi = -1},
        {.bins = 5, .range = HISTO_RANGE_PERCENTILE, .lo = -1, .hi = 99},
        {.bins = 5, .range = HISTO_RANGE_PERCENTILE, .lo = 1, .hi = 101},
        {.bins = 5, .range = HISTO_RANGE_PERCENTILE, .lo = 99, .hi = 1},
        {.bins = 5, .range = HISTO_RANGE_PERCENTILE, .lo = 1, .hi = NAN},
    };
    histo_survey *survey = NULL;
    for (int i = 0; i < LENGTH(wrong); i++)
        assert_int_equal(histo_survey_create(&survey, HISTO_F32, &wrong[i]), HISTO_INVALID);
    const histo_survey_options right = {.bins = 5};
    assert_int_equal(histo_survey_create(&survey, HISTO_F32, NULL), HISTO_INVALID);
    assert_int_equal(histo_survey_create(&survey, HISTO_DTYPE_COUNT, &right), HISTO_INVALID);
    assert_int_equal(histo_survey_create(NULL, HISTO_F32, &right), HISTO_INVALID);
    assert_null(survey);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_are_as_asked_for),
        cmocka_unit_test(no_finite_sample_is_refused),
        cmocka_unit_test(widths_cover_the_range),
        cmocka_unit_test(percentiles_equal_sorting),
        cmocka_unit_test(little_memory_takes_passes),
        cmocka_unit_test(rules_have_names),
        cmocka_unit_test(rules_equal_numpy),
        cmocka_unit_test(stone_prefers_fewer_bins),
        cmocka_unit_test(absurd_numbers_are_refused),
        cmocka_unit_test(passes_are_no_more_than_needed),
        cmocka_unit_test(pieces_do_not_matter),
        cmocka_unit_test(drifting_data_takes_two_passes),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(quantiles_equal_sorting),
        cmocka_unit_test(surveys_find_quantiles),
        cmocka_unit_test(some_surveys_find_no_quantiles),
        cmocka_unit_test(threads_may_add_at_once),
        cmocka_unit_test(common_values_take_one_pass),
        cmocka_unit_test(crowded_brackets_are_narrowed),
        cmocka_unit_test(many_quantiles_take_all_digits),
        cmocka_unit_test(survey_is_used_in_order),
        cmocka_unit_test(changed_samples_are_noticed),
        cmocka_unit_test(wrong_options_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
