/* Swapped samples and masks of bits: every strategy, survey and statistic has the results of the same samples after
 * they were converted. And views of arrays with many dimensions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/data.h"

enum { POOL = 20000, SAMPLES, WEIGHTS, WHERE, OPERANDS };

/* The pools of an operand: plain, and swapped. */
typedef struct operand {
    histo_view plain, stored;
    char *pools[2];
} operand;

static void reverse(char *samples, size_t size, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        for (size_t k = 0; k < size / 2; k++) {
            char *at = samples + (size_t)i * size, byte = at[k];
            at[k] = at[size - 1 - k];
            at[size - 1 - k] = byte;
        }
}

/* Random strides of whole samples, at any address: the pool has a byte more. */
static operand make_operand(rng *r, const histo_view *shape, histo_dtype dtype, const histo_axis *axis, bool contiguous)
{
    const int64_t size = (int64_t)histo_dtype_size(dtype), shift = rng_below(r, 2);
    operand o = {.plain = *shape};
    char *samples = make_samples(r, dtype, (distribution)rng_below(r, DISTRIBUTIONS), axis, POOL);
    int64_t lowest = 0, step = 1;
    for (int d = o.plain.ndim - 1; d >= 0; d--) {
        o.plain.strides[d] = (contiguous ? step : (rng_below(r, 9) - 4) * (d == o.plain.ndim - 1 ? 1 : 7)) * size;
        if (o.plain.strides[d] < 0) lowest += (o.plain.shape[d] - 1) * o.plain.strides[d];
        step *= o.plain.shape[d];
    }
    for (int p = 0; p < 2; p++) {
        o.pools[p] = malloc((size_t)(POOL * size) + 1);
        if (p) reverse(samples, (size_t)size, POOL);
        memcpy(o.pools[p] + shift, samples, (size_t)(POOL * size));
    }
    free(samples);
    o.plain.dtype = dtype;
    o.stored = o.plain;
    o.stored.dtype = (histo_dtype)(dtype | HISTO_SWAPPED);
    o.plain.data = o.pools[0] + shift - lowest;
    o.stored.data = o.pools[1] + shift - lowest;
    if (rng_below(r, 4) == 0) o.stored = o.plain; /* not all need be swapped */
    return o;
}

/* A histogram of two axes, filled by a strategy. NULL if the strategy cannot. */
static histo_hist *filled(const char *strategy, const histo_axis *axes, histo_weighting weighting,
                          const histo_view *views, const histo_fill_options *options, int threads)
{
    histo_hist *h;
    int64_t batch = 1;
    for (int d = 0; d < views->batch_ndim; d++)
        batch *= views->shape[d];
    OK(histo_hist_create(
        &h, 1, axes, &(histo_hist_options){.batch = batch, .weighting = weighting, .storage = storage_for(strategy)}));
    histo_plan *plan;
    const histo_plan_options wanted = {.strategy = strategy, .threads = threads};
    const histo_status status = histo_plan_create(&plan, h, views, options, &wanted);
    if (status == HISTO_UNSUPPORTED) {
        histo_hist_destroy(h);
        return NULL;
    }
    OK(status);
    OK(histo_plan_fill(plan, h, views, options));
    histo_plan_destroy(plan);
    return h;
}

static void assert_equal(const histo_hist *a, const histo_hist *b, const char *what)
{
    void *saved[2];
    size_t sizes[2];
    OK(histo_hist_save(a, HISTO_BINARY, NULL, &saved[0], &sizes[0]));
    OK(histo_hist_save(b, HISTO_BINARY, NULL, &saved[1], &sizes[1]));
    if (sizes[0] != sizes[1] || memcmp(saved[0], saved[1], sizes[0]) != 0) fail_msg("%s differs", what);
    histo_free(saved[0]);
    histo_free(saved[1]);
}

static void assert_same_numbers(const histo_view *plain, const histo_fill_options *plainly, const histo_view *stored,
                                const histo_fill_options *as_stored)
{
    const histo_view *views[] = {plain, stored};
    const histo_fill_options *options[] = {plainly, as_stored};
    histo_stats stats[2] = {0};
    histo_extremes *extremes[2];
    int64_t batch = 1;
    for (int d = 0; d < plain->batch_ndim; d++)
        batch *= plain->shape[d];
    histo_axis axes[2] = {0};
    double medians[2];
    histo_status found[2];
    for (int v = 0; v < 2; v++) {
        histo_quantiles *quantiles;
        histo_fill_options filter = *options[v];
        filter.weights = NULL;
        OK(histo_stats_add(&stats[v], views[v], &filter));
        extremes[v] = calloc((size_t)batch, sizeof **extremes);
        OK(histo_find_extremes(views[v], &filter, extremes[v], batch));
        const histo_survey_options wanted = {.rule = HISTO_RULE_FD, .range = HISTO_RANGE_PERCENTILE, .lo = 5, .hi = 95};
        found[v] = histo_axis_from_data(views[v], &filter, &wanted, &axes[v]);
        OK(histo_quantiles_create(&quantiles, views[v]->dtype, HISTO_QUANTILE_LINEAR, 1, (double[]){0.5}));
        while (quantiles_next_pass(quantiles))
            OK(histo_quantiles_add(quantiles, views[v], &filter));
        OK(histo_quantiles_read(quantiles, &medians[v]));
        histo_quantiles_destroy(quantiles);
    }
    assert_memory_equal(extremes[0], extremes[1], (size_t)batch * sizeof **extremes);
    free(extremes[0]);
    free(extremes[1]);
    assert_int_equal(stats[0].samples, stats[1].samples);
    assert_int_equal(stats[0].masked, stats[1].masked);
    assert_int_equal(stats[0].nan, stats[1].nan);
    assert_memory_equal(&stats[0].min, &stats[1].min, 2 * sizeof(double));
    assert_memory_equal(&medians[0], &medians[1], sizeof(double));
    assert_int_equal(found[0], found[1]);
    if (found[0] == HISTO_OK) assert_memory_equal(&axes[0], &axes[1], sizeof *axes);
}

static void any_layout(void **state)
{
    (void)state;
    static const histo_weighting weightings[] = {HISTO_UNWEIGHTED, HISTO_WEIGHT_FAST, HISTO_WEIGHT_REPRODUCIBLE,
                                                 HISTO_WEIGHT_FAST_SUM};
    rng r = {.state = 20261};
    for (int round = 0; round < 150; round++) {
        histo_axis axis;
        const histo_dtype dtype = (histo_dtype)(round % HISTO_DTYPE_COUNT);
        const histo_weighting weighting = weightings[round % 5 % 4];
        const histo_axis of_weights = histo_axis_integer(-100, 200);
        test_axis((int)rng_below(&r, 13), dtype, &axis);
        histo_view shape = {.ndim = (int)rng_below(&r, 4)};
        shape.batch_ndim = (int)rng_below(&r, shape.ndim + 1);
        for (int d = 0; d < shape.ndim; d++)
            shape.shape[d] = 1 + rng_below(&r, d == shape.ndim - 1 ? 600 : 5);
        const bool contiguous = round % 3 == 0;
        if (contiguous && shape.ndim == 1) shape.shape[0] = 1 + rng_below(&r, POOL);
        operand o[OPERANDS];
        o[SAMPLES] = make_operand(&r, &shape, dtype, &axis, contiguous);
        o[WEIGHTS] = make_operand(&r, &shape, (histo_dtype)rng_below(&r, HISTO_F16), &of_weights, contiguous);
        o[WHERE] = make_operand(&r, &shape, (histo_dtype)rng_below(&r, HISTO_DTYPE_COUNT), &axis, contiguous);
        uint8_t bits[POOL / 8 + 8];
        char bytes[8 * sizeof bits];
        for (size_t i = 0; i < sizeof bits; i++)
            bits[i] = (uint8_t)(round % 4 ? rng_next(&r) >> 8 : UINT8_MAX);
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (char)(bits[i / 8] >> i % 8 & 1);
        histo_view bytewise = shape, bitwise;
        bytewise.dtype = HISTO_U8;
        int64_t step = 1, first = rng_below(&r, 60);
        for (int d = shape.ndim - 1; d >= 0; d--) {
            bytewise.strides[d] = contiguous ? step : rng_below(&r, 9) - 4;
            if (bytewise.strides[d] < 0) first -= (shape.shape[d] - 1) * bytewise.strides[d];
            step *= shape.shape[d];
        }
        bitwise = bytewise;
        bitwise.dtype = HISTO_BIT;
        bitwise.data = bits;
        bytewise.data = bytes + first;
        const bool masked = round % 2, is_where = round % 7 == 2, swapped_mask = round % 6 == 1;
        histo_fill_options plainly = {.weights = weighting ? &o[WEIGHTS].plain : NULL,
                                      .mask = !masked        ? NULL
                                              : swapped_mask ? &o[WHERE].plain
                                                             : &bytewise,
                                      .where = is_where ? &o[WHERE].plain : NULL,
                                      .where_lo = is_where ? axis.lo : 0,
                                      .where_hi = is_where ? axis.lo + (axis.hi - axis.lo) / 2 : 0};
        histo_fill_options as_stored = plainly;
        as_stored.weights = weighting ? &o[WEIGHTS].stored : NULL;
        as_stored.mask = !masked ? NULL : swapped_mask ? &o[WHERE].stored : &bitwise;
        as_stored.where = is_where ? &o[WHERE].stored : NULL;
        as_stored.mask_offset = masked && !swapped_mask ? first : 0;
        histo_strategy_info info;
        for (int s = 0; histo_strategy_describe(s, &info) == HISTO_OK; s++) {
            if (strcmp(info.backend, "cpu") != 0) continue;
            char name[64], what[96];
            snprintf(name, sizeof name, "%s/%s", info.backend, info.name);
            snprintf(what, sizeof what, "%s, round %d", name, round);
            const int threads = 1 + (int)rng_below(&r, 3);
            if (weighting && info.storage == HISTO_SPARSE) continue;
            histo_hist *a = filled(name, &axis, weighting, &o[SAMPLES].plain, &plainly, threads);
            histo_hist *b = filled(name, &axis, weighting, &o[SAMPLES].stored, &as_stored, threads);
            assert_int_equal(!a, !b);
            if (a) assert_equal(a, b, what);
            histo_hist_destroy(a);
            histo_hist_destroy(b);
        }
        assert_same_numbers(&o[SAMPLES].plain, &plainly, &o[SAMPLES].stored, &as_stored);
        for (int i = SAMPLES; i < OPERANDS; i++)
            for (int p = 0; p < 2; p++)
                free(o[i].pools[p]);
    }
}

/* A fill without a plan, and plans that are kept, know the order of bytes. */
static void plans(void **state)
{
    (void)state;
    const uint16_t samples[] = {0x0102, 0x0201, 0x0102};
    const histo_axis axis = histo_axis_integer(0, 0x300);
    const histo_view plain = histo_view_1d(samples, HISTO_U16, 3);
    const histo_view swapped = histo_view_1d(samples, (histo_dtype)(HISTO_U16 | HISTO_SWAPPED), 3);
    histo_hist *h;
    histo_plan *plan;
    uint64_t counts[0x300];
    OK(histo_hist_create(&h, 1, &axis, NULL));
    OK(histo_hist_fill(h, &plain, NULL));
    OK(histo_hist_fill(h, &swapped, NULL));
    OK(histo_hist_fill(h, &swapped, NULL));
    OK(histo_hist_read_counts(h, HISTO_BINS, counts, 0x300, NULL));
    assert_int_equal(counts[0x102], 2 + 2 * 1);
    assert_int_equal(counts[0x201], 1 + 2 * 2);
    OK(histo_plan_create(&plan, h, &plain, NULL, NULL));
    REFUSED(HISTO_INVALID, "dtypes", histo_plan_fill(plan, h, &swapped, NULL));
    histo_plan_destroy(plan);
    histo_hist_destroy(h);
    assert_true(histo_sample_value(samples, (histo_dtype)(HISTO_U16 | HISTO_SWAPPED)) == 0x201);
    assert_int_equal(histo_dtype_size((histo_dtype)(HISTO_F64 | HISTO_SWAPPED)), 8);
    assert_string_equal(histo_dtype_name((histo_dtype)(HISTO_BF16 | HISTO_SWAPPED)), "bf16");
    assert_string_equal(histo_dtype_name(HISTO_BIT), "bit");
    assert_int_equal(histo_dtype_size(HISTO_BIT), 0);
}

static void swapped_pairs(void **state)
{
    (void)state;
    enum { IMAGES = 4, PIXELS = 3000 };
    uint16_t stack[IMAGES][PIXELS], turned[IMAGES][PIXELS];
    rng r = {.state = 5};
    for (int i = 0; i < IMAGES * PIXELS; i++)
        stack[i / PIXELS][i % PIXELS] = (uint16_t)rng_below(&r, 4096);
    memcpy(turned, stack, sizeof stack);
    reverse((char *)turned, sizeof **turned, IMAGES * PIXELS);
    const histo_axis axes[] = {histo_axis_regular(400, -4096, 4096), histo_axis_integer(0, 4096)};
    const histo_pairs pairs = {.pairing = HISTO_PAIRS_RING};
    const int64_t shape[] = {IMAGES, PIXELS};
    const histo_view views[] = {histo_view_nd(stack, HISTO_U16, 2, shape),
                                histo_view_nd(turned, (histo_dtype)(HISTO_U16 | HISTO_SWAPPED), 2, shape)};
    static const char *const names[] = {"cpu/sequential", "cpu/privatized", "cpu/direct"};
    for (int s = 0; s < 3; s++) {
        histo_hist *h[2];
        for (int v = 0; v < 2; v++) {
            histo_plan *plan;
            OK(histo_hist_create(&h[v], 2, axes, NULL));
            OK(histo_plan_create_pairs(&plan, h[v], &views[v], &pairs, NULL,
                                       &(histo_plan_options){.strategy = names[s]}));
            OK(histo_plan_fill(plan, h[v], &views[v], NULL));
            histo_plan_destroy(plan);
        }
        assert_equal(h[0], h[1], names[s]);
        histo_hist_destroy(h[0]);
        histo_hist_destroy(h[1]);
    }
}

/* Nothing is read outside the bitmap. */
static void bitmaps_end_where_they_end(void **state)
{
    (void)state;
    const histo_axis axis = histo_axis_integer(0, 2);
    for (int64_t n = 1; n < 300; n++)
        for (int64_t offset = 0; offset < 9; offset++) {
            const size_t size = (size_t)(offset + n + 7) / 8;
            uint8_t *bits = malloc(size), *samples = calloc((size_t)n, 1);
            memset(bits, 0x5a, size);
            int64_t kept = 0;
            for (int64_t i = offset; i < offset + n; i++)
                kept += 0x5a >> i % 8 & 1;
            const histo_view view = histo_view_1d(samples, HISTO_U8, n), mask = histo_view_1d(bits, HISTO_BIT, n);
            histo_hist *h;
            histo_tally tally;
            OK(histo_hist_create(&h, 1, &axis, NULL));
            OK(histo_hist_fill(h, &view, &(histo_fill_options){.mask = &mask, .mask_offset = offset}));
            OK(histo_hist_tally(h, &tally));
            assert_int_equal(tally.bins, kept);
            assert_int_equal(tally.masked, n - kept);
            histo_hist_destroy(h);
            free(bits);
            free(samples);
        }
}

static void refusals(void **state)
{
    (void)state;
    const histo_axis axis = histo_axis_integer(0, 2);
    const uint16_t samples[8] = {0};
    uint16_t results[8];
    const histo_view plain = histo_view_1d(samples, HISTO_U16, 8), bits = histo_view_1d(samples, HISTO_BIT, 8);
    const histo_view swapped = histo_view_1d(samples, (histo_dtype)(HISTO_U16 | HISTO_SWAPPED), 8);
    const histo_view bad = histo_view_1d(samples, (histo_dtype)(HISTO_BIT | HISTO_SWAPPED), 8);
    histo_hist *h;
    OK(histo_hist_create(&h, 1, &axis, &(histo_hist_options){.weighting = HISTO_WEIGHT_FAST}));
    REFUSED(HISTO_INVALID, "masks only", histo_hist_fill(h, &bits, NULL));
    REFUSED(HISTO_INVALID, "masks only", histo_hist_fill(h, &plain, &(histo_fill_options){.weights = &bits}));
    REFUSED(HISTO_INVALID, "masks only", histo_hist_fill(h, &plain, &(histo_fill_options){.where = &bits}));
    REFUSED(HISTO_INVALID, "unknown dtype", histo_hist_fill(h, &plain, &(histo_fill_options){.mask = &bad}));
    REFUSED(HISTO_INVALID, "offset is -1",
            histo_hist_fill(h, &plain, &(histo_fill_options){.mask = &bits, .mask_offset = -1}));
    histo_stats stats = {0};
    REFUSED(HISTO_INVALID, "masks only", histo_stats_add(&stats, &bits, NULL));
    histo_hist_destroy(h);
    histo_dtype dtype;
    REFUSED(HISTO_INVALID, "no dtype", histo_dtype_parse("bit", &dtype));
    histo_map *map;
    const histo_view out = histo_view_1d(results, HISTO_U16, 8);
    OK(histo_map_create(&map, 1, &axis, NULL));
    REFUSED(HISTO_UNSUPPORTED, "convert", histo_map_apply(map, &swapped, &out, NULL));
    REFUSED(HISTO_UNSUPPORTED, "convert", histo_map_apply(map, &plain, &swapped, NULL));
    REFUSED(HISTO_UNSUPPORTED, "convert", histo_map_apply(map, &plain, &out, &(histo_apply_options){.mask = &bits}));
    histo_map_destroy(map);
}

/* Arrays of twelve dimensions: in C order, in Fortran order, with a padded row; and two that differ. */
static void many_dimensions(void **state)
{
    (void)state;
    enum { NDIM = 12, SIDE = 2, ALL = 1 << NDIM, PAD = 3 };
    int64_t shape[NDIM], c[NDIM], fortran[NDIM], padded[NDIM], alternating[NDIM];
    for (int d = 0; d < NDIM; d++) {
        shape[d] = SIDE;
        c[d] = (int64_t)1 << (NDIM - 1 - d);
        fortran[d] = (int64_t)1 << d;
        padded[d] = d == NDIM - 1 ? 1 : PAD * ((int64_t)1 << (NDIM - 2 - d));
        alternating[d] = ((int64_t)1 << 2 * d) * 3;
    }
    const int8_t data[PAD * ALL] = {0};
    const histo_view of_bytes = {.data = data, .dtype = HISTO_I8};
    histo_view views[2] = {of_bytes, of_bytes};
    OK(histo_view_coalesce(1, views, NDIM, 0, shape, (const int64_t *const[]){c}));
    assert_int_equal(views[0].ndim, 1);
    assert_int_equal(views[0].shape[0], ALL);
    assert_int_equal(views[0].strides[0], 1);
    OK(histo_view_coalesce(1, views, NDIM, 0, shape, (const int64_t *const[]){fortran}));
    assert_int_equal(views[0].ndim, 1);
    assert_int_equal(views[0].strides[0], 1);
    OK(histo_view_coalesce(2, views, NDIM, 0, shape, (const int64_t *const[]){c, padded}));
    assert_int_equal(views[0].ndim, 2);
    assert_int_equal(views[0].shape[0], ALL / 2);
    assert_int_equal(views[0].strides[0], 2);
    assert_int_equal(views[1].strides[0], PAD);
    assert_int_equal(views[1].shape[1], 2);
    REFUSED(HISTO_UNSUPPORTED, "copy",
            histo_view_coalesce(2, views, NDIM, 0, shape, (const int64_t *const[]){c, fortran}));
    REFUSED(HISTO_UNSUPPORTED, "12 of the 12",
            histo_view_coalesce(1, views, NDIM, 0, shape, (const int64_t *const[]){alternating}));
    OK(histo_view_coalesce(1, views, NDIM, 3, shape, (const int64_t *const[]){c}));
    assert_int_equal(views[0].ndim, 2);
    assert_int_equal(views[0].batch_ndim, 1);
    assert_int_equal(views[0].shape[0], 8);
    shape[4] = 0;
    OK(histo_view_coalesce(1, views, NDIM, 0, shape, (const int64_t *const[]){c}));
    assert_int_equal(histo_view_size(&views[0]), 0);
    shape[4] = -1;
    REFUSED(HISTO_INVALID, "negative", histo_view_coalesce(1, views, NDIM, 0, shape, (const int64_t *const[]){c}));
    REFUSED(HISTO_INVALID, "65 dimensions", histo_view_coalesce(1, views, 65, 0, shape, (const int64_t *const[]){c}));
    OK(histo_view_coalesce(1, views, 0, 0, NULL, NULL));
    assert_int_equal(histo_view_size(&views[0]), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_layout),    cmocka_unit_test(plans),
        cmocka_unit_test(swapped_pairs), cmocka_unit_test(bitmaps_end_where_they_end),
        cmocka_unit_test(refusals),      cmocka_unit_test(many_dimensions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
