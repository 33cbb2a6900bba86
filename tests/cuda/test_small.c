/* Fills of few samples on a GPU, in all or in each batch entry: random problems, compared with the edges. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/data.h"
#include "support/device.h"
#include "support/same.h"

enum { DIMS = 3 };

/* A problem: samples of a batch of rows, ragged or in two batch dimensions at strides, and perhaps a mask. */
typedef struct problem {
    histo_dtype dtype;
    histo_axis axis;
    histo_view samples, mask;
    void *data;
    uint8_t *mask_data;
    int64_t batch;
    int64_t *offsets; /* [batch + 1], or NULL */
} problem;

/* The axes of data.h, and some with more bins. */
static histo_axis random_axis(rng *r, histo_dtype dtype)
{
    histo_axis axis;
    int axes = 0;
    while (test_axis(axes, dtype, &axis))
        axes++;
    int which = (int)rng_below(r, axes + 4);
    if (test_axis(which, dtype, &axis)) return axis;
    const int64_t bins[] = {1 + rng_below(r, 400), 5000, 20000, 100003};
    return histo_axis_regular(bins[which - axes], -7, 30000);
}

static int64_t random_length(rng *r, int bits)
{
    const int64_t power = INT64_C(1) << rng_below(r, bits);
    return power + rng_below(r, power);
}

/* Contiguous entries at random distances, from an odd sample on. */
static void lay_out(rng *r, problem *p)
{
    const int64_t size = (int64_t)histo_dtype_size(p->dtype);
    const bool is_batch = rng_below(r, 3) > 0, is_ragged = is_batch && rng_below(r, 3) == 0;
    const int64_t outer = is_batch && !is_ragged ? 1 + rng_below(r, 4) : 1, inner = is_batch ? random_length(r, 10) : 1;
    const int64_t length = random_length(r, is_batch ? 9 : 17), pitch = length + rng_below(r, 3) * rng_below(r, 20);
    const int64_t plane = inner * pitch + rng_below(r, 2) * rng_below(r, 50), first = rng_below(r, 9);
    const int64_t n = first + outer * plane;
    p->batch = outer * inner;
    p->data = make_samples(r, p->dtype, (distribution)rng_below(r, DISTRIBUTIONS), &p->axis, n);
    p->samples = (histo_view){.data = (const char *)p->data + first * size,
                              .dtype = p->dtype,
                              .ndim = DIMS,
                              .batch_ndim = DIMS - 1,
                              .shape = {outer, inner, length},
                              .strides = {plane * size, pitch * size, size}};
    if (is_ragged) {
        const int64_t all = n - first;
        p->samples = histo_view_1d(p->samples.data, p->dtype, all);
        p->offsets = malloc((size_t)(p->batch + 1) * sizeof *p->offsets);
        p->offsets[0] = 0;
        /* Many empty ones, and perhaps one with most samples. */
        const int64_t of_one = rng_below(r, 2) ? all / 2 : 0, lucky = rng_below(r, p->batch);
        for (int64_t e = 0; e < p->batch; e++) {
            const int64_t left = all - p->offsets[e], wanted = rng_below(r, 3) ? rng_below(r, 2 * length) : 0;
            const int64_t count = e == p->batch - 1 ? left : e == lucky ? of_one + wanted : wanted;
            p->offsets[e + 1] = p->offsets[e] + (count < left ? count : left);
        }
    } else if (rng_below(r, 5) == 0) {
        p->mask_data = malloc((size_t)(p->batch * length));
        for (int64_t i = 0; i < p->batch * length; i++)
            p->mask_data[i] = (uint8_t)rng_below(r, 3);
        p->mask = histo_view_nd(p->mask_data, HISTO_U8, DIMS, p->samples.shape);
        p->mask.batch_ndim = DIMS - 1;
    }
}

static void dispose(problem *p)
{
    free(p->data);
    free(p->mask_data);
    free(p->offsets);
}

static void fill_with(histo_hist *h, const histo_plan_options *how, const histo_view *samples,
                      const histo_fill_options *options)
{
    histo_plan *plan;
    OK(histo_plan_create(&plan, h, samples, options, how));
    OK(histo_plan_fill(plan, h, samples, options));
    OK(histo_plan_fill(plan, h, samples, options));
    histo_plan_destroy(plan);
}

/* Fill by a strategy, or by the plan's choice if it is NULL; twice, so that counts add up. */
static void fill(histo_hist *h, const char *strategy, const histo_view *samples, const histo_fill_options *options)
{
    fill_with(h, &(histo_plan_options){.strategy = strategy}, samples, options);
}

static void random_problems(void **state)
{
    (void)state;
    NEEDS_GPU();
    static const char *const strategies[] = {NULL, "cuda/lane_private", "cuda/global_atomic"};
    const int problems = is_sanitized() ? 12 : 600;
    const char *seed = getenv("HISTO_TEST_SEED");
    rng r = {.state = seed ? strtoull(seed, NULL, 10) * 2 + 1 : 20261122};
    for (int i = 0; i < problems; i++) {
        problem p = {.dtype = (histo_dtype)rng_below(&r, HISTO_DTYPE_COUNT)};
        p.axis = random_axis(&r, p.dtype);
        lay_out(&r, &p);
        if (p.batch * p.axis.bins > 2 << 20) { /* too much to compare */
            dispose(&p);
            continue;
        }
        const histo_hist_options kind = {.batch = p.batch};
        histo_view samples, mask, on_host = {0};
        void *memory = device_copy(&p.samples, &samples), *mask_memory = NULL, *offsets_memory = NULL;
        histo_fill_options on_cpu = {.offsets = p.offsets}, on_gpu = on_cpu;
        if (p.mask_data) {
            mask_memory = device_copy(&p.mask, &mask);
            on_cpu.mask = &p.mask;
            on_gpu.mask = &mask;
        }
        if (p.offsets && rng_below(&r, 2)) {
            histo_view offsets = histo_view_1d(p.offsets, HISTO_I64, p.batch + 1);
            offsets_memory = device_copy(&offsets, &on_host);
            on_gpu.offsets = on_host.data;
        }
        histo_hist *expected;
        OK(histo_hist_create(&expected, 1, &p.axis, &kind));
        fill(expected, "cpu/sequential", &p.samples, &on_cpu);
        for (int s = 0; s < 3; s++) {
            char what[256];
            histo_hist *h;
            snprintf(what, sizeof what, "problem %d: type %d, %lld bins, batch %lld, %lld samples, %s%s%s", i, p.dtype,
                     (long long)p.axis.bins, (long long)p.batch, (long long)p.samples.shape[p.samples.ndim - 1],
                     p.offsets ? "ragged, " : "", p.mask_data ? "masked, " : "",
                     strategies[s] ? strategies[s] : "chosen");
            histo_plan *plan;
            OK(histo_hist_create(&h, 1, &p.axis, &kind));
            histo_status can =
                histo_plan_create(&plan, h, &samples, &on_gpu, &(histo_plan_options){.strategy = strategies[s]});
            if (can == HISTO_OK) {
                histo_plan_destroy(plan);
                fill(h, strategies[s], &samples, &on_gpu);
                assert_same_slots(h, expected, what);
                if (strategies[s]) { /* again from host memory, in chunks */
                    OK(histo_hist_reset(h, NULL));
                    fill(h, strategies[s], &p.samples, &on_cpu);
                    assert_same_slots(h, expected, what);
                }
            } else {
                assert_int_equal(can, HISTO_UNSUPPORTED);
            }
            histo_hist_destroy(h);
        }
        histo_hist_destroy(expected);
        device_free(memory);
        if (mask_memory) device_free(mask_memory);
        if (offsets_memory) device_free(offsets_memory);
        dispose(&p);
    }
}

/* The kernels that are compiled for few samples: whatever the layout, with a mask or a filter. */
static void compiled_problems(void **state)
{
    (void)state;
    NEEDS_GPU();
    const int problems = is_sanitized() ? 3 : 40;
    const histo_plan_options compiled = {.effort = HISTO_COMPILE, .strategy = "cuda/global_atomic"};
    rng r = {.state = 77};
    for (int i = 0; i < problems;) {
        problem p = {.dtype = (histo_dtype)rng_below(&r, HISTO_DTYPE_COUNT)};
        p.axis = random_axis(&r, p.dtype);
        lay_out(&r, &p);
        if (p.batch * p.axis.bins > 1 << 20) {
            dispose(&p);
            continue;
        }
        char what[256];
        snprintf(what, sizeof what, "problem %d: type %d, %lld bins, batch %lld%s%s", i, p.dtype,
                 (long long)p.axis.bins, (long long)p.batch, p.offsets ? ", ragged" : "",
                 p.mask_data ? ", masked" : "");
        const histo_hist_options kind = {.batch = p.batch};
        histo_view samples, mask;
        void *memory = device_copy(&p.samples, &samples), *mask_memory = NULL;
        histo_fill_options on_cpu = {.offsets = p.offsets}, on_gpu = on_cpu;
        if (p.mask_data) {
            mask_memory = device_copy(&p.mask, &mask);
            on_cpu.mask = &p.mask;
            on_gpu.mask = &mask;
        }
        if (rng_below(&r, 3) == 0) { /* the samples themselves are filtered */
            on_cpu.where = &p.samples;
            on_gpu.where = &samples;
            on_cpu.where_lo = on_gpu.where_lo = -100;
            on_cpu.where_hi = on_gpu.where_hi = 100.5;
        }
        histo_hist *h, *expected;
        OK(histo_hist_create(&h, 1, &p.axis, &kind));
        OK(histo_hist_create(&expected, 1, &p.axis, &kind));
        fill(expected, "cpu/sequential", &p.samples, &on_cpu);
        fill_with(h, &compiled, &samples, &on_gpu);
        assert_same_slots(h, expected, what);
        histo_hist_destroy(h);
        histo_hist_destroy(expected);
        device_free(memory);
        if (mask_memory) device_free(mask_memory);
        dispose(&p);
        i++;
    }
}

/* More samples than threads: counters of a block, and those that warps keep of many; in one entry and in several. */
static void compiled_steps(void **state)
{
    (void)state;
    NEEDS_GPU();
    static const struct {
        int64_t batch, bins;
        int64_t length;
    } cases[] = {{1, 10, 300001},    {1, 8000, 1 << 20},   {3, 500, 250007},
                 {1, 20000, 777777}, {1, 300000, 1500001}, {5, 9000, 200003}};
    rng r = {.state = 3};
    for (size_t c = 0; c < sizeof cases / sizeof *cases && !is_sanitized(); c++)
        for (int d = 0; d < DISTRIBUTIONS; d++) {
            const int64_t n = cases[c].batch * cases[c].length;
            const histo_axis axis = histo_axis_regular(cases[c].bins, -7, 30000);
            const histo_hist_options kind = {.batch = cases[c].batch};
            const histo_plan_options compiled = {.effort = HISTO_COMPILE, .strategy = "cuda/global_atomic"};
            float *x = make_samples(&r, HISTO_F32, (distribution)d, &axis, n);
            histo_view host = histo_view_nd(x, HISTO_F32, 2, (int64_t[]){cases[c].batch, cases[c].length}), device;
            host.batch_ndim = 1;
            void *memory = device_copy(&host, &device);
            histo_hist *h, *expected;
            char what[80];
            snprintf(what, sizeof what, "case %d, distribution %d", (int)c, d);
            OK(histo_hist_create(&h, 1, &axis, &kind));
            OK(histo_hist_create(&expected, 1, &axis, &kind));
            fill(expected, "cpu/sequential", &host, NULL);
            fill_with(h, &compiled, &device, NULL);
            assert_same_slots(h, expected, what);
            histo_hist_destroy(h);
            histo_hist_destroy(expected);
            device_free(memory);
            free(x);
        }
}

/* Sums of weights that lanes with the same counter add up first: infinities, NaN and weights of all sizes among them.
 * Whole numbers have the same sums in any order. */
static void compiled_weights(void **state)
{
    (void)state;
    NEEDS_GPU();
    enum { N = 3001, BINS = 7, SLOTS = BINS + 3 };
    static const histo_weighting modes[] = {HISTO_WEIGHT_FAST, HISTO_WEIGHT_FAST_SUM, HISTO_WEIGHT_REPRODUCIBLE,
                                            HISTO_WEIGHT_REPRODUCIBLE_SUM};
    static const histo_dtype dtypes[] = {HISTO_F32, HISTO_F64, HISTO_I64, HISTO_U8};
    const histo_axis axis = histo_axis_regular(BINS, 0, 1);
    rng r = {.state = 9};
    float *x = make_samples(&r, HISTO_F32, UNIFORM, &axis, N);
    histo_view host = histo_view_1d(x, HISTO_F32, N), device;
    void *memory = device_copy(&host, &device);
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
        const size_t size = histo_dtype_size(dtypes[d]);
        char *w = calloc(N, size);
        for (int i = 0; i < N; i++) {
            const int64_t whole = (int64_t)rng_below(&r, 200) - (d < 3 ? 100 : 0);
            const double number = (double)whole * (rng_below(&r, 2) ? 1 : 0x1p12);
            const float single = (float)number;
            const uint8_t byte = (uint8_t)whole;
            const int64_t integer = (int64_t)number;
            memcpy(w + (size_t)i * size,
                   d == 0   ? (const void *)&single
                   : d == 1 ? (const void *)&number
                   : d == 2 ? (const void *)&integer
                            : (const void *)&byte,
                   size);
        }
        histo_view host_weights = histo_view_1d(w, dtypes[d], N), device_weights;
        void *weights_memory = device_copy(&host_weights, &device_weights);
        for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
            const histo_hist_options kind = {.weighting = modes[m]};
            const bool squares = modes[m] == HISTO_WEIGHT_FAST || modes[m] == HISTO_WEIGHT_REPRODUCIBLE;
            const histo_fill_options on_cpu = {.weights = &host_weights}, on_gpu = {.weights = &device_weights};
            const histo_plan_options compiled = {.effort = HISTO_COMPILE, .strategy = "cuda/global_atomic"};
            double sums[2][2][SLOTS];
            histo_hist *h[2];
            for (int on_device = 0; on_device < 2; on_device++) {
                OK(histo_hist_create(&h[on_device], 1, &axis, &kind));
                if (on_device)
                    fill_with(h[1], &compiled, &device, &on_gpu);
                else
                    fill(h[0], "cpu/sequential", &host, &on_cpu);
                OK(histo_hist_read_weights(h[on_device], HISTO_FLOW, sums[on_device][0],
                                           squares ? sums[on_device][1] : NULL, SLOTS, NULL));
            }
            for (int s = 0; s < 1 + squares; s++)
                for (int i = 0; i < SLOTS; i++)
                    if (sums[0][s][i] != sums[1][s][i])
                        fail_msg("weights of type %d, mode %d, sum %d of slot %d: %.17g, not %.17g", dtypes[d],
                                 (int)modes[m], s, i, sums[1][s][i], sums[0][s][i]);
            assert_same_slots(h[1], h[0], "with weights");
            histo_hist_destroy(h[0]);
            histo_hist_destroy(h[1]);
        }
        device_free(weights_memory);
        free(w);
    }
    device_free(memory);
    free(x);
}

/* So many images of bytes that each is for a warp: one row or several, anywhere in memory, also from bottom to top. */
static void thousands_of_images(void **state)
{
    (void)state;
    NEEDS_GPU();
    enum { NDIM = 4 };
    const int problems = is_sanitized() ? 2 : 24;
    rng r = {.state = 5};
    for (int i = 0; i < problems; i++) {
        const histo_dtype dtype = rng_below(&r, 3) ? HISTO_U8 : HISTO_I8;
        const int64_t outer = 1 + rng_below(&r, 3), inner = 4096 + rng_below(&r, 300);
        const int64_t rows = rng_below(&r, 2) ? 1 : 2 + rng_below(&r, 9);
        const int64_t width = rng_below(&r, 2) ? 1 + rng_below(&r, 120) : 8 * (1 + rng_below(&r, 12));
        const int64_t pitch = width + (rng_below(&r, 2) ? rng_below(&r, 20) : 0);
        const int64_t image = rows * pitch + (rng_below(&r, 2) ? rng_below(&r, 30) : 0), plane = inner * image;
        const int64_t first = rng_below(&r, 9), n = first + outer * plane;
        const bool is_flipped = rng_below(&r, 3) == 0;
        const histo_axis axis =
            rng_below(&r, 2) ? random_axis(&r, dtype) : histo_axis_integer(dtype == HISTO_U8 ? 0 : -128, 256);
        if (outer * inner * axis.bins > 4 << 20) continue;
        char *data = make_samples(&r, dtype, (distribution)rng_below(&r, DISTRIBUTIONS), &axis, n);
        histo_view all = histo_view_1d(data, dtype, n), on_device;
        void *memory = device_copy(&all, &on_device);
        histo_view host = {.data = data + first + (is_flipped ? (rows - 1) * pitch : 0),
                           .dtype = dtype,
                           .ndim = NDIM,
                           .batch_ndim = 2,
                           .shape = {outer, inner, rows, width},
                           .strides = {plane, image, is_flipped ? -pitch : pitch, 1}};
        histo_view device = host;
        device.data = (const char *)on_device.data + ((const char *)host.data - data);
        const histo_hist_options kind = {.batch = outer * inner};
        histo_hist *h, *expected;
        char what[160];
        snprintf(what, sizeof what, "problem %d: %d images of %d x %d bytes, pitch %d, %d bins", i,
                 (int)(outer * inner), (int)rows, (int)width, (int)pitch, (int)axis.bins);
        OK(histo_hist_create(&h, 1, &axis, &kind));
        OK(histo_hist_create(&expected, 1, &axis, &kind));
        fill(expected, "cpu/sequential", &host, NULL);
        fill(h, "cuda/lane_private", &device, NULL);
        assert_same_slots(h, expected, what);
        histo_hist_destroy(h);
        histo_hist_destroy(expected);
        device_free(memory);
        free(data);
    }
}

/* More entries than blocks, of fewer samples than slots; and many samples in one of a million segments. */
static void a_million_entries(void **state)
{
    (void)state;
    NEEDS_GPU();
    const int64_t batch = is_sanitized() ? 1000 : 1 << 20, length = 37, n = batch * length;
    histo_axis axis = histo_axis_regular(30, 0, 1);
    const histo_hist_options kind = {.batch = batch};
    rng r = {.state = 5};
    float *data = make_samples(&r, HISTO_F32, UNIFORM, &axis, n);
    int64_t *offsets = malloc((size_t)(batch + 1) * sizeof *offsets);
    for (int64_t e = 0; e <= batch; e++)
        offsets[e] = e < batch / 3 ? e : n - (batch - e) / 2;
    histo_view host = histo_view_nd(data, HISTO_F32, 2, (int64_t[]){batch, length}), device;
    host.batch_ndim = 1;
    histo_view line = histo_view_1d(data, HISTO_F32, n), device_line;
    void *memory = device_copy(&host, &device), *line_memory = device_copy(&line, &device_line);
    const histo_fill_options ragged = {.offsets = offsets};
    histo_hist *h, *e;
    OK(histo_hist_create(&h, 1, &axis, &kind));
    OK(histo_hist_create(&e, 1, &axis, &kind));
    fill(h, "cuda/lane_private", &device, NULL);
    fill(e, "cpu/sequential", &host, NULL);
    assert_same_slots(h, e, "rows");
    fill(h, "cuda/lane_private", &device_line, &ragged);
    fill(e, "cpu/sequential", &line, &ragged);
    assert_same_slots(h, e, "segments");
    histo_hist_destroy(h);
    histo_hist_destroy(e);
    device_free(memory);
    device_free(line_memory);
    free(offsets);
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_problems),  cmocka_unit_test(compiled_problems), cmocka_unit_test(compiled_steps),
        cmocka_unit_test(compiled_weights), cmocka_unit_test(a_million_entries), cmocka_unit_test(thousands_of_images),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
