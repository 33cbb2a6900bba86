/* Extremes of samples of any dtype, layout, mask and batch against one loop that compares them as long doubles, and the
 * kernels of all instruction sets that this CPU has. HISTO_CPU selects the set of the library's calls. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/kernels/kernels.h"
#include "support/check.h"
#include "support/data.h"

#define LENGTH(array) ((int64_t)(sizeof(array) / sizeof *(array)))

/* ---- The model ---- */

typedef struct model {
    uint64_t samples, nan, below, above, masked, finite;
    long double min, max;
} model;

static void add(model *m, long double x, bool kept)
{
    m->masked += !kept;
    m->samples += kept;
    if (!kept) return;
    m->nan += isnan(x) != 0;
    m->below += x == -INFINITY;
    m->above += x == INFINITY;
    if (!isfinite(x)) return;
    m->min = m->finite == 0 || x < m->min ? x : m->min;
    m->max = m->finite == 0 || x > m->max ? x : m->max;
    m->finite++;
}

static long double value_of(histo_number number, histo_dtype dtype)
{
    switch (dtype) {
    case HISTO_U8:
    case HISTO_U16:
    case HISTO_U32:
    case HISTO_U64:
        return (long double)number.u64;
    case HISTO_I8:
    case HISTO_I16:
    case HISTO_I32:
    case HISTO_I64:
        return (long double)number.i64;
    default:
        return (long double)number.f64;
    }
}

static void check(const histo_extremes *e, const model *m, histo_dtype dtype)
{
    assert_int_equal(e->samples, m->samples);
    assert_int_equal(e->nan, m->nan);
    assert_int_equal(e->below, m->below);
    assert_int_equal(e->above, m->above);
    assert_int_equal(e->masked, m->masked);
    assert_true(value_of(e->min, dtype) == m->min);
    assert_true(value_of(e->max, dtype) == m->max);
    if (m->min == 0) assert_int_equal(e->min.u64, 0); /* and no sign */
    if (m->max == 0) assert_int_equal(e->max.u64, 0);
}

/* ---- Samples ---- */

/* Any bits; or numbers near each other, where a rounded comparison would show; for floats perhaps with a few or only
 * NaN, infinities and zeros. */
static void make(rng *r, histo_dtype dtype, void *memory, size_t bytes)
{
    const size_t size = histo_dtype_size(dtype);
    const int kind = (int)rng_below(r, 6);
    const uint64_t base = rng_next(r);
    char *at = memory;
    for (size_t i = 0; i + size <= bytes; i += size) {
        const uint64_t any = rng_next(r), near = base + any % 200;
        memcpy(at + i, kind % 2 ? &near : &any, size);
        if (dtype < HISTO_F16 || kind < 2 || (kind < 5 && rng_below(r, 1000) > 0)) continue;
        const uint64_t f64[] = {0x7ff0000000000000,
                                0xfff0000000000000,
                                0x7ff0000000000001,
                                0xffffffffffffffff,
                                0,
                                0x8000000000000000,
                                0x7fefffffffffffff,
                                1};
        const uint32_t f32[] = {0x7f800000, 0xff800000, 0x7f800001, 0xffffffff, 0, 0x80000000, 0x7f7fffff, 1};
        const uint16_t f16[] = {0x7c00, 0xfc00, 0x7c01, 0xffff, 0, 0x8000, 0x7bff, 1};
        const uint16_t bf16[] = {0x7f80, 0xff80, 0x7f81, 0xffff, 0, 0x8000, 0x7f7f, 1};
        const int64_t k = rng_below(r, 8);
        const void *const odd = dtype == HISTO_F64   ? (const void *)&f64[k]
                                : dtype == HISTO_F32 ? (const void *)&f32[k]
                                : dtype == HISTO_F16 ? (const void *)&f16[k]
                                                     : (const void *)&bf16[k];
        memcpy(at + i, odd, size);
    }
}

typedef struct operand {
    histo_view view;
    char *memory;
} operand;

/* Three dimensions, of which the first `batch_ndim` are the batch's: contiguous, with gaps, backwards, repeated,
 * transposed or unaligned. */
static operand lay_out(rng *r, histo_dtype dtype, const int64_t shape[3], int batch_ndim)
{
    const int64_t size = (int64_t)histo_dtype_size(dtype), kind = rng_below(r, 7);
    const int order[2][3] = {{0, 1, 2}, {2, 0, 1}};
    operand o = {.view = {.dtype = dtype, .ndim = 3, .batch_ndim = batch_ndim}};
    int64_t bytes = kind == 1 ? size * (2 + rng_below(r, 40)) : size;
    for (int d = 2; d >= 0; d--) {
        const int at = order[kind == 5][d];
        o.view.shape[at] = shape[at];
        o.view.strides[at] = kind == 3 && d == 1 ? 0 : bytes;
        if (o.view.strides[at]) bytes *= shape[at] ? shape[at] : 1;
    }
    o.memory = malloc((size_t)bytes + 16);
    make(r, dtype, o.memory, (size_t)bytes + 16);
    char *data = o.memory + (kind == 4 ? 1 : 0);
    for (int d = 0; d < 3 && kind == 2; d++) {
        if (shape[d] == 0) continue;
        data += o.view.strides[d] * (shape[d] - 1);
        o.view.strides[d] = -o.view.strides[d];
    }
    o.view.data = data;
    return o;
}

static void check_views(const histo_view *samples, const histo_fill_options *fill, int64_t entries)
{
    const int64_t n = histo_view_size(samples);
    model *models = calloc((size_t)entries + 1, sizeof *models);
    histo_extremes *found = malloc(((size_t)entries + 1) * sizeof *found);
    for (int64_t i = 0, entry = 0; i < n; i++) {
        if (!fill->offsets) entry = i / (n / entries);
        while (fill->offsets && fill->offsets[entry + 1] <= i)
            entry++;
        bool kept = true;
        if (fill->mask) kept = sample_value(sample_at(fill->mask, i), fill->mask->dtype) != 0;
        if (fill->where) {
            const long double at = sample_value(sample_at(fill->where, i), fill->where->dtype);
            kept = kept && at >= fill->where_lo && at <= fill->where_hi;
        }
        add(&models[entry], sample_value(sample_at(samples, i), samples->dtype), kept);
    }
    OK(histo_find_extremes(samples, fill, found, entries));
    for (int64_t e = 0; e < entries; e++)
        check(&found[e], &models[e], samples->dtype);
    free(found);
    free(models);
}

/* ---- Tests ---- */

static void random_views_equal_a_plain_loop(void **state)
{
    (void)state;
    rng r = {1};
    for (int round = 0; round < 3000; round++) {
        const histo_dtype dtype = (histo_dtype)rng_below(&r, HISTO_DTYPE_COUNT);
        const int64_t shape[] = {rng_below(&r, 5), 1 + rng_below(&r, 9),
                                 rng_below(&r, 10) ? 1 + rng_below(&r, 300) : 1 + rng_below(&r, 3000)};
        const int batch_ndim = shape[0] ? (int)rng_below(&r, 3) : 0;
        operand samples = lay_out(&r, dtype, shape, batch_ndim);
        operand mask = lay_out(&r, (histo_dtype)rng_below(&r, HISTO_DTYPE_COUNT), shape, batch_ndim);
        operand where = lay_out(&r, (histo_dtype)rng_below(&r, HISTO_DTYPE_COUNT), shape, batch_ndim);
        histo_fill_options fill = {0};
        if (rng_below(&r, 3) == 0) fill = (histo_fill_options){.where = &where.view, .where_lo = -100, .where_hi = 50};
        if (rng_below(&r, 3) == 0) fill.mask = &mask.view;
        check_views(&samples.view, &fill, (batch_ndim > 0 ? shape[0] : 1) * (batch_ndim > 1 ? shape[1] : 1));
        free(samples.memory);
        free(mask.memory);
        free(where.memory);
    }
}

/* Long enough for several threads, on one entry and on several. */
static void threads_find_the_same(void **state)
{
    (void)state;
    rng r = {2};
    for (int dtype = 0; dtype < HISTO_DTYPE_COUNT; dtype++) {
        const int64_t shape[] = {3, 100, 3001};
        for (int batch_ndim = 0; batch_ndim < 3; batch_ndim++) {
            operand samples = lay_out(&r, (histo_dtype)dtype, shape, batch_ndim);
            check_views(&samples.view, &(histo_fill_options){0}, batch_ndim == 0 ? 1 : batch_ndim == 1 ? 3 : 300);
            free(samples.memory);
        }
    }
}

/* Entries side by side: few and many columns, rows with gaps, several tables, NaN in some columns. */
static void columns_are_found_together(void **state)
{
    (void)state;
    enum { BYTES = 1 << 21 };
    rng r = {5};
    char *memory = malloc(BYTES);
    for (int round = 0; round < 300; round++) {
        const histo_dtype dtype = (histo_dtype)(round % HISTO_DTYPE_COUNT);
        const int64_t size = (int64_t)histo_dtype_size(dtype), tables = 1 + (round % 3 == 0 ? rng_below(&r, 4) : 0);
        const int64_t columns = 1 + rng_below(&r, round % 2 ? 9 : 3000), gap = tables == 1 ? rng_below(&r, 3) : 0;
        const int64_t pitch = (columns + gap) * size, most = (BYTES - 16) / pitch / tables;
        const int64_t rows = 1 + rng_below(&r, most < 70000 ? most : 70000), shift = rng_below(&r, 10) ? 0 : 1;
        make(&r, dtype, memory + shift, (size_t)(tables * rows * pitch));
        const histo_view view = {memory + shift, dtype, 3, 2, {tables, columns, rows}, {rows * pitch, size, pitch}};
        check_views(&view, &(histo_fill_options){0}, tables * columns);
    }
    free(memory);
}

static void segments_have_their_own(void **state)
{
    (void)state;
    rng r = {3};
    for (int dtype = 0; dtype < HISTO_DTYPE_COUNT; dtype++) {
        const int64_t shape[] = {1, 1, 20000}, offsets[] = {0, 0, 1, 5000, 5000, 19999, 20000};
        operand samples = lay_out(&r, (histo_dtype)dtype, shape, 0);
        histo_view row = samples.view;
        row.ndim = 1;
        row.shape[0] = shape[2];
        row.strides[0] = samples.view.strides[2];
        check_views(&row, &(histo_fill_options){.offsets = offsets}, LENGTH(offsets) - 1);
        free(samples.memory);
    }
}

/* The extremes of 64-bit integers that doubles round, in every lane. */
static void integers_are_not_rounded(void **state)
{
    (void)state;
    enum { N = 100 };
    for (int at = 0; at < N; at++) {
        int64_t x[N];
        uint64_t u[N];
        histo_extremes e;
        for (int i = 0; i < N; i++) {
            x[i] = INT64_C(1) << 60;
            u[i] = UINT64_MAX - 5;
        }
        x[at] = (INT64_C(1) << 60) + 1;
        x[(at + 1) % N] = (INT64_C(1) << 60) - 1;
        u[at] = UINT64_MAX - 4;
        u[(at + 1) % N] = UINT64_MAX - 6;
        const histo_view views[] = {histo_view_1d(x, HISTO_I64, N), histo_view_1d(u, HISTO_U64, N)};
        OK(histo_find_extremes(&views[0], NULL, &e, 1));
        assert_int_equal(e.min.i64, (INT64_C(1) << 60) - 1);
        assert_int_equal(e.max.i64, (INT64_C(1) << 60) + 1);
        OK(histo_find_extremes(&views[1], NULL, &e, 1));
        assert_true(e.min.u64 == UINT64_MAX - 6 && e.max.u64 == UINT64_MAX - 4);
    }
}

static void all_levels_agree(void **state)
{
    (void)state;
    enum { BYTES = 100000 };
    rng r = {4};
    char *samples = aligned_alloc(64, BYTES + 32);
    for (int round = 0; round < 200; round++)
        for (int dtype = 0; dtype < HISTO_DTYPE_COUNT; dtype++) {
            const size_t size = histo_dtype_size((histo_dtype)dtype);
            const int64_t n = 1 + rng_below(&r, round % 2 ? BYTES / (int64_t)size : 70);
            model m = {0};
            make(&r, (histo_dtype)dtype, samples, (size_t)n * size);
            for (int64_t i = 0; i < n; i++)
                add(&m, sample_value(samples + (size_t)i * size, (histo_dtype)dtype), true);
            for (histo_isa isa = HISTO_ISA_BASELINE; isa <= histo_isa_usable(); isa++) {
                histo_extremes e = {0};
                const int64_t first = rng_below(&r, n + 1);
                histo_cpu_kernels_of(isa)->add_extremes((histo_dtype)dtype, samples, first, &e);
                histo_cpu_kernels_of(isa)->add_extremes((histo_dtype)dtype, samples + (size_t)first * size, n - first,
                                                        &e);
                check(&e, &m, (histo_dtype)dtype);
            }
        }
    free(samples);
}

static void nothing_has_no_extremes(void **state)
{
    (void)state;
    const float odd[] = {NAN, INFINITY, -INFINITY, -NAN};
    const uint8_t none[LENGTH(odd)] = {0};
    const histo_view views[] = {histo_view_1d(NULL, HISTO_F32, 0), histo_view_1d(odd, HISTO_F32, LENGTH(odd)),
                                histo_view_1d(none, HISTO_U8, LENGTH(odd))};
    histo_extremes e;
    OK(histo_find_extremes(&views[0], NULL, &e, 1));
    check(&e, &(model){0}, HISTO_F32);
    OK(histo_find_extremes(&views[1], NULL, &e, 1));
    check(&e, &(model){.samples = 4, .nan = 2, .below = 1, .above = 1}, HISTO_F32);
    OK(histo_find_extremes(&views[1], &(histo_fill_options){.mask = &views[2]}, &e, 1));
    check(&e, &(model){.masked = 4}, HISTO_F32);
    const histo_view no_entries = {.dtype = HISTO_F32, .ndim = 2, .batch_ndim = 1, .shape = {0, 5}};
    OK(histo_find_extremes(&no_entries, NULL, NULL, 0));
}

static void wrong_arguments_are_refused(void **state)
{
    (void)state;
    const float x[6] = {0};
    const histo_view six = histo_view_1d(x, HISTO_F32, 6), five = histo_view_1d(x, HISTO_F32, 5);
    histo_view rows = histo_view_nd(x, HISTO_F32, 2, (const int64_t[]){2, 3});
    rows.batch_ndim = 1;
    histo_extremes e[2];
    REFUSED(HISTO_INVALID, "samples are NULL", histo_find_extremes(NULL, NULL, e, 1));
    REFUSED(HISTO_INVALID, "extremes are NULL", histo_find_extremes(&six, NULL, NULL, 1));
    REFUSED(HISTO_INVALID, "size is -1", histo_find_extremes(&six, NULL, e, -1));
    REFUSED(HISTO_INVALID, "2 batch entries", histo_find_extremes(&rows, NULL, e, 1));
    REFUSED(HISTO_INVALID, "shape", histo_find_extremes(&six, &(histo_fill_options){.mask = &five}, e, 1));
    REFUSED(HISTO_INVALID, "range filter",
            histo_find_extremes(&six, &(histo_fill_options){.where = &six, .where_lo = 1}, e, 1));
    REFUSED(HISTO_INVALID, "offsets",
            histo_find_extremes(&six, &(histo_fill_options){.offsets = (const int64_t[]){0, 7}}, e, 1));
    REFUSED(HISTO_INVALID, "weights", histo_find_extremes(&six, &(histo_fill_options){.weights = &six}, e, 1));
    REFUSED(HISTO_INVALID, "replace", histo_find_extremes(&six, &(histo_fill_options){.replace = true}, e, 1));
    REFUSED(HISTO_INVALID, "dtype",
            histo_find_extremes(&(histo_view){.data = x, .dtype = HISTO_DTYPE_COUNT}, NULL, e, 1));
}

int main(void)
{
    setenv("HISTO_THREADS", "5", 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_views_equal_a_plain_loop), cmocka_unit_test(threads_find_the_same),
        cmocka_unit_test(columns_are_found_together),      cmocka_unit_test(segments_have_their_own),
        cmocka_unit_test(integers_are_not_rounded),        cmocka_unit_test(all_levels_agree),
        cmocka_unit_test(nothing_has_no_extremes),         cmocka_unit_test(wrong_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
