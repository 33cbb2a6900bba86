/* Axes from data: moments against long double, ranges against sorted samples, rules against NumPy's numbers, and the
 * required order of calls. tests/python/test_rules.py compares more of it with NumPy. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/kernels/kernels.h"
#include "support/data.h"

#define LENGTH(array) ((int64_t)(sizeof(array) / sizeof *(array)))

static size_t size_of(histo_dtype dtype)
{
    return histo_dtype_size(dtype);
}

/* ---- Moments ---- */

static histo_stats plain_stats(const void *samples, histo_dtype dtype, int64_t n, const uint8_t *mask)
{
    histo_stats s = {0};
    long double sum = 0, m2 = 0, m3 = 0, m4 = 0, min = INFINITY, max = -INFINITY;
    int64_t finite = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t i = 0; i < n; i++) {
            if (mask && !mask[i]) {
                s.masked += pass == 0;
                continue;
            }
            long double x = sample_value((const char *)samples + i * (int64_t)size_of(dtype), dtype);
            if (pass == 0) s.samples++;
            if (pass == 0 && isnan(x)) s.nan++;
            if (pass == 0 && isinf(x)) s.infinite++;
            if (!isfinite(x)) continue;
            if (pass == 0) {
                finite++;
                sum += x;
                min = x < min ? x : min;
                max = x > max ? x : max;
            } else {
                long double d = x - sum / (long double)finite;
                m2 += d * d;
                m3 += d * d * d;
                m4 += d * d * d * d;
            }
        }
    }
    if (finite == 0) return s;
    s.min = (double)min;
    s.max = (double)max;
    if (s.min > min) s.min = nextafter(s.min, -INFINITY);
    if (s.max < max) s.max = nextafter(s.max, INFINITY);
    s.mean = (double)(sum / (long double)finite);
    s.m2 = (double)m2;
    s.m3 = (double)m3;
    s.m4 = (double)m4;
    return s;
}

static void assert_near(double x, double expected, double scale)
{
    if (isfinite(expected) && isfinite(scale)) assert_true(fabs(x - expected) <= 1e-12 * scale);
}

static void assert_same_stats(const histo_stats *s, const histo_stats *expected)
{
    assert_int_equal(s->samples, expected->samples);
    assert_int_equal(s->nan, expected->nan);
    assert_int_equal(s->infinite, expected->infinite);
    assert_int_equal(s->masked, expected->masked);
    assert_true(s->min == expected->min);
    assert_true(s->max == expected->max);
    double reach = fmax(fabs(expected->min), fabs(expected->max));
    double n = (double)(expected->samples + 1);
    assert_near(s->mean, expected->mean, reach);
    assert_near(s->m2, expected->m2, expected->m2 + reach * reach * DBL_EPSILON * n);
    assert_near(s->m3, expected->m3, pow(expected->m2 / n, 1.5) * n + reach * reach * reach * DBL_EPSILON * n);
    assert_near(s->m4, expected->m4, expected->m4 + pow(reach, 4) * DBL_EPSILON * n);
}

static void stats_equal_long_double(void **state)
{
    (void)state;
    rng r = {1};
    const int64_t sizes[] = {0, 1, 2, 3, 7, 8, 9, 100, 2047, 2049, 10007};
    for (int dtype = 0; dtype < HISTO_DTYPE_COUNT; dtype++) {
        histo_axis axis = histo_axis_regular(50, 1, 120);
        for (int d = 0; d < DISTRIBUTIONS; d++) {
            for (int k = 0; k < LENGTH(sizes); k++) {
                int64_t n = sizes[k];
                void *samples = make_samples(&r, (histo_dtype)dtype, (distribution)d, &axis, n);
                histo_view view = histo_view_1d(samples, (histo_dtype)dtype, n);
                histo_stats s = {0}, expected = plain_stats(samples, (histo_dtype)dtype, n, NULL);
                assert_int_equal(histo_stats_add(&s, &view, NULL), HISTO_OK);
                assert_same_stats(&s, &expected);
                free(samples);
            }
        }
    }
}

/* The same samples split and merged, reversed, with gaps, unaligned and transposed. */
static void stats_do_not_depend_on_layout(void **state)
{
    (void)state;
    enum { ROWS = 50, COLUMNS = 70, N = ROWS * COLUMNS };
    rng r = {2};
    for (int dtype = 0; dtype < HISTO_DTYPE_COUNT; dtype++) {
        int64_t size = (int64_t)size_of((histo_dtype)dtype);
        histo_axis axis = histo_axis_regular(50, 1, 120);
        char *samples = make_samples(&r, (histo_dtype)dtype, GAUSSIAN, &axis, N);
        histo_stats expected = plain_stats(samples, (histo_dtype)dtype, N, NULL);

        histo_stats merged = {0};
        for (int64_t begin = 0, n; begin < N; begin += n) {
            n = rng_below(&r, 900) + 1;
            if (n > N - begin) n = N - begin;
            histo_stats piece = {0};
            histo_view view = histo_view_1d(samples + begin * size, (histo_dtype)dtype, n);
            assert_int_equal(histo_stats_add(&piece, &view, NULL), HISTO_OK);
            histo_stats_merge(&merged, &piece);
        }
        assert_same_stats(&merged, &expected);

        histo_stats backwards = {0};
        histo_view view = histo_view_1d(samples + (N - 1) * size, (histo_dtype)dtype, N);
        view.strides[0] = -size;
        assert_int_equal(histo_stats_add(&backwards, &view, NULL), HISTO_OK);
        assert_same_stats(&backwards, &expected);

        histo_stats transposed = {0};
        view = histo_view_nd(samples, (histo_dtype)dtype, 2, (int64_t[]){COLUMNS, ROWS});
        view.batch_ndim = 1;
        view.strides[0] = size;
        view.strides[1] = COLUMNS * size;
        assert_int_equal(histo_stats_add(&transposed, &view, NULL), HISTO_OK);
        assert_same_stats(&transposed, &expected);

        histo_stats gaps = {0};
        char *spread_out = malloc((size_t)(N * (size + 3)));
        for (int64_t i = 0; i < N; i++)
            memcpy(spread_out + i * (size + 3) + 1, samples + i * size, (size_t)size);
        view = histo_view_1d(spread_out + 1, (histo_dtype)dtype, N);
        view.strides[0] = size + 3;
        assert_int_equal(histo_stats_add(&gaps, &view, NULL), HISTO_OK);
        assert_same_stats(&gaps, &expected);
        free(spread_out);

        histo_stats shifted = {0};
        char *unaligned = malloc((size_t)(N * size + 1));
        memcpy(unaligned + 1, samples, (size_t)(N * size));
        view = histo_view_1d(unaligned + 1, (histo_dtype)dtype, N);
        assert_int_equal(histo_stats_add(&shifted, &view, NULL), HISTO_OK);
        assert_same_stats(&shifted, &expected);
        free(unaligned);

        histo_stats pitched = {0}; /* contiguous rows, not all aligned */
        char *rows = malloc((size_t)(N * size + 1));
        memcpy(rows, samples, (size_t)(N / 2 * size));
        memcpy(rows + N / 2 * size + 1, samples + N / 2 * size, (size_t)(N / 2 * size));
        view = histo_view_nd(rows, (histo_dtype)dtype, 2, (int64_t[]){2, N / 2});
        view.strides[0] = N / 2 * size + 1;
        assert_int_equal(histo_stats_add(&pitched, &view, NULL), HISTO_OK);
        assert_same_stats(&pitched, &expected);
        free(rows);
        free(samples);
    }
}

static void stats_leave_masked_samples_out(void **state)
{
    (void)state;
    enum { N = 5000 };
    rng r = {3};
    for (int dtype = 0; dtype < HISTO_DTYPE_COUNT; dtype++) {
        histo_axis axis = histo_axis_regular(50, 1, 120);
        char *samples = make_samples(&r, (histo_dtype)dtype, SPECIAL, &axis, N);
        uint8_t kept[N];
        float mask[N];
        int64_t where[N];
        for (int64_t i = 0; i < N; i++) {
            mask[i] = rng_below(&r, 3) ? (i % 2 ? NAN : -0.5f) : -0.0f; /* NaN is not zero */
            where[i] = rng_below(&r, 100);
            kept[i] = mask[i] != 0 && where[i] >= 10 && where[i] <= 60;
        }
        histo_view view = histo_view_1d(samples, (histo_dtype)dtype, N);
        histo_view mask_view = histo_view_1d(mask, HISTO_F32, N), where_view = histo_view_1d(where, HISTO_I64, N);
        histo_fill_options fill = {.mask = &mask_view, .where = &where_view, .where_lo = 9.5, .where_hi = 60};
        histo_stats s = {0}, expected = plain_stats(samples, (histo_dtype)dtype, N, kept);
        assert_int_equal(histo_stats_add(&s, &view, &fill), HISTO_OK);
        assert_same_stats(&s, &expected);

        const double nothing_passes[] = {NAN, 61};
        for (int i = 0; i < LENGTH(nothing_passes); i++) {
            fill.where_lo = nothing_passes[i];
            memset(&s, 0, sizeof s);
            assert_int_equal(histo_stats_add(&s, &view, &fill), HISTO_INVALID);
            assert_non_null(strstr(histo_last_error(), "where_lo must not be above where_hi"));
            assert_true(s.samples == 0 && s.masked == 0);
            histo_axis unused;
            const histo_survey_options options = {.bins = 5};
            assert_int_equal(histo_axis_from_data(&view, &fill, &options, &unused), HISTO_INVALID);
        }
        free(samples);
    }
}

/* The kernels of all instruction sets that this CPU has, to the bit. */
static void levels_have_the_same_sums(void **state)
{
    (void)state;
    enum { MOST = 300 };
    rng r = {14};
    for (int n = 1; n < MOST; n++)
        for (int dtype = 0; dtype < HISTO_DTYPE_COUNT; dtype++) {
            histo_axis axis = histo_axis_regular(50, 1, 120);
            void *samples = make_samples(&r, (histo_dtype)dtype, GAUSSIAN, &axis, n);
            double x[2][MOST] = {0}, numbers[2][7] = {0};
            for (histo_isa isa = HISTO_ISA_BASELINE; isa <= histo_isa_usable(); isa++) {
                const histo_cpu_kernels *kernels = histo_cpu_kernels_of(isa);
                const int k = isa > HISTO_ISA_BASELINE;
                kernels->widen((histo_dtype)dtype, samples, n, x[k]);
                numbers[k][0] = kernels->sum(x[k], n, &numbers[k][1], &numbers[k][2]);
                kernels->sum_powers(x[k], n, numbers[k][0] / n, &numbers[k][3]);
                if (k) assert_memory_equal(x[0], x[1], sizeof x[0]);
                if (k) assert_memory_equal(numbers[0], numbers[1], sizeof numbers[0]);
            }
            free(samples);
        }
}

static void stats_survive_extremes(void **state)
{
    (void)state;
    const uint64_t big[] = {UINT64_MAX, UINT64_MAX - 1};
    histo_view view = histo_view_1d(big, HISTO_U64, 2);
    histo_stats s = {0};
    assert_int_equal(histo_stats_add(&s, &view, NULL), HISTO_OK);
    assert_true(s.min == 0x1p64 - 2048 && s.max == 0x1p64);

    const int64_t odd[] = {INT64_C(9007199254740993), INT64_C(-9007199254740993)}; /* 2^53 + 1 */
    view = histo_view_1d(odd, HISTO_I64, 2);
    memset(&s, 0, sizeof s);
    assert_int_equal(histo_stats_add(&s, &view, NULL), HISTO_OK);
    assert_true(s.min == -9007199254740994.0 && s.max == 9007199254740994.0);

    const double huge[] = {DBL_MAX, DBL_MAX, -DBL_MAX, INFINITY, NAN};
    view = histo_view_1d(huge, HISTO_F64, 5);
    memset(&s, 0, sizeof s);
    assert_int_equal(histo_stats_add(&s, &view, NULL), HISTO_OK);
    assert_true(s.min == -DBL_MAX && s.max == DBL_MAX);
    assert_true(fabs(s.mean - DBL_MAX / 3) < 1e-12 * DBL_MAX);
    assert_true(s.samples == 5 && s.nan == 1 && s.infinite == 1);

    histo_stats low = {0}, high = {0};
    view = histo_view_1d(huge + 2, HISTO_F64, 1);
    histo_stats_add(&low, &view, NULL);
    view = histo_view_1d(huge, HISTO_F64, 2);
    histo_stats_add(&high, &view, NULL);
    histo_stats_merge(&low, &high);
    assert_true(fabs(low.mean - DBL_MAX / 3) < 1e-12 * DBL_MAX);

    double far[3000]; /* deviations far below the mean: of (0, 1, 2) and (0, 0, 1) units */
    for (int i = 0; i < 3000; i++)
        far[i] = 1e9 + (i % 3) * 0x1p-20;
    view = histo_view_1d(far, HISTO_F64, 3000);
    memset(&s, 0, sizeof s);
    histo_stats_add(&s, &view, NULL);
    assert_true(fabs(s.m2 * 0x1p40 / 3000 - 2.0 / 3) < 1e-6); /* the means of the two pieces are rounded */
    for (int i = 0; i < 3000; i++)
        far[i] = 1e9 + (i % 3 == 0) * 0x1p-20;
    histo_view some = histo_view_1d(far, HISTO_F64, 1500);
    memset(&s, 0, sizeof s);
    histo_stats_add(&s, &some, NULL);
    assert_true(fabs(s.m2 * 0x1p40 / 1500 - 2.0 / 9) < 1e-9);
    assert_true(fabs(s.m3 * 0x1p60 / 1500 - 2.0 / 27) < 1e-9);

    for (int i = 0; i < 3000; i++)
        far[i] = 0.1;
    memset(&s, 0, sizeof s);
    histo_stats_add(&s, &view, NULL);
    assert_true(s.mean == 0.1 && s.m2 == 0 && s.m3 == 0);
}

/* ---- Exact sums ---- */

__extension__ typedef __int128 wide_int;

/* Are the words value * 2^shift? */
static void assert_words(const uint64_t *words, int count, wide_int value, int shift)
{
    for (int bit = 0; bit < 64 * count; bit++) {
        const int at = bit - shift;
        const bool expected = at < 0 ? false : at < 127 ? (value >> at & 1) != 0 : value < 0;
        if ((words[bit / 64] >> bit % 64 & 1) != expected) fail_msg("bit %d of a sum is wrong", bit);
    }
}

static void set_sample(void *samples, histo_dtype dtype, int64_t i, int64_t k)
{
    switch (dtype) {
#define CASE(constant, type, value)                                                                                    \
    case constant:                                                                                                     \
        ((type *)samples)[i] = (type)(value);                                                                          \
        break;
        CASE(HISTO_U16, uint16_t, k & 0xffff)
        CASE(HISTO_I16, int16_t, k)
        CASE(HISTO_U32, uint32_t, k)
        CASE(HISTO_I32, int32_t, k)
        CASE(HISTO_U64, uint64_t, k)
        CASE(HISTO_I64, int64_t, k)
        CASE(HISTO_F32, float, (double)k * 0x1p-20)
        CASE(HISTO_F64, double, (double)k * 0x1p-20)
#undef CASE
    default:
        fail();
    }
}

/* The largest magnitude of samples, whose squares still add up in 128 bits. */
static uint64_t bits_of_samples(histo_dtype dtype)
{
    return dtype == HISTO_U16 || dtype == HISTO_I16 ? 15 : dtype == HISTO_F32 ? 24 : dtype == HISTO_F64 ? 52 : 31;
}

static void sums_are_exact(void **state)
{
    (void)state;
    enum { MOST = 10000 };
    static const histo_dtype dtypes[] = {HISTO_U16, HISTO_I16, HISTO_U32, HISTO_I32,
                                         HISTO_U64, HISTO_I64, HISTO_F32, HISTO_F64};
    static const int64_t sizes[] = {1, 7, 2048, 2049, MOST};
    rng r = {21};
    void *samples = malloc(MOST * sizeof(double));
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            const histo_dtype dtype = dtypes[d];
            const bool is_signed = dtype != HISTO_U16 && dtype != HISTO_U32 && dtype != HISTO_U64;
            const int64_t n = sizes[k];
            wide_int sum = 0, squares = 0;
            for (int64_t i = 0; i < n; i++) {
                int64_t x = (int64_t)(rng_next(&r) & ((UINT64_C(1) << bits_of_samples(dtype)) - 1));
                if (i % 3 == 0) x >>= rng_next(&r) % 20; /* of several magnitudes */
                if (is_signed && rng_next(&r) % 2) x = -x;
                set_sample(samples, dtype, i, x);
                sum += x;
                squares += (wide_int)x * x;
            }
            const histo_view view = histo_view_1d(samples, dtype, n);
            const int unit = dtype == HISTO_F32 || dtype == HISTO_F64 ? -20 : 0;
            histo_power_sums s = {0};
            histo_stats stats, plain = {0};
            assert_int_equal(histo_power_sums_add(&s, &view, NULL), HISTO_OK);
            assert_words(s.sum, HISTO_SUM_WORDS, sum, 1074 + unit);
            assert_words(s.squares, HISTO_SQUARES_WORDS, squares, 2148 + 2 * unit);
            histo_power_sums_read(&s, &stats);
            histo_stats_add(&plain, &view, NULL);
            assert_true(stats.samples == plain.samples && stats.min == plain.min && stats.max == plain.max);
            assert_near(stats.mean, plain.mean, fmax(fabs(plain.min), fabs(plain.max)));
            assert_near(stats.m2, plain.m2, plain.m2);
            assert_true(isnan(stats.m3) && isnan(stats.m4));
        }
    free(samples);
}

/* Numbers of all magnitudes, and what is rounded once. */
static void sums_span_all_doubles(void **state)
{
    (void)state;
    const double far[] = {1e300, 0x1p-1074, -1e300, 1, DBL_MAX, NAN, 2, -DBL_MAX, INFINITY, -0x1p-1074, -0.0};
    histo_view view = histo_view_1d(far, HISTO_F64, LENGTH(far));
    histo_power_sums s = {0};
    histo_stats stats;
    assert_int_equal(histo_power_sums_add(&s, &view, NULL), HISTO_OK);
    assert_words(s.sum, HISTO_SUM_WORDS, 3, 1074);
    histo_power_sums_read(&s, &stats);
    assert_true(stats.samples == 11 && stats.nan == 1 && stats.infinite == 1 && stats.mean == 3.0 / 9);
    assert_true(stats.min == -DBL_MAX && stats.max == DBL_MAX && isinf(stats.m2));

    const double tiny[] = {0x1p-1074, 0x1p-1073};
    view = histo_view_1d(tiny, HISTO_F64, 2);
    s = (histo_power_sums){0};
    histo_power_sums_add(&s, &view, NULL);
    histo_power_sums_read(&s, &stats);
    assert_true(stats.mean == 0x1p-1073); /* 1.5 units, to even */

    double near[3000]; /* deviations far below the mean, of 0.1 units */
    for (int i = 0; i < 3000; i++)
        near[i] = 1e9 + (i % 3) * 0x1p-20;
    view = histo_view_1d(near, HISTO_F64, 3000);
    s = (histo_power_sums){0};
    histo_power_sums_add(&s, &view, NULL);
    histo_power_sums_read(&s, &stats);
    assert_true(stats.m2 == 2000 * 0x1p-40 && stats.mean == 1e9 + 0x1p-20);

    const uint64_t big[] = {UINT64_MAX, UINT64_MAX - 2};
    view = histo_view_1d(big, HISTO_U64, 2);
    s = (histo_power_sums){0};
    histo_power_sums_add(&s, &view, NULL);
    histo_power_sums_read(&s, &stats);
    assert_true(stats.m2 == 2 && stats.max == 0x1p64);
}

/* The bits are those of all pieces, orders, numbers of threads and merges; a mask leaves samples out. */
static void sums_do_not_depend_on_order(void **state)
{
    (void)state;
    enum { N = 200001 };
    rng r = {22};
    for (int dtype = 0; dtype < HISTO_DTYPE_COUNT; dtype++)
        for (int wide = 0; wide < 2; wide++) {
            const bool floats = !(dtype <= HISTO_I64);
            const histo_axis axis = histo_axis_regular(50, 1, 120);
            const size_t size = size_of((histo_dtype)dtype);
            char *samples = make_samples(&r, (histo_dtype)dtype, GAUSSIAN, &axis, N), *reversed = malloc(N * size);
            uint8_t *mask = malloc(N), *mask_reversed = malloc(N);
            if (wide && floats) /* any bits: all magnitudes, NaN and infinities */
                for (size_t i = 0; i < N * size; i++)
                    samples[i] = (char)rng_next(&r);
            for (int64_t i = 0; i < N; i++) {
                mask_reversed[N - 1 - i] = mask[i] = rng_next(&r) % 5 > 0;
                memcpy(reversed + (size_t)(N - 1 - i) * size, samples + (size_t)i * size, size);
            }
            const histo_view view = histo_view_1d(samples, (histo_dtype)dtype, N),
                             back = histo_view_1d(reversed, (histo_dtype)dtype, N),
                             kept = histo_view_1d(mask, HISTO_U8, N),
                             kept_back = histo_view_1d(mask_reversed, HISTO_U8, N);
            histo_power_sums one = {0}, other = {0}, merged = {0};
            assert_int_equal(histo_power_sums_add(&one, &view, &(histo_fill_options){.mask = &kept, .threads = 1}),
                             HISTO_OK);
            assert_int_equal(histo_power_sums_add(&other, &back, &(histo_fill_options){.mask = &kept_back}), HISTO_OK);
            assert_memory_equal(&one, &other, sizeof one);
            for (int64_t end = N, begin; end > 0; end = begin) {
                begin = end - 1 - (int64_t)(rng_next(&r) % 30000);
                if (begin < 0) begin = 0;
                const histo_view piece = histo_view_1d(samples + (size_t)begin * size, (histo_dtype)dtype, end - begin),
                                 kept_piece = histo_view_1d(mask + begin, HISTO_U8, end - begin);
                histo_power_sums part = {0};
                histo_power_sums_add(&part, &piece, &(histo_fill_options){.mask = &kept_piece});
                histo_power_sums_merge(&merged, &part);
            }
            assert_memory_equal(&one, &merged, sizeof one);
            assert_true(one.samples + one.masked == N);
            free(samples);
            free(reversed);
            free(mask);
            free(mask_reversed);
        }
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
    assert_int_equal(axis.bins, -7);
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
    for (; histo_survey_next_pass(survey); passes++)
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
    assert_int_equal(rule, HISTO_RULE_FD);
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
    while (histo_survey_next_pass(survey)) {
        passes++;
        for (int64_t begin = 0, length; begin < n; begin += length) {
            length = rng_below(r, n / 3 + 1) + 1;
            if (length > n - begin) length = n - begin;
            histo_view piece = histo_view_1d(samples + begin * (int64_t)size_of(dtype), dtype, length);
            assert_int_equal(histo_survey_add(survey, &piece, NULL), HISTO_OK);
        }
    }
    assert_int_equal(histo_survey_axis(survey, axis), HISTO_OK);
    assert_false(histo_survey_next_pass(survey));
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
    for (; histo_quantiles_next_pass(quantiles); passes++)
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
    enum { FIRST = 1 << 17, BELOW = 400000, INSIDE = 3000000, N = FIRST + 2 * BELOW + INSIDE };
    rng r = {12};
    double *x = malloc(N * sizeof *x), *sorted = malloc(N * sizeof *x), values[2];
    for (int64_t i = 0; i < N; i++)
        x[i] = i < FIRST               ? rng_uniform(&r)
               : i < FIRST + BELOW     ? -rng_uniform(&r)
               : i < FIRST + 2 * BELOW ? 1 + rng_uniform(&r)
                                       : 0.4999 + rng_uniform(&r) * 0.0002;
    memcpy(sorted, x, N * sizeof *x);
    qsort(sorted, N, sizeof *sorted, by_value);
    assert_int_equal(find_quantiles(x, HISTO_F64, N, FIRST, 1, (const double[]){0.5}, values), 2);
    assert_true(values[0] == sorted_quantile(sorted, N, 0.5));
    free(sorted);
    free(x);
}

/* Many quantiles are found by their bits; here down to the last ones. */
static void many_quantiles_take_all_digits(void **state)
{
    (void)state;
    enum { N = 2300000, MANY = 10 };
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
    assert_true(histo_survey_next_pass(survey));
    assert_int_equal(histo_survey_axis(survey, &axis), HISTO_INVALID);
    assert_int_equal(histo_survey_add(survey, &other, NULL), HISTO_INVALID);
    histo_view short_mask = histo_view_1d(x, HISTO_F64, 3);
    assert_int_equal(histo_survey_add(survey, &view, &(histo_fill_options){.mask = &short_mask}), HISTO_INVALID);
    assert_int_equal(histo_survey_add(survey, NULL, NULL), HISTO_INVALID);
    assert_int_equal(histo_survey_add(NULL, &view, NULL), HISTO_INVALID);
    assert_int_equal(histo_survey_add(survey, &view, NULL), HISTO_OK); /* failed calls changed nothing */
    assert_false(histo_survey_next_pass(survey));
    assert_int_equal(histo_survey_add(survey, &view, NULL), HISTO_INVALID);
    assert_int_equal(histo_survey_axis(survey, NULL), HISTO_INVALID);
    assert_int_equal(histo_survey_axis(survey, &axis), HISTO_OK);
    assert_axis(axis, HISTO_REGULAR, 2, 1, 4);
    histo_survey_destroy(survey);
    histo_survey_destroy(NULL);
    assert_false(histo_survey_next_pass(NULL));
    assert_int_equal(histo_stats_add(NULL, &view, NULL), HISTO_INVALID);
}

static void assert_change_is_noticed(histo_survey *survey, uint64_t *x, int64_t n)
{
    for (int64_t pass = 0; histo_survey_next_pass(survey); pass++) {
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
        cmocka_unit_test(stats_equal_long_double),
        cmocka_unit_test(stats_do_not_depend_on_layout),
        cmocka_unit_test(stats_leave_masked_samples_out),
        cmocka_unit_test(levels_have_the_same_sums),
        cmocka_unit_test(stats_survive_extremes),
        cmocka_unit_test(sums_are_exact),
        cmocka_unit_test(sums_span_all_doubles),
        cmocka_unit_test(sums_do_not_depend_on_order),
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
        cmocka_unit_test(common_values_take_one_pass),
        cmocka_unit_test(crowded_brackets_are_narrowed),
        cmocka_unit_test(many_quantiles_take_all_digits),
        cmocka_unit_test(survey_is_used_in_order),
        cmocka_unit_test(changed_samples_are_noticed),
        cmocka_unit_test(wrong_options_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
