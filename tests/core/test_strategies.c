/* Every strategy, dtype, axis, distribution and layout gives the counts of comparisons with every edge, to the bit, and
 * bins + flow + masked = samples. GPU strategies count samples in device and in host memory. The environment selects a
 * part: HISTO_TEST_ROWS=cuda or cuda/NAME; HISTO_TEST_EVERY=n for every n-th case. HISTO_TEST_COMPILE=1 compiles
 * kernels for each case. The argument --rows prints the names of all rows instead. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/strategies/rows.h"
#include "support/check.h"
#include "support/data.h"

/* A fill with one axis: the positions of samples, mask and filter values. */
typedef struct fill {
    histo_axis axis;
    histo_view samples;
    const histo_view *mask;
    bool has_where;
    double where_lo, where_hi;
    const int64_t *offsets; /* [batch + 1] of ragged segments, or NULL */
} fill;

/* Count only what is in the first of so many equal parts of the axis. */
static void filter_first(fill *f, int parts)
{
    f->has_where = true;
    f->where_lo = f->axis.lo;
    f->where_hi = f->axis.lo + (f->axis.hi - f->axis.lo) / parts;
}

/* counts[batch * (bins + 3)], masked[batch] */
static void count_by_edges(const fill *f, uint64_t *counts, uint64_t *masked)
{
    double *edges = malloc((size_t)(f->axis.bins + 1) * sizeof *edges);
    OK(histo_axis_edges(&f->axis, edges));
    int64_t n = histo_view_size(&f->samples), batch = 1;
    for (int d = 0; d < f->samples.batch_ndim; d++)
        batch *= f->samples.shape[d];
    for (int64_t i = 0; i < n; i++) {
        int64_t b = f->offsets ? 0 : i / (n / batch);
        while (f->offsets && f->offsets[b + 1] <= i)
            b++;
        const char *at = sample_at(&f->samples, i);
        long double x = sample_value(at, f->samples.dtype);
        bool is_counted = !f->mask || sample_value(sample_at(f->mask, i), f->mask->dtype) != 0;
        is_counted = is_counted && (!f->has_where || (x >= f->where_lo && x <= f->where_hi));
        if (is_counted)
            counts[b * (f->axis.bins + 3) +
                   reference_slot_by_edges(at, f->samples.dtype, edges, f->axis.bins, f->axis.closed)]++;
        else
            masked[b]++;
    }
    free(edges);
}

static void check(const fill *f, int64_t batch, const char *strategy, int threads, const char *what, bool on_device)
{
    int64_t slots = f->axis.bins + 3;
    size_t all = (size_t)(batch * slots);
    uint64_t *expected = calloc(all, sizeof *expected), *got = calloc(all, sizeof *got);
    uint64_t *expected_masked = calloc((size_t)batch, sizeof *expected_masked);
    uint64_t *got_masked = calloc((size_t)batch, sizeof *got_masked);
    count_by_edges(f, expected, expected_masked);
    histo_hist *h;
    OK(histo_hist_create(&h, 1, &f->axis, &(histo_hist_options){.batch = batch, .storage = storage_for(strategy)}));
    placed memory = {0};
    histo_view copies[3], offsets = histo_view_1d(f->offsets, HISTO_I64, f->offsets ? batch + 1 : 0);
    const histo_view *samples = place(&memory, &f->samples, on_device, &copies[0]);
    histo_fill_options options = {.mask = place(&memory, f->mask, on_device, &copies[1]),
                                  .where = f->has_where ? samples : NULL,
                                  .where_lo = f->has_where ? f->where_lo : 0,
                                  .where_hi = f->has_where ? f->where_hi : 0,
                                  .offsets = place(&memory, &offsets, on_device && batch % 2, &copies[2])->data};
    histo_plan *plan = plan_for(strategy, h, samples, &options, threads);
    if (plan) OK(histo_plan_fill(plan, h, samples, &options));
    OK(histo_hist_read_counts(h, HISTO_FLOW, got, (int64_t)all, NULL));
    OK(histo_hist_read_masked(h, got_masked, batch));
    for (size_t s = 0; plan && s < all; s++)
        if (got[s] != expected[s])
            fail_msg("%s, %s: slot %zu of %zu has %llu, should have %llu", strategy, what, s, all,
                     (unsigned long long)got[s], (unsigned long long)expected[s]);
    for (int64_t b = 0; plan && b < batch; b++)
        assert_int_equal(got_masked[b], expected_masked[b]);
    histo_tally tally;
    OK(histo_hist_tally(h, &tally));
    assert_int_equal(tally.samples, plan ? histo_view_size(&f->samples) : 0);
    assert_int_equal(tally.bins + tally.flow + tally.masked, tally.samples);
    assert_int_equal(tally.under[0] + tally.over[0] + tally.nan[0], tally.flow);
    displace(&memory);
    histo_plan_destroy(plan);
    histo_hist_destroy(h);
    free(expected);
    free(got);
    free(expected_masked);
    free(got_masked);
}

static void for_every_strategy(const fill *f, int64_t batch, int threads, const char *what)
{
    enum { HOST_EVERY = 4 };
    static int round;
    if (!is_chosen()) return;
    char name[64];
    for (int s = 0; s < histo_strategy_count(); s++)
        if (row_name(s, name)) check(f, batch, name, threads, what, is_cuda(name) && round++ % HOST_EVERY);
}

static void every_type_axis_and_distribution(void **state)
{
    (void)state;
    rng r = {.state = 88172645463325252u};
    for (int dtype = 0; dtype < HISTO_DTYPE_COUNT; dtype++) {
        fill f = {0};
        for (int a = 0; test_axis(a, (histo_dtype)dtype, &f.axis); a++) {
            for (int d = 0; d < DISTRIBUTIONS; d++) {
                char what[128];
                snprintf(what, sizeof what, "%s, axis %d, %s", histo_dtype_name((histo_dtype)dtype), a,
                         distribution_name((distribution)d));
                int64_t n = 3001 + rng_below(&r, 3000);
                void *data = make_samples(&r, (histo_dtype)dtype, (distribution)d, &f.axis, n);
                f.samples = histo_view_1d(data, (histo_dtype)dtype, n);
                for_every_strategy(&f, 1, 1, what);
                free(data);
            }
        }
    }
}

/* Edges at samples, some of them close to each other or to 0. */
static histo_axis crowded_axis(rng *r)
{
    enum { BINS = 1500 };
    static double edges[BINS + 1];
    for (int i = 0; i <= BINS; i++) {
        double u = rng_uniform(r) - 0.5;
        edges[i] = i % 16 || !i ? u * u * u * 40 : i % 32 ? (i - BINS / 2) * 1e-9 : edges[i - 1] + 1e-7;
    }
    for (int i = 1; i <= BINS; i++) /* insertion sort */
        for (int k = i; k > 0 && edges[k] < edges[k - 1]; k--) {
            double lower = edges[k];
            edges[k] = edges[k - 1];
            edges[k - 1] = lower;
        }
    return histo_axis_variable(BINS, edges);
}

/* Enough samples for tables of all 16-bit patterns, for cells, and for several threads. */
static void large_fills(void **state)
{
    (void)state;
    static const int axes[] = {3, 8, 10, 11};
    enum { AXES = sizeof axes / sizeof *axes };
    rng r = {.state = 7};
    const int64_t n = 300007;
    for (int dtype = 0; dtype < HISTO_DTYPE_COUNT; dtype++) {
        bool wide_float = dtype == HISTO_F32 || dtype == HISTO_F64;
        for (int a = 0; a < (wide_float ? AXES + 1 : 2); a++) {
            fill f = {0};
            if (a < AXES)
                test_axis(axes[a], (histo_dtype)dtype, &f.axis);
            else
                f.axis = crowded_axis(&r);
            for (int d = 0; d < DISTRIBUTIONS; d++) {
                if (d % 4 && !(wide_float && d == EDGES)) continue;
                void *data = make_samples(&r, (histo_dtype)dtype, (distribution)d, &f.axis, n);
                f.samples = histo_view_1d(data, (histo_dtype)dtype, n);
                for_every_strategy(&f, 1, 3, histo_dtype_name((histo_dtype)dtype));
                free(data);
            }
        }
    }
}

/* Random shapes, strides of either sign, zero strides, unaligned addresses, batch dimensions, masks and filters. */
static void every_layout(void **state)
{
    (void)state;
    rng r = {.state = 424242};
    for (int round = 0; round < 400; round++) {
        histo_dtype dtype = (histo_dtype)rng_below(&r, HISTO_DTYPE_COUNT);
        fill f = {0};
        test_axis((int)rng_below(&r, 13), dtype, &f.axis);
        int64_t size = (int64_t)histo_dtype_size(dtype);
        const int64_t pool = 20000;
        char *data = make_samples(&r, dtype, (distribution)rng_below(&r, DISTRIBUTIONS), &f.axis, pool);
        uint8_t mask_bytes[64];
        for (int i = 0; i < 64; i++)
            mask_bytes[i] = rng_next(&r) & 1;
        histo_view v = {.dtype = dtype, .ndim = (int)rng_below(&r, 5)}, mask;
        v.batch_ndim = (int)rng_below(&r, v.ndim + 1);
        int64_t batch = 1, lowest = 0, highest = 0;
        for (int d = 0; d < v.ndim; d++) {
            v.shape[d] = 1 + rng_below(&r, d == v.ndim - 1 ? 600 : 5);
            v.strides[d] = (rng_below(&r, 9) - 4) * (rng_next(&r) & 1 ? size : 1) * (d == v.ndim - 1 ? 1 : 7);
            if (d < v.batch_ndim) batch *= v.shape[d];
            int64_t reach = (v.shape[d] - 1) * v.strides[d];
            *(reach < 0 ? &lowest : &highest) += reach;
        }
        assert_true(highest - lowest + size < pool * size + 1 || size == 1);
        if (highest - lowest + size > pool * size) {
            free(data);
            continue;
        }
        v.data = data - lowest;
        mask = v;
        mask.dtype = HISTO_U8;
        int64_t masks = 0;
        for (int d = 0; d < mask.ndim; d++) {
            mask.strides[d] = (63 - masks) / mask.shape[d] > 0 ? 1 : 0;
            masks += (mask.shape[d] - 1) * mask.strides[d];
        }
        mask.data = mask_bytes;
        f.samples = v;
        if (round % 3 == 1) f.mask = &mask;
        if (round % 5 == 2) filter_first(&f, 3);
        char what[64];
        snprintf(what, sizeof what, "layout %d", round);
        for_every_strategy(&f, batch, 1 + (int)rng_below(&r, 4), what);
        free(data);
    }
}

/* Images with a row pitch and interleaved channels, only some of which are counted, walked in any direction, at any
 * address; with masks and filters from the samples themselves. */
static void images_and_channels(void **state)
{
    (void)state;
    static const histo_dtype dtypes[] = {HISTO_U8, HISTO_U8, HISTO_U8, HISTO_I8, HISTO_U16, HISTO_F32, HISTO_F64};
    rng r = {.state = 1234567};
    for (int round = 0; round < 120; round++) {
        histo_dtype dtype = dtypes[rng_below(&r, 7)];
        int64_t size = (int64_t)histo_dtype_size(dtype), channels = 1 + rng_below(&r, 4);
        int64_t used = 1 + rng_below(&r, channels), from = rng_below(&r, channels - used + 1);
        int64_t images = 1 + rng_below(&r, round % 4 ? 3 : 40);
        int64_t height = 1 + rng_below(&r, round % 18 == 9 ? 700 : 6); /* of rows of at most 20, several blocks */
        int64_t width = 1 + rng_below(&r, round % 3 ? 300 : 20), pad = rng_below(&r, 3) * rng_below(&r, 20);
        int64_t pitch = width * channels + (round % 2 ? pad : pad * channels), image = pitch * height;
        if (round % 5 == 0) pitch = (pitch + 15) / 16 * 16, image = pitch * height + 16 * rng_below(&r, 3);
        const int64_t shape[] = {images, used, height, width}, strides[] = {image, 1, pitch, channels};
        fill f = {.samples = {.dtype = dtype, .ndim = 4, .batch_ndim = 2}};
        test_axis((int)rng_below(&r, 13), dtype, &f.axis);
        int64_t stored = images * image + 16, first = from + (round % 7 ? 0 : rng_below(&r, 16));
        char *data = make_samples(&r, dtype, (distribution)rng_below(&r, DISTRIBUTIONS), &f.axis, stored);
        uint8_t *mask_bytes = malloc((size_t)stored);
        for (int64_t i = 0; i < stored; i++)
            mask_bytes[i] = (uint8_t)(rng_below(&r, 3) * 100);
        histo_view mask = {.dtype = HISTO_U8, .ndim = 4, .batch_ndim = 2};
        int64_t mask_first = round % 8 ? from : 0;
        for (int d = 0; d < 4; d++) {
            bool backwards = rng_below(&r, 4) == 0;
            f.samples.shape[d] = mask.shape[d] = shape[d];
            f.samples.strides[d] = (backwards ? -strides[d] : strides[d]) * size;
            mask.strides[d] = backwards ? -strides[d] : strides[d];
            if (backwards) first += (shape[d] - 1) * strides[d], mask_first += (shape[d] - 1) * strides[d];
        }
        f.samples.data = data + first * size;
        mask.data = mask_bytes + mask_first;
        if (round % 3 == 1) f.mask = &mask;
        if (round % 4 == 2) filter_first(&f, 2);
        char what[64];
        snprintf(what, sizeof what, "images %d", round);
        for_every_strategy(&f, images * used, 2, what);
        free(data);
        free(mask_bytes);
    }
}

/* Segments of any length, including empty ones, at any address and in either direction. */
static void ragged_segments(void **state)
{
    (void)state;
    rng r = {.state = 31};
    for (int round = 0; round < 60; round++) {
        histo_dtype dtype = (histo_dtype)(round % HISTO_DTYPE_COUNT);
        int64_t batch = 1 + rng_below(&r, round % 3 ? 9 : 200), size = (int64_t)histo_dtype_size(dtype);
        int64_t *offsets = calloc((size_t)batch + 1, sizeof *offsets);
        for (int64_t b = 0; b < batch; b++)
            offsets[b + 1] = offsets[b] + (rng_below(&r, 3) ? rng_below(&r, batch > 9 ? 100 : 9000) : 0);
        int64_t n = offsets[batch], first = rng_below(&r, 5);
        fill f = {.offsets = offsets};
        test_axis((int)rng_below(&r, 13), dtype, &f.axis);
        char *data = make_samples(&r, dtype, (distribution)rng_below(&r, DISTRIBUTIONS), &f.axis, n + first + 1);
        f.samples = histo_view_1d(data + first * size, dtype, n);
        if (round % 7 == 3 && n) {
            f.samples.data = data + (first + n - 1) * size;
            f.samples.strides[0] = -size;
        }
        uint8_t *mask_bytes = malloc((size_t)n + 1);
        for (int64_t i = 0; i < n; i++)
            mask_bytes[i] = rng_next(&r) & 1;
        histo_view mask = histo_view_1d(mask_bytes, HISTO_U8, n);
        if (round % 5 == 4) f.mask = &mask;
        char what[64];
        snprintf(what, sizeof what, "ragged %d", round);
        for_every_strategy(&f, batch, 1 + (int)rng_below(&r, 4), what);
        free(data);
        free(mask_bytes);
        free(offsets);
    }
}

static void no_samples_and_one(void **state)
{
    (void)state;
    fill f = {.axis = histo_axis_regular(4, 0, 1)};
    float x = 0.5f;
    f.samples = histo_view_1d(NULL, HISTO_F32, 0);
    for_every_strategy(&f, 1, 2, "no samples");
    f.samples = histo_view_1d(&x, HISTO_F32, 1);
    for_every_strategy(&f, 1, 2, "one sample");
}

/* Parameters of strategies affect only speed. */
static void parameters(void **state)
{
    (void)state;
    rng r = {.state = 5};
    histo_axis axis = histo_axis_regular(300, 0, 1);
    const int64_t n = 200000;
    float *data = make_samples(&r, HISTO_F32, GAUSSIAN, &axis, n);
    histo_view v = histo_view_1d(data, HISTO_F32, n);
    uint64_t first[303], got[303];
    for (int subtables = 0; subtables <= 8; subtables++) {
        histo_hist *h;
        histo_plan *plan;
        char params[32];
        snprintf(params, sizeof params, "subtables=%d", subtables);
        OK(histo_hist_create(&h, 1, &axis, NULL));
        OK(histo_plan_create(&plan, h, &v, NULL, &(histo_plan_options){.strategy = "privatized", .params = params}));
        OK(histo_plan_fill(plan, h, &v, NULL));
        OK(histo_hist_read_counts(h, HISTO_FLOW, subtables ? got : first, 303, NULL));
        if (subtables) assert_memory_equal(first, got, sizeof got);
        histo_plan_destroy(plan);
        histo_hist_destroy(h);
    }
    free(data);
}

int main(int argc, char **argv)
{
    if (argc > 1) return strcmp(argv[1], "--rows") == 0 ? print_rows() : 2;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_axis_and_distribution),
        cmocka_unit_test(large_fills),
        cmocka_unit_test(every_layout),
        cmocka_unit_test(images_and_channels),
        cmocka_unit_test(ragged_segments),
        cmocka_unit_test(no_samples_and_one),
        cmocka_unit_test(joint_histograms),
        cmocka_unit_test(joint_tables),
        cmocka_unit_test(pairs_of_images),
        cmocka_unit_test(refused_pairs),
        cmocka_unit_test(weights_of_few_bins),
        cmocka_unit_test(weights_of_many_bins),
        cmocka_unit_test(parameters),
        cmocka_unit_test(every_row_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
