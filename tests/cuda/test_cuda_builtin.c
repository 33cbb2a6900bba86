/* Everyday problems on a GPU, in a process that has compiled nothing and has an empty kernel cache: their kernels are
 * built in, and count what the CPU counts. */
#include <cuda_runtime_api.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda/builtin/problems.h"
#include "cuda/jit/builtin.h"
#include "support/data.h"
#include "support/device.h"
#include "support/same.h"
#include "view/dtype.h"

enum { PERIOD = 1000003 /* samples, after which they repeat */, LARGE = 1 << 20, NAME = 128, TEXT = 8192 };

/* PERIOD samples of a dtype: floats of which some are beyond 0 and 1, integers of any value below `most`. */
static void *make_period(histo_dtype dtype, uint32_t most)
{
    rng r = {.state = 7 + (uint64_t)dtype + most};
    const size_t size = histo_dtype_size(dtype);
    char *period = malloc(PERIOD * size);
    assert_non_null(period);
    for (int64_t i = 0; i < PERIOD; i++) {
        const double x = (double)rng_below(&r, 1 << 20) / (1 << 20) * 1.1 - 0.05;
        const uint64_t whole = (uint64_t)rng_below(&r, most);
        const float f = (float)x;
        uint32_t bits;
        memcpy(&bits, &f, sizeof bits);
        const uint16_t high = (uint16_t)(bits >> 16); /* bfloat16 */
        /* binary16 from 0.0625 to 1: an exponent of 11 to 14, and any fraction */
        const uint16_t half = (uint16_t)((11 + whole % 4) << 10 | (whole >> 2 & 0x3ff));
        const void *from = dtype == HISTO_F64    ? (const void *)&x
                           : dtype == HISTO_F32  ? (const void *)&f
                           : dtype == HISTO_F16  ? (const void *)&half
                           : dtype == HISTO_BF16 ? (const void *)&high
                                                 : (const void *)&whole; /* little-endian */
        memcpy(period + (size_t)i * size, from, size);
    }
    return period;
}

/* Write samples wherever the view reaches. */
static void write_samples(const histo_view *view, char *memory, uint32_t most)
{
    static struct {
        histo_dtype dtype;
        uint32_t most;
        void *period;
    } known[32];
    int k = 0;
    while (known[k].period && !(known[k].dtype == view->dtype && known[k].most == most))
        k++;
    if (!known[k].period) {
        known[k].dtype = view->dtype;
        known[k].most = most;
        known[k].period = make_period(view->dtype, most);
    }
    const size_t size = histo_dtype_size(view->dtype);
    size_t bytes = size;
    for (int d = 0; d < view->ndim; d++)
        bytes += (size_t)((view->shape[d] - 1) * view->strides[d]);
    for (size_t at = 0; at < bytes; at += PERIOD * size)
        memcpy(memory + at, known[k].period, bytes - at < PERIOD * size ? bytes - at : PERIOD * size);
}

/* Values that are spread over the axis of the problem (problems.c). */
static uint32_t most_of(histo_dtype dtype)
{
    const size_t size = histo_dtype_size(dtype);
    return size == 1 ? 256 : size == 2 ? 65536 : 1100;
}

static char *host, *device;
static size_t room;

/* Put the operands of both fills into memory. */
static void write_operands(const everyday_problem *p, const everyday_fill *on_host)
{
    for (int a = 0; a < on_host->naxes; a++) {
        const bool are_labels = a == 0 && p->first_dtype != p->dtype;
        const uint32_t most = are_labels ? (uint32_t)p->first_bins + 1 : most_of(on_host->views[a].dtype);
        write_samples(&on_host->views[a], (char *)(uintptr_t)on_host->views[a].data, most);
    }
    if (on_host->fill.mask) write_samples(&on_host->mask, (char *)(uintptr_t)on_host->mask.data, 2);
    if (on_host->fill.where)
        write_samples(&on_host->where, (char *)(uintptr_t)on_host->where.data, most_of(on_host->where.dtype));
    if (on_host->fill.weights) write_samples(&on_host->weights, (char *)(uintptr_t)on_host->weights.data, 8);
    CUDA_OK(cudaMemcpy(device, host, on_host->bytes, cudaMemcpyHostToDevice));
    CUDA_OK(cudaDeviceSynchronize());
}

/* Sums of weights in any order. */
static void assert_near_sums(const histo_hist *a, const histo_hist *b)
{
    double *sums[] = {sums_of(a), sums_of(b)};
    const int64_t n = 2 * histo_hist_size(a, HISTO_FLOW);
    for (int64_t i = 0; i < n; i++)
        if (fabs(sums[0][i] - sums[1][i]) > 1e-9 * (1 + fabs(sums[1][i])))
            fail_msg("sum %lld of %lld: %.17g, not %.17g", (long long)i, (long long)n, sums[0][i], sums[1][i]);
    free(sums[0]);
    free(sums[1]);
}

typedef struct results {
    int built_in, general, own;
} results;

static void fill_both(const everyday_problem *p, results *r)
{
    everyday_fill on_host, on_device;
    histo_hist *expected, *h;
    histo_plan *plan;
    char text[TEXT], name[NAME];
    everyday_describe(p, host, &on_host);
    everyday_describe(p, device, &on_device);
    assert_true(on_host.bytes <= room);
    write_operands(p, &on_host);
    OK(histo_hist_create(&expected, on_host.naxes, on_host.axes, &on_host.hist));
    OK(histo_hist_create(&h, on_device.naxes, on_device.axes, &on_device.hist));
    OK(histo_plan_create(&plan, expected, on_host.views, &on_host.fill,
                         &(histo_plan_options){.device = HISTO_DEVICE_CPU}));
    OK(histo_plan_fill(plan, expected, on_host.views, &on_host.fill));
    histo_plan_destroy(plan);
    OK(histo_plan_create(&plan, h, on_device.views, &on_device.fill,
                         &(histo_plan_options){.device = HISTO_DEVICE_CUDA(0)}));
    OK(histo_plan_fill(plan, h, on_device.views, &on_device.fill));
    histo_plan_explain(plan, text, sizeof text);
    everyday_name(p, name, sizeof name);
    const bool is_general = strstr(text, "kernel: general"), is_built_in = strstr(text, "built in");
    if (is_general) print_message("%s: %s: no kernel is built in\n", name, histo_plan_strategy(plan));
    r->general += is_general;
    r->built_in += is_built_in && !is_general;
    r->own += !is_built_in && !is_general;
    assert_same_counts(h, expected);
    if (on_host.hist.weighting != HISTO_UNWEIGHTED) assert_near_sums(h, expected);
    histo_plan_destroy(plan);
    histo_hist_destroy(h);
    histo_hist_destroy(expected);
}

/* Few samples with all numbers of bins; many, which take long, with one. */
static bool is_tried(const everyday_problem *p)
{
    return p->samples <= LARGE || p->bins == 256 || p->bins == 64;
}

static void everyday_problems(void **state)
{
    (void)state;
    NEEDS_GPU();
    struct cudaDeviceProp properties;
    CUDA_OK(cudaGetDeviceProperties(&properties, 0));
    const int architecture = properties.major * 10 + properties.minor;
    if (!histo_builtin_has(architecture)) {
        print_message("%s SKIPPED: no kernels are built in for %d\n", __func__, architecture);
        skip();
    }
    char cache[] = "/tmp/histo-builtin-XXXXXX";
    assert_non_null(mkdtemp(cache));
    OK(histo_kernel_cache(cache));
    for (int i = 0; i < everyday_count(); i++) {
        const everyday_problem p = everyday_at(i);
        everyday_fill its;
        everyday_describe(&p, NULL, &its);
        if (is_tried(&p) && its.bytes > room) room = its.bytes;
    }
    host = aligned_alloc(256, (room + 255) / 256 * 256);
    assert_non_null(host);
    CUDA_OK(cudaMalloc((void **)&device, room));
    results r = {0, 0, 0};
    for (int i = 0; i < everyday_count(); i++) {
        const everyday_problem p = everyday_at(i);
        if (is_tried(&p)) fill_both(&p, &r);
    }
    print_message("%d fills: %d by kernels that are built in, %d by the library's own, %d by general ones\n",
                  r.built_in + r.own + r.general, r.built_in, r.own, r.general);
    OK(histo_kernel_cache(NULL));
    rmdir(cache); /* unless something was compiled */
    cudaFree(device);
    free(host);
    /* GPUs of one architecture differ in memory and clock, and plans for them choose other strategies here and there.
     */
    assert_true(r.built_in > 1000 && r.general * 50 <= r.built_in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(everyday_problems)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
