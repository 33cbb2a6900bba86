/* Fills by kernels that are compiled for them: when, how often, in graphs, and after failures. */
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime_api.h>

#include "cuda/jit/nvrtc.h"
#include "support/check.h"
#include "support/data.h"
#include "support/device.h"
#include "support/gpu_fills.h"
#include "support/same.h"

extern int histo_cuda_fail_at, histo_cuda_fail_as;

enum { CHANNELS = 3, COLUMNS = 401, ROWS = 307, MAX_PIXEL = 64 /* samples */ };

/* Interleaved channels of 16 bits, one histogram each, and a mask for all of them. */
typedef struct picture {
    uint16_t *samples;
    uint8_t *mask;
    histo_view host, device, host_mask, device_mask;
    void *memory[2];
} picture;

static picture make_picture(void)
{
    const int64_t pixels = COLUMNS * ROWS;
    picture p = {.samples = malloc((size_t)pixels * MAX_PIXEL * sizeof *p.samples), .mask = malloc((size_t)pixels)};
    rng r = {.state = 42};
    for (int64_t i = 0; i < pixels * MAX_PIXEL; i++)
        p.samples[i] = (uint16_t)rng_next(&r);
    for (int64_t i = 0; i < pixels; i++)
        p.mask[i] = rng_below(&r, 4) > 0;
    const int64_t size = sizeof *p.samples;
    const histo_view all = histo_view_1d(p.samples, HISTO_U16, pixels * MAX_PIXEL);
    p.host = (histo_view){.data = p.samples,
                          .dtype = HISTO_U16,
                          .ndim = 3,
                          .batch_ndim = 1,
                          .shape = {CHANNELS, ROWS, COLUMNS},
                          .strides = {size, COLUMNS * MAX_PIXEL * size, CHANNELS * size}};
    p.host_mask = p.host;
    p.host_mask.data = p.mask;
    p.host_mask.dtype = HISTO_U8;
    p.host_mask.strides[0] = 0;
    p.host_mask.strides[1] = COLUMNS;
    p.host_mask.strides[2] = 1;
    p.memory[0] = device_copy(&all, &p.device);
    p.memory[1] = device_copy(&p.host_mask, &p.device_mask);
    assert_true(p.memory[0] && p.memory[1]);
    const void *on_gpu = p.device.data;
    p.device = p.host;
    p.device.data = on_gpu;
    return p;
}

/* The same samples with so many between one pixel and the next: a class of its own. */
static void set_pixel(picture *p, int samples)
{
    p->host.strides[2] = p->device.strides[2] = 2 * samples;
}

static void free_picture(const picture *p)
{
    device_free(p->memory[0]);
    device_free(p->memory[1]);
    free(p->samples);
    free(p->mask);
}

static histo_hist *make_for_picture(void)
{
    const histo_axis axis = histo_axis_regular(BINS, 100, 60000);
    histo_hist *h;
    OK(histo_hist_create(&h, 1, &axis, &(histo_hist_options){.batch = CHANNELS}));
    return h;
}

static void assert_explained(const histo_plan *plan, const char *words)
{
    char text[8192];
    histo_plan_explain(plan, text, sizeof text);
    if (!strstr(text, words)) fail_msg("'%s' is not in: %s", words, text);
}

/* False if none can be compiled: reports it. */
static bool can_compile(const char *test)
{
    if (!histo_nvrtc_unavailable()) return true;
    print_message("%s SKIPPED: %s\n", test, histo_nvrtc_unavailable());
    return false;
}

/* The first fill waits for its kernel; other plans take it from memory. */
static void compiled_once(void **state)
{
    (void)state;
    NEEDS_GPU();
    if (!can_compile(__func__)) skip();
    picture p = make_picture();
    const histo_fill_options on_gpu = {.mask = &p.device_mask}, on_cpu = {.mask = &p.host_mask};
    static const struct {
        const char *name, *params;
    } strategies[] = {{"cuda/lane_private", NULL},
                      {"cuda/packed_window", NULL},
                      {"cuda/partition", NULL},
                      {"cuda/global_atomic", "blocks=132"}}; /* few samples have a kernel of their own */
    static const histo_effort efforts[] = {HISTO_COMPILE, HISTO_ESTIMATE};
    histo_hist *e = make_for_picture();
    fill_by(e, "cpu/privatized", &p.host, &on_cpu);
    for (size_t s = 0; s < sizeof strategies / sizeof *strategies; s++)
        for (size_t i = 0; i < sizeof efforts / sizeof *efforts; i++) {
            histo_hist *h = make_for_picture();
            histo_plan *plan;
            const histo_plan_options options = {
                .effort = efforts[i], .strategy = strategies[s].name, .params = strategies[s].params};
            OK(histo_plan_create(&plan, h, &p.device, &on_gpu, &options));
            OK(histo_plan_fill(plan, h, &p.device, &on_gpu));
            assert_explained(plan, "kernel: compiled for such samples, compiled in ");
            assert_same(h, e);
            histo_plan_destroy(plan);
            histo_hist_destroy(h);
        }
    histo_hist_destroy(e);
    free_picture(&p);
}

/* Graphs launch compiled kernels; nothing is compiled in a capture. */
static void compiled_in_graphs(void **state)
{
    (void)state;
    NEEDS_GPU();
    if (!can_compile(__func__)) skip();
    picture p = make_picture();
    cudaStream_t stream;
    CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    const histo_fill_options on_gpu = {.mask = &p.device_mask, .stream = stream}, on_cpu = {.mask = &p.host_mask};
    const histo_plan_options options = {.effort = HISTO_COMPILE, .strategy = "cuda/lane_private"};
    histo_hist *h = make_for_picture(), *e = make_for_picture();
    histo_plan *plan, *late;
    OK(histo_plan_create(&plan, h, &p.device, &on_gpu, &options));
    OK(histo_plan_create(&late, h, &p.device, &on_gpu, &options));
    OK(histo_plan_fill(plan, h, &p.device, &on_gpu));
    OK(histo_plan_fill(late, h, &p.device, &on_gpu));
    fill_by(e, "cpu/privatized", &p.host, &on_cpu);
    fill_by(e, "cpu/privatized", &p.host, &on_cpu);
    cudaGraph_t graph;
    cudaGraphExec_t launched;
    CUDA_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    OK(histo_plan_fill(plan, h, &p.device, &on_gpu));
    set_pixel(&p, 5);
    OK(histo_plan_fill(late, h, &p.device, &on_gpu));
    CUDA_OK(cudaStreamEndCapture(stream, &graph));
    CUDA_OK(cudaGraphInstantiateWithFlags(&launched, graph, 0));
    assert_explained(plan, "kernel: compiled for such samples");
    assert_explained(late, "kernel: general");
    for (int launch = 0; launch < 3; launch++) {
        CUDA_OK(cudaGraphLaunch(launched, stream));
        fill_by(e, "cpu/privatized", &p.host, &on_cpu);
        set_pixel(&p, 3);
        fill_by(e, "cpu/privatized", &p.host, &on_cpu);
        set_pixel(&p, 5);
    }
    OK(histo_plan_fill(late, h, &p.device, &on_gpu));
    fill_by(e, "cpu/privatized", &p.host, &on_cpu);
    assert_explained(late, "kernel: compiled for such samples");
    CUDA_OK(cudaGraphExecDestroy(launched));
    CUDA_OK(cudaGraphDestroy(graph));
    histo_plan_destroy(plan);
    histo_plan_destroy(late);
    assert_same_then_destroy(h, e);
    CUDA_OK(cudaStreamDestroy(stream));
    free_picture(&p);
}

/* Where a compiled kernel cannot be loaded, another counts; any other failure is one of the fill. */
static void compiled_kernels_fail(void **state)
{
    (void)state;
    NEEDS_GPU();
    if (!can_compile(__func__)) skip();
    enum { LOADING_CALLS = 3 };
    const int step = is_sanitized() ? 5 : 1;
    picture p = make_picture();
    const histo_fill_options on_gpu = {.mask = &p.device_mask}, on_cpu = {.mask = &p.host_mask};
    const histo_plan_options options = {.effort = HISTO_COMPILE, .strategy = "cuda/lane_private"};
    histo_cuda_fail_as = cudaErrorLaunchFailure;
    int replaced = 0, at = 1;
    for (bool reached = true; reached; at += step) {
        histo_hist *h = make_for_picture(), *e = make_for_picture();
        histo_plan *plan;
        set_pixel(&p, 5 + at); /* a class that nothing was compiled for */
        assert_true(5 + at <= MAX_PIXEL);
        fill_by(e, "cpu/privatized", &p.host, &on_cpu);
        OK(histo_plan_create(&plan, h, &p.device, &on_gpu, &options));
        histo_cuda_fail_at = at;
        histo_status status = histo_plan_fill(plan, h, &p.device, &on_gpu);
        reached = histo_cuda_fail_at <= 0;
        histo_cuda_fail_at = 0;
        if (status != HISTO_OK) {
            assert_int_equal(status, HISTO_DEVICE);
            OK(histo_hist_reset(h, NULL));
            OK(histo_plan_fill(plan, h, &p.device, &on_gpu));
        } else if (reached) {
            assert_explained(plan, "kernel: general, because the one compiled for such samples could not be loaded");
            replaced++;
        }
        histo_plan_destroy(plan);
        assert_same_then_destroy(h, e);
    }
    assert_true(at > LOADING_CALLS);
    if (step == 1) assert_int_equal(replaced, LOADING_CALLS);
    free_picture(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compiled_once),
        cmocka_unit_test(compiled_in_graphs),
        cmocka_unit_test(compiled_kernels_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
