/* Every strategy, dtype, axis, distribution and layout gives the counts of comparisons with every edge, to the bit, and
 * bins + flow + masked = samples. GPU strategies count samples in device and in host memory. The environment selects a
 * part: HISTO_TEST_ROWS=cuda or cuda/NAME; HISTO_TEST_EVERY=n for every n-th case. HISTO_TEST_COMPILE=1 compiles
 * kernels for each case. The argument --rows prints the names of all rows instead. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/data.h"
#include "support/device.h"

/* Comparisons of CUDA strategies: made, unsupported, and skipped for lack of a GPU. */
static struct {
    long made, unsupported, skipped;
} on_gpu;
static bool counted[64]; /* row s has made at least one comparison */

/* Selects every n-th case of a test, if the environment says so. */
static bool is_chosen(void)
{
    static long cases;
    const char *every = getenv("HISTO_TEST_EVERY");
    return cases++ % (every ? atol(every) : 1) == 0;
}

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

static const char *element(const histo_view *v, int64_t i)
{
    const char *at = v->data;
    for (int d = v->ndim - 1; d >= 0; d--) {
        at += i % v->shape[d] * v->strides[d];
        i /= v->shape[d];
    }
    return at;
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
        const char *at = element(&f->samples, i);
        long double x = sample_value(at, f->samples.dtype);
        bool kept = !f->mask || sample_value(element(f->mask, i), f->mask->dtype) != 0;
        kept = kept && (!f->has_where || (x >= f->where_lo && x <= f->where_hi));
        if (kept)
            counts[b * (f->axis.bins + 3) +
                   reference_slot_by_edges(at, f->samples.dtype, edges, f->axis.bins, f->axis.closed)]++;
        else
            masked[b]++;
    }
    free(edges);
}

/* Views of a fill, in device memory if requested. */
typedef struct placed {
    int count;
    void *memory[8];
} placed;

static const histo_view *place(placed *all, const histo_view *view, bool on_device, histo_view *copy)
{
    if (!view || !on_device || histo_view_size(view) == 0) return view;
    all->memory[all->count] = device_copy(view, copy);
    assert_non_null(all->memory[all->count++]);
    return copy;
}

static void displace(placed *all)
{
    while (all->count)
        device_free(all->memory[--all->count]);
}

/* Record that the row has counted something. */
static void note_row(const char *strategy)
{
    histo_strategy_info info;
    for (int s = 0; histo_strategy_describe(s, &info) == HISTO_OK; s++)
        if (strcmp(strchr(strategy, '/') + 1, info.name) == 0 &&
            strncmp(strategy, info.backend, strlen(info.backend)) == 0)
            counted[s] = true;
}

/* A plan for a row, or NULL if it does not support the problem. Rows that count everything must support it. */
static histo_plan_options options_for(const char *strategy, int threads)
{
    return (histo_plan_options){.effort = getenv("HISTO_TEST_COMPILE") ? HISTO_COMPILE : HISTO_ESTIMATE,
                                .strategy = strategy,
                                .threads = threads};
}

/* A plan that was made with this status; NULL if the strategy need not support the problem. */
static histo_plan *supported(const char *strategy, histo_status status, histo_plan *const *plan)
{
    bool cuda = strncmp(strategy, "cuda/", 5) == 0;
    bool optional = strcmp(strategy, "cuda/global_atomic") != 0 && strcmp(strategy, "cpu/sequential") != 0 &&
                    strcmp(strategy, "cpu/privatized") != 0;
    if (status == HISTO_UNSUPPORTED && optional) {
        on_gpu.unsupported += cuda;
        return NULL;
    }
    if (status != HISTO_OK) fail_msg("%s: %s", strategy, histo_last_error());
    on_gpu.made += cuda;
    note_row(strategy);
    return *plan;
}

static histo_plan *plan_for(const char *strategy, histo_hist *h, const histo_view *views,
                            const histo_fill_options *options, int threads)
{
    histo_plan *plan;
    const histo_plan_options wanted = options_for(strategy, threads);
    return supported(strategy, histo_plan_create(&plan, h, views, options, &wanted), &plan);
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
                                  .where_lo = f->where_lo,
                                  .where_hi = f->where_hi,
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

/* Name row s as backend/name, if the environment selects it and its device exists. */
static bool row_name(int s, char name[64])
{
    const char *chosen = getenv("HISTO_TEST_ROWS");
    histo_strategy_info info;
    OK(histo_strategy_describe(s, &info));
    snprintf(name, 64, "%s/%s", info.backend, info.name);
    if (chosen && strncmp(name, chosen, strlen(chosen)) != 0) return false;
    if (strcmp(info.backend, "cuda") != 0 || !device_missing()) return true;
    on_gpu.skipped++;
    return false;
}

static void for_every_strategy(const fill *f, int64_t batch, int threads, const char *what)
{
    enum { HOST_EVERY = 4 };
    static int round;
    if (!is_chosen()) return;
    char name[64];
    for (int s = 0; s < histo_strategy_count(); s++)
        if (row_name(s, name))
            check(f, batch, name, threads, what, strncmp(name, "cuda/", 5) == 0 && round++ % HOST_EVERY);
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
        int64_t images = 1 + rng_below(&r, round % 4 ? 3 : 40), height = 1 + rng_below(&r, 6);
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

/* Joint histograms of 2 to 4 axes of mixed types. */
static void joint(void **state)
{
    (void)state;
    rng r = {.state = 99};
    for (int round = 0; round < 60; round++) {
        if (!is_chosen()) continue;
        int naxes = 2 + (int)rng_below(&r, 3);
        const int64_t n = 5000;
        histo_axis axes[4];
        histo_view views[4];
        double *edges[4];
        int64_t slots = 1;
        for (int a = 0; a < naxes; a++) {
            histo_dtype dtype = (histo_dtype)rng_below(&r, HISTO_DTYPE_COUNT);
            static const int small[] = {1, 2, 7, 11, 12, 6};
            test_axis(small[rng_below(&r, 6)], dtype, &axes[a]);
            views[a] = histo_view_1d(make_samples(&r, dtype, (distribution)rng_below(&r, DISTRIBUTIONS), &axes[a], n),
                                     dtype, n);
            edges[a] = malloc((size_t)(axes[a].bins + 1) * sizeof(double));
            OK(histo_axis_edges(&axes[a], edges[a]));
            slots *= axes[a].bins + 3;
        }
        uint64_t *expected = calloc((size_t)slots, sizeof *expected), *got = malloc((size_t)slots * sizeof *got);
        for (int64_t i = 0; i < n; i++) {
            int64_t slot = 0;
            for (int a = 0; a < naxes; a++)
                slot = slot * (axes[a].bins + 3) + reference_slot_by_edges(element(&views[a], i), views[a].dtype,
                                                                           edges[a], axes[a].bins, axes[a].closed);
            expected[slot]++;
        }
        char name[64];
        for (int s = 0; s < histo_strategy_count(); s++) {
            if (!row_name(s, name)) continue;
            placed memory = {0};
            histo_view copies[4];
            for (int a = 0; a < naxes; a++)
                copies[a] = *place(&memory, &views[a], strncmp(name, "cuda/", 5) == 0 && round % 3, &copies[a]);
            histo_hist *h;
            OK(histo_hist_create(&h, naxes, axes, &(histo_hist_options){.storage = storage_for(name)}));
            histo_plan *plan = plan_for(name, h, copies, NULL, 2);
            if (plan) {
                OK(histo_plan_fill(plan, h, copies, NULL));
                OK(histo_hist_read_counts(h, HISTO_FLOW, got, slots, NULL));
                assert_memory_equal(got, expected, (size_t)slots * sizeof *got);
            }
            displace(&memory);
            histo_plan_destroy(plan);
            histo_hist_destroy(h);
        }
        for (int a = 0; a < naxes; a++) {
            free((void *)views[a].data);
            free(edges[a]);
        }
        free(expected);
        free(got);
    }
}

/* A joint histogram of samples in one buffer: columns one after the other, or interleaved samples. */
typedef struct table {
    int naxes, axis[4]; /* of joint_axis */
    histo_dtype dtype[4];
    int pitch;  /* bytes between an axis's samples; 0: columns; negative: columns with gaps between samples */
    int offset; /* bytes before the first sample */
    int64_t batch, n;
} table;

static histo_axis joint_axis(int i)
{
    static const double few[] = {-3.5, -1, 0, 0x1p-20, 0.1, 0.25, 3, 17.5, 100, 1e4};
    const histo_axis axes[] = {histo_axis_integer(0, 256),
                               histo_axis_regular(64, 0, 256),
                               histo_axis_closed(histo_axis_regular(32, 0, 256)),
                               histo_axis_regular(50, 0, 256),
                               histo_axis_regular(8, 64, 192),
                               histo_axis_regular(128, 0, 256),
                               histo_axis_regular(256, 0, 1),
                               histo_axis_closed(histo_axis_regular(300, -1, 1)),
                               histo_axis_integer(-20, 300),
                               histo_axis_log(40, 1e-3, 1e4),
                               histo_axis_variable(9, few),
                               histo_axis_integer(0, 4096),
                               histo_axis_regular(2, 0, 256)};
    return axes[i];
}

static void check_table(rng *r, const table *t, int round)
{
    enum { FEW = 50000 };
    histo_axis axes[4];
    double *edges[4];
    int64_t slots = 1, all = t->batch * t->n, at = t->offset, column[4], pitch[4];
    for (int a = 0; a < t->naxes; a++) {
        int64_t size = (int64_t)histo_dtype_size(t->dtype[a]);
        column[a] = at;
        pitch[a] = t->pitch ? abs(t->pitch) : size;
        at += t->pitch > 0 ? size : (all * pitch[a] + 15) / 16 * 16 + (round % 3 == 2 ? size : 0);
        axes[a] = joint_axis(t->axis[a]);
        edges[a] = malloc((size_t)(axes[a].bins + 1) * sizeof(double));
        OK(histo_axis_edges(&axes[a], edges[a]));
        slots *= axes[a].bins + 3;
    }
    int64_t bytes = t->pitch > 0 ? t->offset + all * t->pitch : at;
    char *buffer = calloc((size_t)bytes, 1);
    histo_view views[4];
    for (int a = 0; a < t->naxes; a++) {
        size_t size = histo_dtype_size(t->dtype[a]);
        char *samples = make_samples(r, t->dtype[a], (distribution)rng_below(r, DISTRIBUTIONS), &axes[a], all);
        for (int64_t i = 0; i < all; i++)
            memcpy(buffer + column[a] + i * pitch[a], samples + (size_t)i * size, size);
        free(samples);
        views[a] = (histo_view){.data = buffer + column[a],
                                .dtype = t->dtype[a],
                                .ndim = 2,
                                .batch_ndim = 1,
                                .shape = {t->batch, t->n},
                                .strides = {t->n * pitch[a], pitch[a]}};
    }
    size_t counters = (size_t)(t->batch * slots);
    uint64_t *expected = calloc(counters, sizeof *expected), *got = malloc(counters * sizeof *got);
    for (int64_t i = 0; i < all; i++) {
        int64_t slot = i / t->n;
        for (int a = 0; a < t->naxes; a++)
            slot = slot * (axes[a].bins + 3) + reference_slot_by_edges(buffer + column[a] + i * pitch[a], t->dtype[a],
                                                                       edges[a], axes[a].bins, axes[a].closed);
        expected[slot]++;
    }
    char name[64];
    for (int s = 0; s < histo_strategy_count(); s++) {
        if (!row_name(s, name)) continue;
        bool is_for_many = strstr(name, "partition") || strstr(name, "packed") || strstr(name, "global_atomic");
        bool on_device = strncmp(name, "cuda/", 5) == 0;
        if (slots > FEW && on_device && !is_for_many) continue;
        placed memory = {0};
        histo_view whole = histo_view_1d(buffer, HISTO_U8, bytes), copy, moved[4];
        const histo_view *there = place(&memory, &whole, on_device, &copy);
        for (int a = 0; a < t->naxes; a++) {
            moved[a] = views[a];
            moved[a].data = (const char *)there->data + column[a];
        }
        histo_hist *h;
        OK(histo_hist_create(&h, t->naxes, axes,
                             &(histo_hist_options){.batch = t->batch, .storage = storage_for(name)}));
        histo_plan *plan = plan_for(name, h, moved, NULL, 2);
        for (int pass = 0; plan && pass < 2; pass++)
            OK(histo_plan_fill(plan, h, moved, NULL));
        if (plan) OK(histo_hist_read_counts(h, HISTO_FLOW, got, (int64_t)counters, NULL));
        for (size_t i = 0; plan && i < counters; i++)
            if (got[i] != 2 * expected[i])
                fail_msg("%s, table %d: slot %zu has %llu, should have %llu", name, round, i,
                         (unsigned long long)got[i], 2 * (unsigned long long)expected[i]);
        displace(&memory);
        histo_plan_destroy(plan);
        histo_hist_destroy(h);
    }
    for (int a = 0; a < t->naxes; a++)
        free(edges[a]);
    free(buffer);
    free(expected);
    free(got);
}

/* Pixels, pairs and columns of any types: full steps and ragged ends, aligned and unaligned, batches, all counter
 * widths. */
static void tables(void **state)
{
    (void)state;
    static const table list[] = {
        {3, {1, 1, 1}, {HISTO_U8, HISTO_U8, HISTO_U8}, 3, 0, 1, 70001},  /* 64 x 64 x 64: counters of 6 bits */
        {3, {1, 1, 1}, {HISTO_U8, HISTO_U8, HISTO_U8}, 4, 0, 1, 70001},  /* three of four channels */
        {3, {1, 1, 1}, {HISTO_U8, HISTO_U8, HISTO_U8}, 0, 0, 1, 70001},  /* columns */
        {3, {1, 1, 1}, {HISTO_U8, HISTO_U8, HISTO_U8}, 3, 5, 1, 40001},  /* unaligned */
        {3, {1, 2, 1}, {HISTO_U8, HISTO_U8, HISTO_U8}, 3, 0, 3, 32768},  /* 8 bits, a batch */
        {3, {2, 2, 2}, {HISTO_U8, HISTO_U8, HISTO_U8}, 3, 16, 2, 33001}, /* 16 bits or 32 */
        {2, {0, 2}, {HISTO_U8, HISTO_U8}, 3, 0, 1, 50001},               /* two of three channels */
        {2, {0, 0}, {HISTO_U8, HISTO_U8}, 0, 0, 1, 70001},               /* two columns of bytes */
        {2, {0, 7}, {HISTO_U8, HISTO_U8}, 0, 5, 2, 33001},               /* the same with flow, aligned after some */
        {2, {8, 0}, {HISTO_U8, HISTO_U8}, 0, 0, 3, 20},                  /* fewer than a vector after the first */
        {3, {1, 1, 1}, {HISTO_U8, HISTO_U8, HISTO_U8}, -3, 0, 1, 50001}, /* one channel of each of three images */
        {3, {0, 12, 2}, {HISTO_U8, HISTO_U8, HISTO_U8}, 3, 0, 1, 70001}, /* the finest axis is the first, … */
        {3, {1, 1, 12}, {HISTO_U8, HISTO_U8, HISTO_U8}, 4, 4, 1, 50001}, /* … or one between others */
        {2, {2, 1}, {HISTO_U8, HISTO_U8}, 4, 2, 1, 50001},               /* never aligned */
        {2, {2, 1}, {HISTO_U8, HISTO_U8}, 0, 7, 1, 50001},               /* aligned after some samples, or never */
        {4, {2, 4, 12, 4}, {HISTO_U8, HISTO_U8, HISTO_U8, HISTO_U8}, 4, 0, 1, 70001}, /* by table: flow */
        {4, {12, 12, 12, 12}, {HISTO_U8, HISTO_U8, HISTO_U8, HISTO_U8}, 0, 0, 1, 70001},
        {3, {3, 3, 3}, {HISTO_U8, HISTO_U8, HISTO_U8}, 3, 0, 1, 70001}, /* by table, in a window */
        {3, {5, 5, 5}, {HISTO_U8, HISTO_U8, HISTO_U8}, 3, 0, 1, 70001}, /* too many for shared memory */
        {2, {6, 6}, {HISTO_F32, HISTO_F32}, 0, 0, 1, 70001},            /* pairs */
        {2, {6, 7}, {HISTO_F32, HISTO_F32}, 0, 4, 2, 33001},
        {2, {9, 10}, {HISTO_F32, HISTO_F32}, 0, 0, 1, 70001},
        {2, {11, 0}, {HISTO_U32, HISTO_U32}, 0, 0, 1, 70001},
        {2, {8, 8}, {HISTO_U16, HISTO_U16}, 0, 0, 1, 70001},
        {2, {8, 0}, {HISTO_U16, HISTO_U16}, 4, 0, 1, 50001},  /* an interleaved pair */
        {2, {4, 11}, {HISTO_U16, HISTO_U16}, 0, 0, 1, 70001}, /* bins with several values, many windows */
        {2, {12, 4}, {HISTO_U32, HISTO_U32}, 0, 4, 2, 33001},
        {2, {3, 11}, {HISTO_U16, HISTO_U16}, 0, 0, 1, 50001}, /* bins that are not powers of two */
        {2, {6, 0}, {HISTO_F32, HISTO_U8}, 0, 0, 1, 70001},   /* columns of any types */
        {3, {7, 8, 4}, {HISTO_F64, HISTO_I16, HISTO_U8}, 0, 0, 2, 33001},
        {3, {10, 10, 10}, {HISTO_F32, HISTO_F32, HISTO_F32}, 12, 0, 1, 50001}, /* interleaved */
        {4, {10, 4, 10, 12}, {HISTO_F16, HISTO_I64, HISTO_BF16, HISTO_U64}, 0, 0, 1, 50001},
        {2, {8, 10}, {HISTO_I32, HISTO_I8}, 0, 0, 1, 50001},
    };
    rng r = {.state = 6};
    for (int i = 0; i < (int)(sizeof list / sizeof list[0]); i++)
        for (int round = 0; round < 3; round++)
            if (is_chosen()) check_table(&r, &list[i], 3 * i + round);
}

/* ---- Pairs of images ---- */

static bool is_cuda(const char *strategy)
{
    return strncmp(strategy, "cuda/", 5) == 0;
}

/* Stacks of images in one buffer. */
typedef struct stack {
    histo_dtype dtype;
    int images;
    histo_pairing pairs;
    int64_t batch, height, width;
    int layout; /* of stack_of */
    int axes;   /* of stack_axes */
    int noise;  /* limit of differences */
    bool relative;
} stack;

static void stack_axes(int i, histo_axis axes[2])
{
    static const double few[] = {-40000, -3.5, -1, 0, 0.5, 2, 17, 40000}, means[] = {3.5, 4, 99.25, 100, 101, 4000};
    const histo_axis all[][2] = {{histo_axis_regular(4096, -256, 256), histo_axis_integer(0, 256)},
                                 {histo_axis_regular(4096, -4096, 4096), histo_axis_regular(256, 0, 4096)},
                                 {histo_axis_integer(-20, 41), histo_axis_regular(50, 0, 256)},
                                 {histo_axis_closed(histo_axis_integer(-3, 6)), histo_axis_integer(90, 20)},
                                 {histo_axis_variable(7, few), histo_axis_variable(5, means)},
                                 {histo_axis_regular(300, -70000, 70000), histo_axis_regular(1000, 0, 65536)},
                                 {histo_axis_regular(4096, -0.5, 0.5), histo_axis_integer(0, 256)},
                                 {histo_axis_closed(histo_axis_regular(50, -3, 3)), histo_axis_integer(90, 20)}};
    axes[0] = all[i][0];
    axes[1] = all[i][1];
}

enum { CONTIGUOUS, PITCH, INTERLEAVED, SHIFTED, UNALIGNED, BACKWARDS, REVERSED };

/* Views of [batch, images, height, width] in a buffer of stack_bytes(). Layout 0 is C order; others permute or pad it.
 */
static histo_view stack_of(const stack *s, const char *buffer)
{
    const int64_t size = (int64_t)histo_dtype_size(s->dtype), pad = s->layout == PITCH ? 3 : 0;
    const int64_t pitch = (s->width + pad) * size, image = pitch * s->height;
    histo_view v = {.data = buffer,
                    .dtype = s->dtype,
                    .ndim = 4,
                    .batch_ndim = 1,
                    .shape = {s->batch, s->images, s->height, s->width},
                    .strides = {image * s->images, image, pitch, size}};
    if (s->layout == INTERLEAVED) {
        v.strides[1] = size;
        v.strides[2] = s->width * s->images * size;
        v.strides[3] = s->images * size;
    }
    if (s->layout == SHIFTED) v.data = buffer + size;
    if (s->layout == UNALIGNED) v.data = buffer + 1;
    if (s->layout == BACKWARDS) {
        v.data = buffer + (s->width - 1) * size;
        v.strides[3] = -size;
    }
    if (s->layout == REVERSED) {
        v.data = buffer + image * (s->images - 1);
        v.strides[1] = -image;
    }
    return v;
}

/* What stack_of's views may reach. */
static int64_t stack_bytes(const stack *s)
{
    const int64_t pad = s->layout == PITCH ? 3 : 0;
    return ((s->width + pad) * s->height * s->images * s->batch + 1) * (int64_t)histo_dtype_size(s->dtype);
}

/* Counts every slot by definition. */
static void count_stack(const stack *s, const histo_view *v, const histo_axis axes[2], uint64_t *counts)
{
    double *edges[2];
    const int64_t places = s->height * s->width, minor = axes[1].bins + 3;
    for (int a = 0; a < 2; a++) {
        edges[a] = malloc((size_t)(axes[a].bins + 1) * sizeof(double));
        OK(histo_axis_edges(&axes[a], edges[a]));
    }
    for (int64_t i = 0; i < s->batch * places; i++) {
        int64_t b = i / places, at = i % places, sum = 0, p[HISTO_MAX_IMAGES];
        for (int k = 0; k < s->images; k++) {
            p[k] = (int64_t)sample_value(element(v, (b * s->images + k) * places + at), s->dtype);
            sum += p[k];
        }
        int64_t mean = sum / s->images;
        if (2 * (sum - mean * s->images) >= s->images) mean++;
        int64_t slot_of_mean = reference_slot_by_edges(&mean, HISTO_I64, edges[1], axes[1].bins, axes[1].closed);
        for (int k = 0; k < s->images; k += s->pairs == HISTO_PAIRS_APART ? 2 : 1) {
            int64_t next = k + 1 < s->images ? p[k + 1] : p[0];
            const float relative = sum ? (float)((p[k] - next) * s->images) / (float)sum : 0;
            const double x = s->relative ? (double)relative : (double)(p[k] - next);
            int64_t slot = reference_slot_by_edges(&x, HISTO_F64, edges[0], axes[0].bins, axes[0].closed);
            counts[(b * (axes[0].bins + 3) + slot) * minor + slot_of_mean]++;
        }
    }
    free(edges[0]);
    free(edges[1]);
}

/* is_there: the stack is in the memory of the strategy's device; else in host memory. */
static void fill_stack(const char *name, const char *params, const stack *s, const histo_view *v, bool is_there,
                       const histo_axis axes[2], const uint64_t *expected, uint64_t *got, int64_t counters, int round)
{
    placed memory = {0};
    histo_view copy;
    const histo_view *there = place(&memory, v, is_there && is_cuda(name), &copy);
    const histo_pairs pairs = {s->pairs, s->relative};
    histo_plan_options wanted = options_for(name, 3);
    histo_hist *h;
    histo_plan *plan = NULL;
    OK(histo_hist_create(&h, 2, axes, &(histo_hist_options){.batch = s->batch, .storage = storage_for(name)}));
    wanted.params = params;
    const histo_status status = histo_plan_create_pairs(&plan, h, there, &pairs, NULL, &wanted);
    if (params)
        assert_int_equal(status, HISTO_OK);
    else
        plan = supported(name, status, &plan);
    for (int pass = 0; plan && pass < 2; pass++)
        OK(histo_plan_fill(plan, h, there, NULL));
    if (plan) OK(histo_hist_read_counts(h, HISTO_FLOW, got, counters, NULL));
    for (int64_t i = 0; plan && i < counters; i++)
        if (got[i] != 2 * expected[i])
            fail_msg("%s %s, stack %d: slot %lld has %llu, should have %llu", name, params ? params : "", round,
                     (long long)i, (unsigned long long)got[i], 2 * (unsigned long long)expected[i]);
    histo_tally tally;
    OK(histo_hist_tally(h, &tally));
    if (plan) assert_int_equal(tally.samples, 2 * histo_view_size(v) / (s->pairs == HISTO_PAIRS_APART ? 2 : 1));
    assert_int_equal(tally.bins + tally.flow, tally.samples);
    displace(&memory);
    histo_plan_destroy(plan);
    histo_hist_destroy(h);
}

static void check_stack(rng *r, const stack *s, int round)
{
    histo_axis axes[2];
    stack_axes(s->axes, axes);
    const int64_t counters = s->batch * (axes[0].bins + 3) * (axes[1].bins + 3);
    char *buffer = malloc((size_t)stack_bytes(s));
    histo_view v = stack_of(s, buffer);
    for (int64_t i = 0; i < histo_view_size(&v); i++) {
        uint32_t most = s->dtype == HISTO_U8 ? 255 : 65535, middle = most < 4096 ? 100 : 2000;
        uint32_t x =
            s->noise ? middle + (uint32_t)rng_below(r, s->noise) + (uint32_t)(i % 7 == 0) : (uint32_t)rng_next(r);
        uint16_t wide = (uint16_t)(rng_below(r, 300) ? x & most : rng_below(r, 2) ? 0 : most);
        uint8_t narrow = (uint8_t)wide;
        memcpy((char *)element(&v, i), s->dtype == HISTO_U8 ? (void *)&narrow : (void *)&wide,
               histo_dtype_size(s->dtype));
    }
    uint64_t *expected = calloc((size_t)counters, sizeof *expected), *got = malloc((size_t)counters * sizeof *got);
    count_stack(s, &v, axes, expected);
    char name[64];
    for (int i = 0; i < histo_strategy_count(); i++) {
        static const char *const params[] = {"bits=8",         "bits=16,length=1000", "first=5000,length=40000,bits=8",
                                             "blocks=3",       "threads=96",          "length=1",
                                             "bits=8,blocks=1"};
        if (!row_name(i, name)) continue;
        fill_stack(name, NULL, s, &v, true, axes, expected, got, counters, round);
        if (is_cuda(name)) fill_stack(name, NULL, s, &v, false, axes, expected, got, counters, round);
        if (strcmp(name, "cuda/packed_window") == 0)
            fill_stack(name, params[round % 7], s, &v, true, axes, expected, got, counters, round);
    }
    free(buffer);
    free(expected);
    free(got);
}

/* Stacks of both dtypes and pairings, of any number of images, in all layouts; few and many bins and positions. */
static void pairs(void **state)
{
    (void)state;
    enum { LAYOUTS = 7, AXES = 8 };
    static const stack large[] = {
        {HISTO_U8, 16, HISTO_PAIRS_RING, 1, 1, 40003, 0, 0, 30, false},
        {HISTO_U8, 16, HISTO_PAIRS_APART, 1, 1, 40003, 0, 0, 1, false},
        {HISTO_U16, 16, HISTO_PAIRS_RING, 1, 1, 40003, 0, 1, 500, false},
        {HISTO_U16, 16, HISTO_PAIRS_APART, 2, 1, 20001, 0, 1, 0, false},
        {HISTO_U16, 5, HISTO_PAIRS_RING, 1, 200, 300, 0, 5, 9000, false},
        {HISTO_U8, 6, HISTO_PAIRS_APART, 1, 200, 301, 1, 2, 12, false},
        {HISTO_U8, 256, HISTO_PAIRS_RING, 1, 1, 3001, 0, 0, 20, false},
        {HISTO_U16, 255, HISTO_PAIRS_RING, 1, 1, 301, 0, 5, 0, false},
        {HISTO_U8, 16, HISTO_PAIRS_RING, 1, 1, 40003, 0, 6, 30, true},
        {HISTO_U16, 256, HISTO_PAIRS_RING, 1, 1, 301, 0, 7, 0, true},
    };
    rng r = {.state = 42};
    int round = 0;
    for (int i = 0; i < (int)(sizeof large / sizeof large[0]); i++, round++)
        if (is_chosen()) check_stack(&r, &large[i], round);
    for (; round < 120; round++) {
        stack s = {.dtype = rng_below(&r, 2) ? HISTO_U16 : HISTO_U8,
                   .pairs = rng_below(&r, 2) ? HISTO_PAIRS_RING : HISTO_PAIRS_APART,
                   .images = 2 + (int)rng_below(&r, round % 5 ? 16 : 40),
                   .batch = 1 + rng_below(&r, 3),
                   .height = 1 + rng_below(&r, 6),
                   .width = 1 + rng_below(&r, round % 3 ? 300 : 20),
                   .layout = round % LAYOUTS,
                   .axes = 2 + (int)rng_below(&r, AXES - 2),
                   .noise = (int)rng_below(&r, 4) * 7,
                   .relative = rng_below(&r, 4) == 0};
        if (s.pairs == HISTO_PAIRS_APART) s.images += s.images % 2;
        if (is_chosen()) check_stack(&r, &s, round);
    }
}

/* Unsupported pairs give a message. */
static void no_pairs(void **state)
{
    (void)state;
    uint8_t pixels[64] = {0};
    const int64_t shape[] = {4, 16}, many[] = {1000, 0};
    histo_axis axes[] = {histo_axis_integer(-4, 8), histo_axis_integer(0, 4)};
    histo_hist *h, *one, *weighted;
    OK(histo_hist_create(&h, 2, axes, NULL));
    OK(histo_hist_create(&one, 1, axes, NULL));
    OK(histo_hist_create(&weighted, 2, axes, &(histo_hist_options){.weighting = HISTO_WEIGHT_FAST}));
    histo_view some = histo_view_nd(pixels, HISTO_U8, 2, shape), odd = some, plain = histo_view_1d(pixels, HISTO_U8, 1);
    histo_view floats = histo_view_nd(pixels, HISTO_F16, 2, shape), empty = histo_view_nd(NULL, HISTO_U8, 2, many);
    histo_view none = histo_view_nd(pixels, HISTO_U8, 0, NULL), nothing = some;
    odd.shape[0] = 3;
    nothing.shape[1] = 0;
    const histo_pairs ring = {.pairing = HISTO_PAIRS_RING}, apart = {.pairing = HISTO_PAIRS_APART};
    REFUSED(HISTO_INVALID, "pairs are NULL", histo_hist_fill_pairs(h, &some, NULL, NULL));
    REFUSED(HISTO_INVALID, "unknown pairs 7",
            histo_hist_fill_pairs(h, &some, &(histo_pairs){.pairing = (histo_pairing)7}, NULL));
    REFUSED(HISTO_INVALID, "not on 1", histo_hist_fill_pairs(one, &some, &ring, NULL));
    REFUSED(HISTO_INVALID, "not of f16", histo_hist_fill_pairs(h, &floats, &ring, NULL));
    REFUSED(HISTO_INVALID, "2 to 256 images", histo_hist_fill_pairs(h, &plain, &ring, NULL));
    REFUSED(HISTO_INVALID, "2 to 256 images", histo_hist_fill_pairs(h, &none, &ring, NULL));
    REFUSED(HISTO_INVALID, "not of 1000", histo_hist_fill_pairs(h, &empty, &ring, NULL));
    REFUSED(HISTO_INVALID, "3 images cannot be paired apart", histo_hist_fill_pairs(h, &odd, &apart, NULL));
    REFUSED(HISTO_INVALID, "without weights", histo_hist_fill_pairs(weighted, &some, &ring, NULL));
    REFUSED(HISTO_INVALID, "without weights, mask",
            histo_hist_fill_pairs(h, &some, &ring, &(histo_fill_options){.mask = &some}));
    histo_tally tally;
    OK(histo_hist_fill_pairs(h, &nothing, &ring, NULL));
    OK(histo_hist_tally(h, &tally));
    assert_int_equal(tally.samples, 0);
    OK(histo_hist_fill_pairs(h, &odd, &ring, NULL));
    OK(histo_hist_fill_pairs(h, &some, &apart, NULL));
    OK(histo_hist_tally(h, &tally));
    assert_int_equal(tally.bins, 3 * 16 + 4 / 2 * 16);
    histo_hist_destroy(h);
    histo_hist_destroy(one);
    histo_hist_destroy(weighted);
}

/* ---- Weights ---- */

enum {
    WEIGHTS_BINS = 60,
    WEIGHTS_SLOTS = WEIGHTS_BINS + 3,
    WEIGHTS_BATCH = 3,
    WEIGHTS_ALL = WEIGHTS_BATCH * WEIGHTS_SLOTS
};

typedef struct sums {
    uint64_t counts[WEIGHTS_ALL];
    double w[WEIGHTS_ALL], w2[WEIGHTS_ALL];
} sums;

static bool with_squares(histo_weighting weighting)
{
    return weighting == HISTO_WEIGHT_FAST || weighting == HISTO_WEIGHT_REPRODUCIBLE;
}

/* False if the strategy does not support it. views: samples and weights. */
static bool sum_weights(const char *strategy, const histo_axis *axis, histo_weighting weighting,
                        const histo_view views[2], const char *params, sums *out)
{
    histo_hist *h;
    histo_plan *plan = NULL;
    OK(histo_hist_create(&h, 1, axis, &(histo_hist_options){.batch = WEIGHTS_BATCH, .weighting = weighting}));
    histo_fill_options options = {.weights = &views[1]};
    if (!params)
        plan = plan_for(strategy, h, &views[0], &options, 2);
    else
        OK(histo_plan_create(&plan, h, &views[0], &options,
                             &(histo_plan_options){.strategy = strategy, .params = params}));
    if (plan) {
        OK(histo_plan_fill(plan, h, &views[0], &options));
        OK(histo_hist_read_counts(h, HISTO_FLOW, out->counts, WEIGHTS_ALL, NULL));
        OK(histo_hist_read_weights(h, HISTO_FLOW, out->w, with_squares(weighting) ? out->w2 : NULL, WEIGHTS_ALL, NULL));
    }
    histo_plan_destroy(plan);
    histo_hist_destroy(h);
    return plan;
}

/* A fast sum is close to the exact sum of n numbers with total magnitude `all`. */
static bool is_near(double fast, double exact, double all, uint64_t n)
{
    if (isnan(exact)) return isnan(fast);
    if (!(all < HUGE_VAL / 2)) return true; /* whether intermediate sums overflow depends on the order */
    return fabs(fast - exact) <= (double)n * 0x1p-53 * all;
}

static void compare_sums(const char *what, histo_weighting weighting, const sums *got, const sums *exact,
                         const sums *magnitudes)
{
    bool reproducible = weighting == HISTO_WEIGHT_REPRODUCIBLE || weighting == HISTO_WEIGHT_REPRODUCIBLE_SUM;
    assert_memory_equal(got->counts, exact->counts, sizeof exact->counts);
    for (int s = 0; s < WEIGHTS_ALL; s++)
        for (int power = 0; power < 1 + with_squares(weighting); power++) {
            const double *x = power ? got->w2 : got->w, *y = power ? exact->w2 : exact->w;
            bool same = memcmp(&x[s], &y[s], sizeof x[s]) == 0 || (isnan(x[s]) && isnan(y[s]));
            double all = power ? exact->w2[s] : magnitudes->w[s];
            if (reproducible ? !same : !is_near(x[s], y[s], all, exact->counts[s]))
                fail_msg("%s: slot %d has a sum of w^%d of %a, should have %a", what, s, power + 1, x[s], y[s]);
        }
}

/* Weights over so many powers of two that no window of exponents fits all, and non-finite ones. */
static double wild_weight(rng *r)
{
    static const double rare[] = {0, -0.0, 0x1p-149, -0x1.8p-130, 3e38, -3e38, 0x1p-1074, 1e300, -1e300};
    int64_t kind = rng_below(r, 100);
    if (kind < 9) return rare[kind];
    if (kind == 9) return rng_below(r, 50) ? 1 : rng_below(r, 2) ? HUGE_VAL : -HUGE_VAL;
    if (kind == 10) return rng_below(r, 50) ? -1 : (double)NAN;
    return ldexp(rng_uniform(r) - 0.5, (int)rng_below(r, kind < 40 ? 80 : 12) - (kind < 40 ? 40 : 6));
}

/* Weights of similar magnitude, or all zero, at a new magnitude in each stretch; few stretches are wild. */
static double tame_weight(rng *r, int64_t at)
{
    enum { STRETCH = 700, STRETCHES = 11 };
    int64_t stretch = at / STRETCH * 7 % STRETCHES;
    if (stretch == 0) return wild_weight(r);
    if (stretch == 1 || rng_below(r, 50) == 0) return rng_below(r, 2) ? 0 : -0.0;
    return ldexp(rng_uniform(r) - 0.5, (int)(20 * stretch) - 120);
}

/* Weights of every dtype with samples of some, all weightings: reproducible sums match the oracle's bits, fast sums
 * stay within their error bound. Contiguous, misaligned by one sample, and every second sample. */
static void weights(void **state)
{
    (void)state;
    enum { N = 9000, KINDS = 5 };
    static const histo_dtype dtypes[] = {HISTO_F32, HISTO_F64, HISTO_U32, HISTO_U8, HISTO_I32, HISTO_U16, HISTO_I64};
    rng r = {.state = 20};
    histo_axis around = histo_axis_regular(WEIGHTS_BINS, -1000, 1000);
    double *magnitudes = malloc(2 * N * sizeof *magnitudes);
    for (int i = 0; i < HISTO_DTYPE_COUNT * KINDS; i++) {
        histo_dtype dtype = (histo_dtype)(i / KINDS), samples_dtype = dtypes[i % 7];
        int kind = i % KINDS, step = kind == 3 ? 2 : 1, offset = kind == 1;
        int64_t size = (int64_t)histo_dtype_size(dtype), samples_size = (int64_t)histo_dtype_size(samples_dtype);
        histo_axis axis;
        axis = histo_axis_regular(WEIGHTS_BINS, 0, samples_dtype == HISTO_U8 ? 100 : 1000);
        distribution d = kind == 0   ? GAUSSIAN
                         : kind == 1 ? UNIFORM
                         : kind == 2 ? DEGENERATE
                                     : ZIPF; /* kind 4: tame weights */
        char *x = make_samples(&r, samples_dtype, d, &axis, 2 * N + 1);
        char *w = make_samples(&r, dtype, kind % 2 ? SPECIAL : EDGES, &around, 2 * N + 1);
        for (int k = 0; (kind == 2 || kind == 4) && k < 2 * N + 1; k++) {
            double weight = kind == 2 ? wild_weight(&r) : tame_weight(&r, k);
            if (dtype == HISTO_F32) ((float *)w)[k] = (float)weight;
            if (dtype == HISTO_F64) ((double *)w)[k] = weight;
        }
        const int64_t shape[2] = {WEIGHTS_BATCH, N / WEIGHTS_BATCH};
        histo_view views[2] = {histo_view_nd(x + offset * samples_size, samples_dtype, 2, shape),
                               histo_view_nd(w + offset * size, dtype, 2, shape)};
        for (int v = 0; v < 2; v++) {
            views[v].batch_ndim = 1;
            views[v].strides[0] *= step;
            views[v].strides[1] *= step;
        }
        for (int64_t k = 0; k < N; k++)
            magnitudes[k] = (double)fabsl(sample_value(element(&views[1], k), dtype));
        histo_view of_magnitudes[2] = {views[0], histo_view_nd(magnitudes, HISTO_F64, 2, shape)};
        of_magnitudes[1].batch_ndim = 1;
        sums exact, magnitude, got;
        sum_weights("cpu/sequential", &axis, HISTO_WEIGHT_REPRODUCIBLE, views, "", &exact);
        sum_weights("cpu/sequential", &axis, HISTO_WEIGHT_REPRODUCIBLE, of_magnitudes, "", &magnitude);
        for (int s = 0; s < histo_strategy_count(); s++) {
            char name[64], what[160];
            if (!row_name(s, name) || !is_chosen()) continue;
            bool cuda = strncmp(name, "cuda/", 5) == 0;
            placed memory = {0};
            histo_view copies[2];
            for (int v = 0; v < 2; v++)
                copies[v] = *place(&memory, &views[v], cuda && i % 5, &copies[v]);
            for (int weighting = HISTO_WEIGHT_FAST; weighting <= HISTO_WEIGHT_REPRODUCIBLE_SUM; weighting++) {
                if (!sum_weights(name, &axis, (histo_weighting)weighting, copies, NULL, &got)) break;
                snprintf(what, sizeof what, "%s, weights %s kind %d, samples %s, weighting %d", name,
                         histo_dtype_name(dtype), kind, histo_dtype_name(samples_dtype), weighting);
                compare_sums(what, (histo_weighting)weighting, &got, &exact, &magnitude);
                if (strcmp(name, "cuda/weighted_private") != 0) continue;
                static const char *const params[] = {"lanes=32", "lanes=16,blocks=2", "lanes=8,threads=96", "blocks=1"};
                for (int p = 0; p < 4; p++) {
                    sum_weights(name, &axis, (histo_weighting)weighting, copies, params[p], &got);
                    compare_sums(what, (histo_weighting)weighting, &got, &exact, &magnitude);
                }
            }
            displace(&memory);
        }
        free(x);
        free(w);
    }
    free(magnitudes);
}

/* ---- Weights in more bins than fit on a chip ---- */

enum { MANY_BINS = 30000, MANY_BATCH = 2, MANY_SLOTS = MANY_BATCH * (MANY_BINS + 3) };

typedef struct many_sums {
    uint64_t counts[MANY_SLOTS];
    double w[MANY_SLOTS], w2[MANY_SLOTS];
} many_sums;

/* False if the strategy does not support it. */
static bool sum_many(const char *strategy, const histo_axis *axis, histo_weighting weighting, const histo_view *samples,
                     const histo_fill_options *options, const char *params, many_sums *out)
{
    histo_hist *h;
    histo_plan *plan = NULL;
    OK(histo_hist_create(&h, 1, axis, &(histo_hist_options){.batch = MANY_BATCH, .weighting = weighting}));
    if (!params)
        plan = plan_for(strategy, h, samples, options, 2);
    else
        OK(histo_plan_create(&plan, h, samples, options,
                             &(histo_plan_options){.strategy = strategy, .params = params}));
    memset(out, 0, sizeof *out);
    if (plan) {
        OK(histo_plan_fill(plan, h, samples, options));
        OK(histo_hist_read_counts(h, HISTO_FLOW, out->counts, MANY_SLOTS, NULL));
        OK(histo_hist_read_weights(h, HISTO_FLOW, out->w, with_squares(weighting) ? out->w2 : NULL, MANY_SLOTS, NULL));
    }
    histo_plan_destroy(plan);
    histo_hist_destroy(h);
    return plan;
}

static void compare_many(const char *what, histo_weighting weighting, const many_sums *got, const many_sums *exact)
{
    bool reproducible = weighting == HISTO_WEIGHT_REPRODUCIBLE || weighting == HISTO_WEIGHT_REPRODUCIBLE_SUM;
    assert_memory_equal(got->counts, exact->counts, sizeof exact->counts);
    for (int s = 0; s < MANY_SLOTS; s++)
        for (int power = 0; power < 1 + with_squares(weighting); power++) {
            double x = power ? got->w2[s] : got->w[s], y = power ? exact->w2[s] : exact->w[s];
            if (reproducible ? x != y : !is_near(x, y, y, exact->counts[s] + 2)) /* u64 is rounded first */
                fail_msg("%s: slot %d has a sum of w^%d of %a, should have %a", what, s, power + 1, x, y);
        }
}

/* Weights above 0, with a mask; all in one bin, in a few, spread, and in order. */
static void weights_of_many_bins(void **state)
{
    (void)state;
    enum { N = 50000 };
    static const histo_dtype dtypes[] = {HISTO_F32, HISTO_F64, HISTO_U16, HISTO_U64};
    static const distribution distributions[] = {UNIFORM, DEGENERATE, ZIPF, SORTED};
    rng r = {.state = 21};
    histo_axis axis = histo_axis_regular(MANY_BINS, 0, 1000);
    many_sums *exact = malloc(sizeof *exact), *got = malloc(sizeof *got);
    char *mask = malloc(N), *w = malloc(N * sizeof(double));
    for (int i = 0; i < 16; i++) {
        const histo_dtype dtype = dtypes[i % 4];
        char *x = make_samples(&r, i % 3 ? HISTO_F64 : HISTO_F32, distributions[i / 4], &axis, N);
        for (int k = 0; k < N; k++) {
            const double weight = ldexp(1 + rng_uniform(&r), (int)rng_below(&r, k % 5 ? 12 : 40));
            if (dtype == HISTO_F32) ((float *)w)[k] = (float)weight;
            if (dtype == HISTO_F64) ((double *)w)[k] = weight;
            if (dtype == HISTO_U16) ((uint16_t *)w)[k] = (uint16_t)(1 + rng_below(&r, 65535));
            if (dtype == HISTO_U64) ((uint64_t *)w)[k] = (uint64_t)weight << (k % 9 ? 0 : 20) | 1;
            mask[k] = rng_below(&r, 3) > 0;
        }
        const int64_t shape[2] = {MANY_BATCH, N / MANY_BATCH};
        histo_view views[3] = {histo_view_nd(x, i % 3 ? HISTO_F64 : HISTO_F32, 2, shape),
                               histo_view_nd(w, dtype, 2, shape), histo_view_nd(mask, HISTO_U8, 2, shape)};
        for (int v = 0; v < 3; v++)
            views[v].batch_ndim = 1;
        const histo_fill_options all = {.weights = &views[1], .mask = &views[2]};
        sum_many("cpu/sequential", &axis, HISTO_WEIGHT_REPRODUCIBLE, &views[0], &all, "", exact);
        for (int s = 0; s < histo_strategy_count(); s++) {
            char name[64], what[160];
            if (!row_name(s, name) || !is_chosen()) continue;
            placed memory = {0};
            histo_view copies[3];
            for (int v = 0; v < 3; v++)
                copies[v] = *place(&memory, &views[v], strncmp(name, "cuda/", 5) == 0 && i % 5, &copies[v]);
            const histo_fill_options options = {.weights = &copies[1], .mask = &copies[2]};
            for (int weighting = HISTO_WEIGHT_FAST; weighting <= HISTO_WEIGHT_REPRODUCIBLE_SUM; weighting++) {
                if (!sum_many(name, &axis, (histo_weighting)weighting, &copies[0], &options, NULL, got)) break;
                snprintf(what, sizeof what, "%s, weights %s, distribution %d, weighting %d", name,
                         histo_dtype_name(dtype), i / 4, weighting);
                compare_many(what, (histo_weighting)weighting, got, exact);
                if (strcmp(name, "cuda/weighted_partition") != 0) continue;
                sum_many(name, &axis, (histo_weighting)weighting, &copies[0], &options, "slice=8192", got);
                compare_many(what, (histo_weighting)weighting, got, exact);
            }
            displace(&memory);
        }
        free(x);
    }
    free(exact);
    free(got);
    free(mask);
    free(w);
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

/* Report the comparisons of GPU strategies, and check that every row supported some case, if all cases were run. */
static void rows(void **state)
{
    (void)state;
    print_message("CUDA strategies: %ld comparisons made, %ld unsupported, %ld SKIPPED%s%s\n", on_gpu.made,
                  on_gpu.unsupported, on_gpu.skipped, on_gpu.skipped ? ": " : "",
                  on_gpu.skipped ? device_missing() : "");
    long skipped = on_gpu.skipped;
    char name[64];
    for (int s = 0; s < histo_strategy_count(); s++)
        if (row_name(s, name) && !counted[s] && !getenv("HISTO_TEST_EVERY")) fail_msg("%s supports no case", name);
    if (skipped) skip();
}

static int print_rows(void)
{
    histo_strategy_info info;
    for (int s = 0; s < histo_strategy_count(); s++) {
        if (histo_strategy_describe(s, &info) != HISTO_OK) return 1;
        printf("%s/%s\n", info.backend, info.name);
    }
    return 0;
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
        cmocka_unit_test(joint),
        cmocka_unit_test(tables),
        cmocka_unit_test(pairs),
        cmocka_unit_test(no_pairs),
        cmocka_unit_test(weights),
        cmocka_unit_test(weights_of_many_bins),
        cmocka_unit_test(parameters),
        cmocka_unit_test(rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
