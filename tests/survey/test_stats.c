/* Statistics and exact sums of samples: against long double, 128-bit integers, and each other, whatever the layout, the
 * pieces and the number of threads. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/kernels/kernels.h"
#include "support/check.h"
#include "support/data.h"

#define LENGTH(array) ((int64_t)(sizeof(array) / sizeof *(array)))

/* ---- Moments ---- */

static histo_stats reference_stats(const void *samples, histo_dtype dtype, int64_t n, const uint8_t *mask)
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
            long double x = sample_value((const char *)samples + i * (int64_t)histo_dtype_size(dtype), dtype);
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
                histo_stats s = {0}, expected = reference_stats(samples, (histo_dtype)dtype, n, NULL);
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
        int64_t size = (int64_t)histo_dtype_size((histo_dtype)dtype);
        histo_axis axis = histo_axis_regular(50, 1, 120);
        char *samples = make_samples(&r, (histo_dtype)dtype, GAUSSIAN, &axis, N);
        histo_stats expected = reference_stats(samples, (histo_dtype)dtype, N, NULL);

        histo_stats merged = {0};
        for (int64_t begin = 0, n; begin < N; begin += n) {
            n = rng_below(&r, 900) + 1;
            if (n > N - begin) n = N - begin;
            histo_stats piece = {0};
            histo_view view = histo_view_1d(samples + begin * size, (histo_dtype)dtype, n);
            assert_int_equal(histo_stats_add(&piece, &view, NULL), HISTO_OK);
            OK(histo_stats_merge(&merged, &piece));
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
        histo_stats s = {0}, expected = reference_stats(samples, (histo_dtype)dtype, N, kept);
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
    OK(histo_stats_merge(&low, &high));
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
            histo_stats stats, by_doubles = {0};
            assert_int_equal(histo_power_sums_add(&s, &view, NULL), HISTO_OK);
            assert_words(s.sum, HISTO_SUM_WORDS, sum, 1074 + unit);
            assert_words(s.squares, HISTO_SQUARES_WORDS, squares, 2148 + 2 * unit);
            histo_power_sums_read(&s, &stats);
            histo_stats_add(&by_doubles, &view, NULL);
            assert_true(stats.samples == by_doubles.samples && stats.min == by_doubles.min &&
                        stats.max == by_doubles.max);
            assert_near(stats.mean, by_doubles.mean, fmax(fabs(by_doubles.min), fabs(by_doubles.max)));
            assert_near(stats.m2, by_doubles.m2, by_doubles.m2);
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
            const size_t size = histo_dtype_size((histo_dtype)dtype);
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
                OK(histo_power_sums_merge(&merged, &part));
            }
            assert_memory_equal(&one, &merged, sizeof one);
            assert_true(one.samples + one.masked == N);
            free(samples);
            free(reversed);
            free(mask);
            free(mask_reversed);
        }
}

/* Samples and masked ones are less than 2^64. */
static void samples_do_not_wrap(void **state)
{
    (void)state;
    const float x[] = {1, 2, 3};
    const histo_view view = histo_view_1d(x, HISTO_F32, 3);
    histo_stats stats = {.samples = UINT64_MAX - 5, .masked = 3}, three = {0}, kept = stats;
    histo_power_sums sums = {.samples = UINT64_MAX - 5, .masked = 3}, three_sums = {0}, kept_sums = sums;
    OK(histo_stats_add(&three, &view, NULL));
    OK(histo_power_sums_add(&three_sums, &view, NULL));
    REFUSED(HISTO_INVALID, "2^64", histo_stats_add(&stats, &view, NULL));
    REFUSED(HISTO_INVALID, "2^64", histo_power_sums_add(&sums, &view, NULL));
    REFUSED(HISTO_INVALID, "2^64", histo_stats_merge(&stats, &three));
    REFUSED(HISTO_INVALID, "2^64", histo_power_sums_merge(&sums, &three_sums));
    REFUSED(HISTO_INVALID, "NULL", histo_stats_merge(&stats, NULL));
    REFUSED(HISTO_INVALID, "NULL", histo_power_sums_merge(NULL, &sums));
    assert_memory_equal(&stats, &kept, sizeof stats);
    assert_memory_equal(&sums, &kept_sums, sizeof sums);
    stats.masked = sums.masked = 2;
    OK(histo_stats_add(&stats, &view, NULL));
    OK(histo_power_sums_merge(&sums, &three_sums));
    assert_true(stats.samples == UINT64_MAX - 2 && sums.samples == UINT64_MAX - 2);
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
        cmocka_unit_test(samples_do_not_wrap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
