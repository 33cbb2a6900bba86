/* What only a GPU can show: streams, threads, placement, weights, failures, and counts beyond 32 bits. test_strategies
 * compares the strategies themselves. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cuda_runtime_api.h>

#include "cuda/jit/nvrtc.h"
#include "plan/plan.h"
#include "support/check.h"
#include "support/data.h"
#include "support/device.h"
#include "support/forbidden.h"
#include "support/same.h"

extern int histo_cuda_fail_at, histo_cuda_fail_as;

/* Sanitizers are slow. */
static bool is_sanitized(void)
{
    return getenv("HISTO_TEST_EVERY") != NULL;
}

#define CUDA_OK(call) assert_int_equal(call, cudaSuccess)

enum { BINS = 300, SLOTS = BINS + 3 };

static histo_hist *make(int64_t batch, histo_weighting weighting)
{
    histo_axis axis = histo_axis_regular(BINS, 0, 1);
    histo_hist *h;
    OK(histo_hist_create(&h, 1, &axis, &(histo_hist_options){.batch = batch, .weighting = weighting}));
    return h;
}

static float *make_floats(uint64_t seed, int64_t n)
{
    rng r = {.state = seed};
    histo_axis axis = histo_axis_regular(BINS, 0, 1);
    return make_samples(&r, HISTO_F32, UNIFORM, &axis, n);
}

/* Fill by a strategy ("cpu/sequential", "cuda/…"). */
static void fill_by(histo_hist *h, const char *strategy, const histo_view *views, const histo_fill_options *options)
{
    histo_plan *plan;
    OK(histo_plan_create(&plan, h, views, options, &(histo_plan_options){.strategy = strategy}));
    OK(histo_plan_fill(plan, h, views, options));
    histo_plan_destroy(plan);
}

static void device_samples_choose_the_gpu(void **state)
{
    (void)state;
    NEEDS_GPU();
    const int64_t n = 100001;
    float *data = make_floats(1, n);
    histo_view host = histo_view_1d(data, HISTO_F32, n), device;
    void *memory = device_copy(&host, &device);
    histo_hist *h = make(1, HISTO_UNWEIGHTED), *expected = make(1, HISTO_UNWEIGHTED);
    OK(histo_hist_fill(expected, &host, NULL));
    assert_memory_equal(histo_plan_strategy(histo_hist_last_plan(expected)), "cpu/", 4);
    OK(histo_hist_fill(h, &device, NULL));
    assert_memory_equal(histo_plan_strategy(histo_hist_last_plan(h)), "cuda/", 5);
    assert_same(h, expected);
    /* Fill the same histogram from the host: the counts of both devices add up. */
    OK(histo_hist_fill(h, &host, NULL));
    assert_memory_equal(histo_plan_strategy(histo_hist_last_plan(h)), "cpu/", 4);
    OK(histo_hist_fill(h, &device, NULL));
    OK(histo_hist_merge(expected, expected));
    OK(histo_hist_fill(expected, &host, NULL));
    assert_same(h, expected);
    histo_plan *plan;
    REFUSED(HISTO_UNSUPPORTED, "in the memory of GPU 0",
            histo_plan_create(&plan, h, &device, NULL, &(histo_plan_options){.device = HISTO_DEVICE_CPU}));
    OK(histo_plan_create(&plan, h, &host, NULL, NULL));
    REFUSED(HISTO_UNSUPPORTED, "in the memory of GPU 0", histo_plan_fill(plan, h, &device, NULL));
    histo_plan_destroy(plan);
    histo_hist_destroy(h);
    histo_hist_destroy(expected);
    device_free(memory);
    free(data);
}

/* Image pairs are counted where they are, by the plan's own choice; also images larger than planned, with a pitch, and
 * from host memory by another plan. */
static void stacks_of_images(void **state)
{
    (void)state;
    NEEDS_GPU();
    enum { IMAGES = 16, WIDTH = 1000, HEIGHT = 300 };
    const int64_t shape[] = {IMAGES, HEIGHT, WIDTH};
    uint16_t *data = malloc(IMAGES * WIDTH * HEIGHT * sizeof *data);
    rng r = {.state = 77};
    for (int i = 0; i < IMAGES * WIDTH * HEIGHT; i++)
        data[i] = (uint16_t)(i % 3000 + rng_below(&r, 90));
    histo_view host = histo_view_nd(data, HISTO_U16, 3, shape), device, bytes = histo_view_nd(data, HISTO_U8, 3, shape);
    void *memory = device_copy(&host, &device);
    histo_axis axes[] = {histo_axis_regular(4096, -4096, 4096), histo_axis_regular(256, 0, 4096)};
    histo_hist *h, *expected;
    OK(histo_hist_create(&h, 2, axes, NULL));
    OK(histo_hist_create(&expected, 2, axes, NULL));
    for (int pairing = HISTO_PAIRS_RING; pairing <= HISTO_PAIRS_APART; pairing++) {
        const histo_pairs pairs = {(histo_pairing)pairing, pairing == HISTO_PAIRS_APART};
        for (int narrow = 0; narrow < 100; narrow += 33) {
            histo_view some = host, there = device;
            some.shape[2] = there.shape[2] = WIDTH - narrow;
            OK(histo_hist_fill_pairs(expected, &some, &pairs, NULL));
            OK(histo_hist_fill_pairs(h, &there, &pairs, NULL));
            assert_memory_equal(histo_plan_strategy(histo_hist_last_plan(h)), "cuda/", 5);
            assert_same(h, expected);
        }
        histo_plan *plan;
        OK(histo_plan_create_pairs(&plan, h, &host, &pairs, NULL,
                                   &(histo_plan_options){.device = HISTO_DEVICE_CUDA(0)}));
        OK(histo_plan_fill(plan, h, &host, NULL)); /* in several pieces */
        OK(histo_plan_fill(plan, h, &device, NULL));
        for (int fill = 0; fill < 2; fill++)
            OK(histo_hist_fill_pairs(expected, &host, &pairs, NULL));
        assert_same(h, expected);
        REFUSED(HISTO_INVALID, "the plan was made for other", histo_plan_fill(plan, h, &bytes, NULL));
        histo_plan_destroy(plan);
    }
    histo_hist_destroy(h);
    histo_hist_destroy(expected);
    device_free(memory);
    free(data);
}

/* Every function that reads a histogram sees the counts on a device. */
static void gathered_by_every_reader(void **state)
{
    (void)state;
    NEEDS_GPU();
    const int64_t n = 50021;
    float *data = make_floats(2, n);
    histo_view host = histo_view_1d(data, HISTO_F32, n), device;
    void *memory = device_copy(&host, &device);
    histo_hist *h = make(1, HISTO_UNWEIGHTED), *e = make(1, HISTO_UNWEIGHTED), *a, *b;
    fill_by(e, "cpu/sequential", &host, NULL);
    OK(histo_hist_fill(h, &device, NULL));
    histo_tally tally;
    OK(histo_hist_tally(h, &tally));
    assert_int_equal(tally.samples, n);
    OK(histo_hist_fill(h, &device, NULL));
    OK(histo_hist_clone(h, &a));
    OK(histo_hist_merge(e, e));
    assert_same(a, e);
    OK(histo_hist_fill(h, &device, NULL));
    OK(histo_hist_merge(a, h)); /* 5 times */
    OK(histo_hist_merge(h, e)); /* 5 times */
    assert_same(a, h);
    histo_hist_destroy(a);
    OK(histo_hist_fill(h, &device, NULL));
    OK(histo_hist_fill(e, &host, NULL));
    OK(histo_hist_merge(e, e)); /* 6 times */
    OK(histo_hist_rebin(h, 0, 3, &a));
    OK(histo_hist_rebin(e, 0, 3, &b));
    assert_same(a, b);
    histo_hist_destroy(a);
    histo_hist_destroy(b);
    for (int format = HISTO_JSON; format <= HISTO_BINARY; format++) {
        void *saved;
        size_t size;
        OK(histo_hist_fill(h, &device, NULL));
        OK(histo_hist_save(h, (histo_format)format, NULL, &saved, &size));
        OK(histo_hist_load(saved, size, NULL, &a));
        assert_same(a, h);
        OK(histo_hist_tally(a, &tally));
        assert_int_equal(tally.samples, (7 + format) * n);
        histo_hist_destroy(a);
        histo_free(saved);
    }
    OK(histo_hist_fill(h, &device, NULL));
    OK(histo_hist_reset(h, NULL));
    OK(histo_hist_reset(e, NULL));
    assert_same(h, e);
    OK(histo_hist_fill(h, &device, NULL));
    OK(histo_hist_fill(e, &host, NULL));
    assert_same(h, e);
    histo_hist_destroy(h);
    histo_hist_destroy(e);
    device_free(memory);
    free(data);
}

/* Weights of every dtype, fast (integers, so that no order rounds) and reproducible, with mask and batch. */
static void weights(void **state)
{
    (void)state;
    NEEDS_GPU();
    enum { N = 6000, BATCH = 3 };
    rng r = {.state = 3};
    float *data = make_floats(3, N);
    uint8_t mask_bytes[N];
    for (int i = 0; i < N; i++)
        mask_bytes[i] = rng_next(&r) % 4 != 0;
    histo_axis around = histo_axis_regular(1000, -1000, 1000), small = histo_axis_integer(0, 100);
    histo_hist *all = make(BATCH, HISTO_WEIGHT_REPRODUCIBLE), *all_expected = make(BATCH, HISTO_WEIGHT_REPRODUCIBLE);
    for (int dtype = 0; dtype < HISTO_DTYPE_COUNT; dtype += is_sanitized() ? 3 : 1) {
        for (int kind = 0; kind < 3; kind++) { /* fast; reproducible; reproducible of any bit pattern */
            histo_weighting weighting = kind ? HISTO_WEIGHT_REPRODUCIBLE : HISTO_WEIGHT_FAST;
            void *w = make_samples(&r, (histo_dtype)dtype, kind == 2 ? SPECIAL : EDGES, kind ? &around : &small, N);
            if (!kind) /* no infinities, integers only */
                for (int i = 0; i < N; i++) {
                    double v = (double)(i % 100);
                    if (dtype == HISTO_F32) ((float *)w)[i] = (float)v;
                    if (dtype == HISTO_F64) ((double *)w)[i] = v;
                    if (dtype == HISTO_F16) ((uint16_t *)w)[i] = i % 2 ? 0x3c00 : 0x4000;
                    if (dtype == HISTO_BF16) ((uint16_t *)w)[i] = i % 2 ? 0x3f80 : 0x4000;
                }
            int64_t shape[2] = {BATCH, N / BATCH};
            histo_view hosts[3] = {histo_view_nd(data, HISTO_F32, 2, shape),
                                   histo_view_nd(w, (histo_dtype)dtype, 2, shape),
                                   histo_view_nd(mask_bytes, HISTO_U8, 2, shape)},
                       devices[3];
            void *memory[3];
            for (int i = 0; i < 3; i++) {
                hosts[i].batch_ndim = 1;
                memory[i] = device_copy(&hosts[i], &devices[i]);
            }
            histo_fill_options on_host = {.weights = &hosts[1], .mask = &hosts[2]};
            histo_fill_options on_device = {.weights = &devices[1], .mask = &devices[2]};
            histo_hist *h = make(BATCH, weighting), *e = make(BATCH, weighting);
            fill_by(e, "cpu/sequential", hosts, &on_host);
            static const char *const strategies[] = {"cuda/global_atomic", "cuda/weighted_private"};
            for (int s = 0; s < 2; s++) {
                OK(histo_hist_reset(h, NULL));
                fill_by(h, strategies[s], devices, &on_device);
                assert_same(h, e);
                OK(histo_hist_reset(h, NULL));
                fill_by(h, strategies[s], hosts, &on_host); /* staged */
                assert_same(h, e);
            }
            if (kind) { /* one histogram for weights of all dtypes, and for none */
                fill_by(all, "cuda/weighted_private", devices, &on_device);
                fill_by(all, "cuda/global_atomic", devices, NULL);
                fill_by(all_expected, "cpu/sequential", hosts, &on_host);
                fill_by(all_expected, "cpu/sequential", hosts, NULL);
            }
            histo_hist_destroy(h);
            histo_hist_destroy(e);
            for (int i = 0; i < 3; i++)
                device_free(memory[i]);
            free(w);
        }
    }
    assert_same(all, all_expected);
    histo_hist_destroy(all);
    histo_hist_destroy(all_expected);
    free(data);
}

/* Samples, mask and filter in different kinds of memory, longer than one chunk, and strided. */
static void every_kind_of_memory(void **state)
{
    (void)state;
    NEEDS_GPU();
    const int64_t n = is_sanitized() ? 300007 : 18000007; /* two chunks of 64 MiB, many pieces */
    float *data = make_floats(4, n), *pinned, *managed;
    CUDA_OK(cudaMallocHost((void **)&pinned, (size_t)n * sizeof *pinned));
    CUDA_OK(cudaMallocManaged((void **)&managed, (size_t)n * sizeof *managed, cudaMemAttachGlobal));
    memcpy(pinned, data, (size_t)n * sizeof *data);
    memcpy(managed, data, (size_t)n * sizeof *data);
    histo_view pageable = histo_view_1d(data, HISTO_F32, n), device, reverse = pageable, reverse_on_device;
    reverse.data = data + n - 1;
    reverse.strides[0] = -4;
    void *memory = device_copy(&pageable, &device), *reverse_memory = device_copy(&reverse, &reverse_on_device);
    const histo_view kinds[] = {
        pageable,         histo_view_1d(pinned, HISTO_F32, n), histo_view_1d(managed, HISTO_F32, n), device, reverse,
        reverse_on_device};
    enum { KINDS = sizeof kinds / sizeof kinds[0] };
    histo_hist *h = make(1, HISTO_UNWEIGHTED), *e = make(1, HISTO_UNWEIGHTED);
    for (int samples = 0; samples < KINDS; samples++) {
        for (int filter = 0; filter < KINDS; filter++) {
            if (samples < 4 && filter >= 4) continue; /* only one order makes the filter adjacent to the samples */
            if (samples >= 4 && filter < 4) continue;
            histo_fill_options on_host = {.where = &pageable, .where_lo = 0.2, .where_hi = 0.7}, options = on_host;
            options.where = &kinds[filter];
            OK(histo_hist_reset(h, NULL));
            OK(histo_hist_reset(e, NULL));
            fill_by(h, "cuda/global_atomic", &kinds[samples], &options);
            fill_by(e, "cpu/privatized", &pageable, &on_host);
            assert_same(h, e);
        }
        OK(histo_hist_reset(h, NULL));
        OK(histo_hist_reset(e, NULL));
        fill_by(h, "cuda/shared_atomic", &kinds[samples], NULL);
        fill_by(e, "cpu/privatized", &pageable, NULL);
        assert_same(h, e);
    }
    histo_hist_destroy(h);
    histo_hist_destroy(e);
    device_free(memory);
    device_free(reverse_memory);
    cudaFreeHost(pinned);
    cudaFree(managed);
    free(data);
}

/* Host memory that keeps a stream waiting until it is opened, for ten seconds at most. */
typedef struct gate {
    int open, late;
} gate;

static void wait_at(void *context)
{
    gate *g = context;
    const struct timespec pause = {.tv_nsec = 1000000};
    for (int i = 0; i < 10000; i++) {
        if (__atomic_load_n(&g->open, __ATOMIC_ACQUIRE)) return;
        nanosleep(&pause, NULL);
    }
    g->late = 1;
}

/* A planned fill from device memory returns while its stream waits; it neither allocates nor copies. */
static void planned_fills_do_not_wait(void **state)
{
    (void)state;
    NEEDS_GPU();
    const int64_t n = is_sanitized() ? 100003 : 1000003;
    float *data = make_floats(5, n);
    histo_view host = histo_view_1d(data, HISTO_F32, n), device;
    void *memory = device_copy(&host, &device);
    cudaStream_t stream;
    CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    histo_fill_options options = {.stream = stream};
    for (int i = 0; histo_row_at(i); i++) {
        if (histo_row_at(i)->backend != &histo_backend_cuda) continue;
        histo_hist *h = make(1, HISTO_UNWEIGHTED), *e = make(1, HISTO_UNWEIGHTED);
        histo_plan *plan;
        char name[64];
        snprintf(name, sizeof name, "cuda/%s", histo_row_at(i)->name);
        histo_status status = histo_plan_create(&plan, h, &device, &options, &(histo_plan_options){.strategy = name});
        if (status == HISTO_OK) {
            gate g = {0};
            OK(histo_plan_fill(plan, h, &device, &options));
            CUDA_OK(cudaDeviceSynchronize());
            CUDA_OK(cudaLaunchHostFunc(stream, wait_at, &g));
            assert_true(forbidden_calls > 0); /* from the first fill: proves that the linker redirects them */
            forbidden_calls = 0;
            for (int fill = 0; fill < 3; fill++)
                OK(histo_plan_fill(plan, h, &device, &options));
            int forbidden = forbidden_calls;
            bool running = cudaStreamQuery(stream) == cudaErrorNotReady;
            __atomic_store_n(&g.open, 1, __ATOMIC_RELEASE);
            CUDA_OK(cudaStreamSynchronize(stream));
            if (!running || g.late) fail_msg("%s: a planned fill waited for its stream", name);
            if (forbidden) fail_msg("%s: %d calls in planned fills take memory, wait or copy", name, forbidden);
            fill_by(e, "cpu/privatized", &host, NULL);
            OK(histo_hist_merge(e, e));
            OK(histo_hist_merge(e, e));
            assert_same(h, e);
            histo_plan_destroy(plan);
        }
        histo_hist_destroy(h);
        histo_hist_destroy(e);
    }
    CUDA_OK(cudaStreamDestroy(stream));
    device_free(memory);
    free(data);
}

/* Two streams fill one histogram alternately, and two histograms at once, by every strategy. */
static void two_streams(void **state)
{
    (void)state;
    NEEDS_GPU();
    const int rounds = is_sanitized() ? 4 : 20;
    const int64_t n = is_sanitized() ? 20003 : 200003;
    float *data = make_floats(6, n);
    histo_view host = histo_view_1d(data, HISTO_F32, n), device;
    void *memory = device_copy(&host, &device);
    cudaStream_t streams[2];
    for (int s = 0; s < 2; s++)
        CUDA_OK(cudaStreamCreateWithFlags(&streams[s], cudaStreamNonBlocking));
    histo_hist *e = make(1, HISTO_UNWEIGHTED);
    for (int round = 0; round < rounds; round++)
        fill_by(e, "cpu/privatized", &host, NULL);
    for (int i = 0; histo_row_at(i); i++) {
        if (histo_row_at(i)->backend != &histo_backend_cuda) continue;
        histo_hist *one = make(1, HISTO_UNWEIGHTED), *each[2] = {make(1, HISTO_UNWEIGHTED), make(1, HISTO_UNWEIGHTED)};
        histo_plan *plan;
        char name[64];
        snprintf(name, sizeof name, "cuda/%s", histo_row_at(i)->name);
        if (histo_plan_create(&plan, one, &device, NULL, &(histo_plan_options){.strategy = name}) == HISTO_OK) {
            for (int round = 0; round < rounds; round++) {
                OK(histo_plan_fill(plan, one, &device, &(histo_fill_options){.stream = streams[round % 2]}));
                for (int s = 0; s < 2; s++)
                    OK(histo_plan_fill(plan, each[s], &device, &(histo_fill_options){.stream = streams[s]}));
            }
            assert_same(one, e);
            assert_same(each[0], e);
            assert_same(each[1], e);
            histo_plan_destroy(plan);
        }
        histo_hist_destroy(one);
        histo_hist_destroy(each[0]);
        histo_hist_destroy(each[1]);
    }
    for (int s = 0; s < 2; s++)
        CUDA_OK(cudaStreamDestroy(streams[s]));
    histo_hist_destroy(e);
    device_free(memory);
    free(data);
}

/* Fills captured in a graph count at each launch, on any stream, between other fills and resets. */
static void captured_fills(void **state)
{
    (void)state;
    NEEDS_GPU();
    const int64_t n = 1920 * 1080 + 3;
    rng r = {.state = 11};
    histo_axis axis = histo_axis_integer(0, 256);
    uint8_t *data = make_samples(&r, HISTO_U8, GAUSSIAN, &axis, n);
    histo_view host = histo_view_1d(data, HISTO_U8, n), device;
    void *memory = device_copy(&host, &device);
    cudaStream_t streams[2];
    for (int s = 0; s < 2; s++)
        CUDA_OK(cudaStreamCreateWithFlags(&streams[s], cudaStreamNonBlocking));
    static const char *const strategies[] = {"cuda/lane_private", "cuda/global_atomic"};
    for (int i = 0; i < 2; i++) {
        histo_hist *h, *e;
        histo_plan *plan;
        cudaGraph_t graph;
        cudaGraphExec_t launched;
        histo_fill_options options = {.stream = streams[0]};
        OK(histo_hist_create(&h, 1, &axis, NULL));
        OK(histo_hist_create(&e, 1, &axis, NULL));
        OK(histo_plan_create(&plan, h, &device, NULL, &(histo_plan_options){.strategy = strategies[i]}));
        CUDA_OK(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeGlobal));
        REFUSED(HISTO_UNSUPPORTED, "fill the histogram once before", histo_plan_fill(plan, h, &device, &options));
        REFUSED(HISTO_UNSUPPORTED, "host memory cannot be counted in a graph",
                histo_plan_fill(plan, h, &host, &options));
        CUDA_OK(cudaStreamEndCapture(streams[0], &graph));
        CUDA_OK(cudaGraphDestroy(graph));
        OK(histo_plan_fill(plan, h, &device, &options));
        CUDA_OK(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeGlobal));
        OK(histo_plan_fill(plan, h, &device, &options));
        OK(histo_plan_fill(plan, h, &device, &options));
        CUDA_OK(cudaStreamEndCapture(streams[0], &graph));
        CUDA_OK(cudaGraphInstantiateWithFlags(&launched, graph, 0));
        for (int round = 0; round < 3; round++) {
            for (int launch = 0; launch < 4; launch++)
                CUDA_OK(cudaGraphLaunch(launched, streams[launch % 2]));
            OK(histo_plan_fill(plan, h, &device, &(histo_fill_options){.stream = streams[round % 2]}));
            for (int fill = 0; fill < (round ? 9 : 10); fill++) /* the first round did that before the graph */
                fill_by(e, "cpu/value_counts", &host, NULL);
            if (round == 1) {
                CUDA_OK(cudaGraphLaunch(launched, streams[1]));
                OK(histo_hist_reset(h, NULL));
                OK(histo_hist_reset(e, NULL));
            }
            assert_same(h, e);
        }
        CUDA_OK(cudaGraphExecDestroy(launched));
        CUDA_OK(cudaGraphDestroy(graph));
        histo_plan_destroy(plan);
        histo_hist_destroy(h);
        histo_hist_destroy(e);
    }
    for (int s = 0; s < 2; s++)
        CUDA_OK(cudaStreamDestroy(streams[s]));
    device_free(memory);
    free(data);
}

/* ---- Reading ---- */

/* Compare a read into device memory with one into the host's, which must see the same counts in any order. */
static void check_read(const histo_hist *h, histo_slots slots, histo_dtype dtype, bool cumulative, bool sums)
{
    const int64_t size = histo_hist_size(h, slots);
    const size_t bytes = (size_t)size * histo_dtype_size(dtype);
    const histo_read_options options = {.dtype = dtype, .cumulative = cumulative};
    char *here = malloc(2 * bytes), *back = here + bytes;
    void *there;
    CUDA_OK(cudaMalloc(&there, bytes));
    CUDA_OK(cudaMemset(there, 0x55, bytes));
    for (int square = 0; square <= sums; square++) {
        if (!sums) {
            OK(histo_hist_read_counts(h, slots, there, size, &options));
            OK(histo_hist_read_counts(h, slots, here, size, &options));
        } else {
            OK(histo_hist_read_weights(h, slots, square ? NULL : there, square ? there : NULL, size, &options));
            OK(histo_hist_read_weights(h, slots, square ? NULL : here, square ? here : NULL, size, &options));
        }
        CUDA_OK(cudaMemcpy(back, there, bytes, cudaMemcpyDeviceToHost));
        if (memcmp(here, back, bytes) != 0)
            fail_msg("slots %d, dtype %d, cumulative %d, sums %d, square %d", slots, dtype, cumulative, sums, square);
    }
    CUDA_OK(cudaFree(there));
    free(here);
}

/* Every type, layout and place that the counts may be in: on the GPU alone, in both, and sparse. */
static void reads_into_device_memory(void **state)
{
    (void)state;
    NEEDS_GPU();
    static const histo_dtype dtypes[] = {HISTO_U64, HISTO_U32, HISTO_F32, HISTO_F64};
    static const histo_weighting weightings[] = {HISTO_UNWEIGHTED, HISTO_WEIGHT_FAST, HISTO_WEIGHT_REPRODUCIBLE};
    enum { N = 30000, BATCH = 3 };
    const int64_t shape[] = {BATCH, N / BATCH};
    float *data = make_floats(31, N), *more = make_floats(32, N);
    histo_view hosts[] = {histo_view_nd(data, HISTO_F32, 2, shape), histo_view_nd(more, HISTO_F32, 2, shape)}, views[2];
    hosts[0].batch_ndim = hosts[1].batch_ndim = 1;
    void *memory[] = {device_copy(&hosts[0], &views[0]), device_copy(&hosts[1], &views[1])};
    const int bins[] = {7, 256, 9000}; /* 9000: several tiles of a cumulative read */
    for (int variant = 0; variant < 24; variant += is_sanitized() ? 5 : 1) {
        const int naxes = variant % 2 + 1, axis_bins = bins[variant / 2 % 3];
        const bool sparse = variant >= 18;
        const histo_weighting weighting = sparse ? HISTO_UNWEIGHTED : weightings[variant / 6];
        const histo_axis axes[] = {histo_axis_regular(naxes == 1 ? axis_bins : 5, 0, 1),
                                   histo_axis_regular(axis_bins, 0.1, 0.8)};
        histo_hist *h, *e;
        const histo_hist_options options = {
            .batch = BATCH, .weighting = weighting, .storage = sparse ? HISTO_SPARSE : HISTO_DENSE};
        OK(histo_hist_create(&h, naxes, axes, &options));
        OK(histo_hist_create(&e, naxes, axes, &options));
        const histo_fill_options with = {.weights = weighting ? &views[0] : NULL},
                                 with_host = {.weights = weighting ? &hosts[0] : NULL};
        for (int place = 0; place < 4; place++) { /* not filled; on the GPU; also on the host; after a reset */
            if (place == 3) OK(histo_hist_reset(h, NULL));
            if (place == 1 || place == 3) OK(histo_hist_fill(h, views, &with));
            if (place == 2) OK(histo_hist_fill(h, hosts, &with_host));
            for (int slots = HISTO_BINS; slots <= HISTO_FLOW; slots++)
                for (int d = 0; d < 4; d++) {
                    check_read(h, (histo_slots)slots, dtypes[d], false, false);
                    check_read(h, (histo_slots)slots, dtypes[d], true, false);
                    if (d >= 2 && !sparse) check_read(h, (histo_slots)slots, dtypes[d], false, true);
                }
            histo_tally tally;
            OK(histo_hist_tally(h, &tally));
            assert_int_equal(tally.samples, place == 0 ? 0 : place == 2 ? 2 * N : N);
        }
        OK(histo_hist_fill(e, hosts, &with_host));
        if (weighting != HISTO_WEIGHT_FAST) assert_same(h, e);
        histo_hist_destroy(h);
        histo_hist_destroy(e);
    }
    for (int i = 0; i < 2; i++)
        device_free(memory[i]);
    free(data);
    free(more);
}

/* Large reads into pageable and page-locked memory, contiguous or in rows. */
static void large_reads(void **state)
{
    (void)state;
    NEEDS_GPU();
    const int64_t n = 100000, bins = is_sanitized() ? 70001 : 5000011; /* more than all pieces hold */
    int32_t *data = malloc((size_t)n * sizeof *data);
    rng r = {.state = 3};
    for (int64_t i = 0; i < n; i++)
        data[i] = (int32_t)rng_below(&r, bins + 100) - 50;
    for (int batch = 1; batch <= 2; batch++) {
        const int64_t shape[] = {batch, n / batch};
        histo_view host = histo_view_nd(data, HISTO_I32, 2, shape), device;
        host.batch_ndim = 1;
        void *memory = device_copy(&host, &device);
        const histo_axis axis = histo_axis_integer(0, bins);
        histo_hist *h, *e;
        OK(histo_hist_create(&h, 1, &axis, &(histo_hist_options){.batch = batch}));
        OK(histo_hist_create(&e, 1, &axis, &(histo_hist_options){.batch = batch}));
        OK(histo_hist_fill(h, &device, NULL));
        fill_by(e, "cpu/sequential", &host, NULL);
        for (int slots = HISTO_BINS; slots <= HISTO_FLOW; slots++)
            for (int narrow = 0; narrow < 2; narrow++) {
                const histo_read_options as = {.dtype = narrow ? HISTO_U32 : HISTO_U64};
                const int64_t size = histo_hist_size(h, (histo_slots)slots);
                const size_t bytes = (size_t)size * histo_dtype_size(as.dtype);
                void *expected = malloc(bytes), *pageable = calloc(bytes, 1), *pinned;
                CUDA_OK(cudaMallocHost(&pinned, bytes));
                memset(pinned, 1, bytes);
                OK(histo_hist_read_counts(e, (histo_slots)slots, expected, size, &as));
                OK(histo_hist_read_counts(h, (histo_slots)slots, pageable, size, &as));
                OK(histo_hist_read_counts(h, (histo_slots)slots, pinned, size, &as));
                assert_memory_equal(pageable, expected, bytes);
                assert_memory_equal(pinned, expected, bytes);
                CUDA_OK(cudaFreeHost(pinned));
                free(pageable);
                free(expected);
            }
        assert_same(h, e);
        histo_hist_destroy(h);
        histo_hist_destroy(e);
        device_free(memory);
    }
    free(data);
}

/* A fill and reads on a stream return while it waits, and neither allocate nor copy. */
static void reads_do_not_wait(void **state)
{
    (void)state;
    NEEDS_GPU();
    const int64_t n = 100003;
    float *data = make_floats(33, n);
    histo_view host = histo_view_1d(data, HISTO_F32, n), device;
    void *memory = device_copy(&host, &device);
    cudaStream_t stream;
    CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    const histo_fill_options filling = {.stream = stream};
    const histo_read_options plain = {.stream = stream}, running = {.stream = stream, .cumulative = true};
    uint64_t *there, counts[2 * BINS], expected[2 * BINS];
    CUDA_OK(cudaMalloc((void **)&there, sizeof counts));
    histo_hist *h = make(1, HISTO_UNWEIGHTED), *e = make(1, HISTO_UNWEIGHTED);
    OK(histo_hist_fill(h, &device, &filling));
    CUDA_OK(cudaDeviceSynchronize());
    gate g = {0};
    CUDA_OK(cudaLaunchHostFunc(stream, wait_at, &g));
    forbidden_calls = 0;
    OK(histo_hist_reset(h, stream));
    OK(histo_hist_fill(h, &device, &filling));
    OK(histo_hist_read_counts(h, HISTO_BINS, there, BINS, &plain));
    OK(histo_hist_fill(h, &device, &filling));
    OK(histo_hist_read_counts(h, HISTO_BINS, there + BINS, BINS, &running));
    const int forbidden = forbidden_calls;
    const bool waiting = cudaStreamQuery(stream) == cudaErrorNotReady;
    __atomic_store_n(&g.open, 1, __ATOMIC_RELEASE);
    CUDA_OK(cudaStreamSynchronize(stream));
    assert_true(waiting && !g.late);
    assert_int_equal(forbidden, 0);
    CUDA_OK(cudaMemcpy(counts, there, sizeof counts, cudaMemcpyDeviceToHost));
    fill_by(e, "cpu/sequential", &host, NULL);
    OK(histo_hist_read_counts(e, HISTO_BINS, expected, BINS, NULL));
    OK(histo_hist_merge(e, e));
    OK(histo_hist_read_counts(e, HISTO_BINS, expected + BINS, BINS, &(histo_read_options){.cumulative = true}));
    assert_memory_equal(counts, expected, sizeof counts);
    histo_hist_destroy(h);
    histo_hist_destroy(e);
    CUDA_OK(cudaFree(there));
    CUDA_OK(cudaStreamDestroy(stream));
    device_free(memory);
    free(data);
}

/* Reset, fill and reads in a graph, whose launches count other samples each; reads into host memory in between change
 * nothing. */
static void captured_reads(void **state)
{
    (void)state;
    NEEDS_GPU();
    enum { N = 5000, ROUNDS = 4 };
    float *data = make_floats(34, N * ROUNDS), *samples;
    uint32_t *there, counts[BINS], expected[BINS];
    const histo_read_options as = {.dtype = HISTO_U32};
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t launched;
    CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA_OK(cudaMalloc((void **)&samples, N * sizeof *samples));
    CUDA_OK(cudaMemset(samples, 0, N * sizeof *samples));
    CUDA_OK(cudaMalloc((void **)&there, sizeof counts));
    const histo_view view = histo_view_1d(samples, HISTO_F32, N), host = histo_view_1d(data, HISTO_F32, N);
    const histo_fill_options filling = {.stream = stream};
    const histo_read_options reading = {.stream = stream, .dtype = HISTO_U32};
    for (int fresh = 0; fresh < 2; fresh++) { /* each launch counts alone, or adds to those before */
        histo_hist *h = make(1, HISTO_UNWEIGHTED), *e = make(1, HISTO_UNWEIGHTED);
        OK(histo_hist_fill(h, &host, NULL));
        OK(histo_hist_fill(h, &view, &filling));
        CUDA_OK(cudaStreamSynchronize(stream));
        CUDA_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        REFUSED(HISTO_UNSUPPORTED, "a graph can read only",
                histo_hist_read_counts(h, HISTO_BINS, there, BINS, &reading));
        REFUSED(HISTO_UNSUPPORTED, "a graph can reset only", histo_hist_reset(h, stream));
        CUDA_OK(cudaStreamEndCapture(stream, &graph));
        CUDA_OK(cudaGraphDestroy(graph));
        OK(histo_hist_reset(h, NULL));
        OK(histo_hist_fill(h, &view, &filling));
        OK(histo_hist_reset(h, NULL));
        CUDA_OK(cudaDeviceSynchronize());
        CUDA_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        if (fresh) OK(histo_hist_reset(h, stream));
        OK(histo_hist_fill(h, &view, &filling));
        OK(histo_hist_read_counts(h, HISTO_BINS, there, BINS, &reading));
        CUDA_OK(cudaStreamEndCapture(stream, &graph));
        CUDA_OK(cudaGraphInstantiateWithFlags(&launched, graph, 0));
        for (int round = 0; round < ROUNDS; round++) {
            const histo_view now = histo_view_1d(data + round * N, HISTO_F32, N);
            CUDA_OK(cudaMemcpyAsync(samples, now.data, N * sizeof *samples, cudaMemcpyHostToDevice, stream));
            CUDA_OK(cudaGraphLaunch(launched, stream));
            CUDA_OK(cudaMemcpyAsync(counts, there, sizeof counts, cudaMemcpyDeviceToHost, stream));
            CUDA_OK(cudaStreamSynchronize(stream));
            if (fresh) OK(histo_hist_reset(e, NULL));
            OK(histo_hist_fill(e, &now, NULL));
            OK(histo_hist_read_counts(e, HISTO_BINS, expected, BINS, &as));
            assert_memory_equal(counts, expected, sizeof counts);
            assert_same(h, e);
        }
        CUDA_OK(cudaGraphExecDestroy(launched));
        CUDA_OK(cudaGraphDestroy(graph));
        histo_hist_destroy(h);
        histo_hist_destroy(e);
    }
    CUDA_OK(cudaStreamDestroy(stream));
    CUDA_OK(cudaFree(samples));
    CUDA_OK(cudaFree(there));
    free(data);
}

/* Fills that read, in a stream and in a graph, between other fills, of images at every alignment and of every type
 * that is read; the second launch of each graph counts on. */
static void fills_that_read(void **state)
{
    (void)state;
    NEEDS_GPU();
    enum { N = 300007, MAX = 1000 + 3 };
    const int64_t bins[] = {256, 16, 1000, 1030};
    const histo_dtype types[] = {HISTO_U32, HISTO_U64, HISTO_F32, HISTO_F64};
    rng r = {.state = 35};
    uint8_t *data = malloc(N), *samples;
    for (int i = 0; i < N; i++)
        data[i] = (uint8_t)(rng_below(&r, 200) + i % 50);
    void *there;
    cudaStream_t stream;
    CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA_OK(cudaMalloc((void **)&samples, N));
    CUDA_OK(cudaMemcpy(samples, data, N, cudaMemcpyHostToDevice));
    CUDA_OK(cudaMalloc(&there, sizeof(double) * 2 * MAX));
    const histo_fill_options filling = {.stream = stream};
    for (int kind = 0; kind < 16; kind++) {
        const histo_axis axis = histo_axis_regular(bins[kind % 4], kind % 3, 231);
        const histo_slots slots = kind / 4 % 2 ? HISTO_FLOW : HISTO_BINS;
        const histo_read_options as = {.dtype = types[(kind + kind / 4) % 4], .cumulative = kind == 13};
        const int64_t from = kind, n = kind == 7 ? 5 : N - kind - kind / 5;
        const histo_view view = histo_view_1d(samples + from, HISTO_U8, n),
                         host = histo_view_1d(data + from, HISTO_U8, n);
        histo_hist *h, *e;
        OK(histo_hist_create(&h, 1, &axis, NULL));
        OK(histo_hist_create(&e, 1, &axis, NULL));
        const int64_t size = histo_hist_size(h, slots);
        const size_t bytes = (size_t)size * histo_dtype_size(as.dtype);
        void *counts = malloc(bytes), *expected = malloc(bytes);
        histo_plan *plan;
        char params[64];
        snprintf(params, sizeof params, "blocks=%d", kind % 5 * 30);
        OK(histo_plan_create(&plan, h, &view, &filling,
                             &(histo_plan_options){.strategy = "cuda/lane_private", .params = params}));
        cudaGraph_t graph;
        cudaGraphExec_t launched = NULL;
        for (int fill = 0; fill < 7; fill++) {
            if (fill == 4) {
                CUDA_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
                OK(histo_plan_fill(plan, h, &view, &filling));
                OK(histo_plan_fill_read(plan, h, &view, &filling, slots, there, size, &as));
                CUDA_OK(cudaStreamEndCapture(stream, &graph));
                CUDA_OK(cudaGraphInstantiateWithFlags(&launched, graph, 0));
            }
            if (launched)
                CUDA_OK(cudaGraphLaunch(launched, stream));
            else
                OK(histo_plan_fill_read(plan, h, &view, &filling, slots, there, size, &as));
            for (int times = launched ? 2 : 1; times > 0; times--)
                fill_by(e, "cpu/sequential", &host, NULL);
            CUDA_OK(cudaMemcpyAsync(counts, there, bytes, cudaMemcpyDeviceToHost, stream));
            CUDA_OK(cudaStreamSynchronize(stream));
            OK(histo_hist_read_counts(e, slots, expected, size, &as));
            assert_memory_equal(counts, expected, bytes);
            if (fill == 2) {
                OK(histo_plan_fill(plan, h, &view, NULL)); /* on another stream */
                OK(histo_hist_fill(e, &host, NULL));
            }
            if (fill == 3) {
                OK(histo_hist_reset(h, stream));
                OK(histo_hist_reset(e, NULL));
            }
        }
        assert_same(h, e);
        CUDA_OK(cudaGraphExecDestroy(launched));
        CUDA_OK(cudaGraphDestroy(graph));
        histo_plan_destroy(plan);
        histo_hist_destroy(h);
        histo_hist_destroy(e);
        free(counts);
        free(expected);
    }
    CUDA_OK(cudaStreamDestroy(stream));
    CUDA_OK(cudaFree(samples));
    CUDA_OK(cudaFree(there));
    free(data);
}

/* The same of other samples, axes, batches and strategies, whose counts a second kernel reads. */
static void fills_that_read_by_any_strategy(void **state)
{
    (void)state;
    NEEDS_GPU();
    enum { BATCH = 3, EACH = 70001, N = BATCH * EACH, MAX = BATCH * 33 * 44 };
    const char *strategies[] = {NULL, "cuda/packed_window", "cuda/lane_private", "cuda/global_atomic",
                                "cuda/partition"};
    const histo_dtype types[] = {HISTO_F32, HISTO_U64, HISTO_U32, HISTO_F64};
    const double edges[] = {0, 3, 3.5, 40, 41, 90};
    rng r = {.state = 36};
    float *data = malloc(2 * N * sizeof *data), *samples;
    for (int i = 0; i < 2 * N; i++)
        data[i] = (float)rng_below(&r, 100000) / 1000;
    void *there;
    cudaStream_t stream;
    CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA_OK(cudaMalloc((void **)&samples, 2 * N * sizeof *samples));
    CUDA_OK(cudaMemcpy(samples, data, 2 * N * sizeof *samples, cudaMemcpyHostToDevice));
    CUDA_OK(cudaMalloc(&there, MAX * sizeof(double)));
    for (int kind = 0; kind < 30; kind++) {
        const histo_axis axes[] = {kind % 2 ? histo_axis_variable(5, edges) : histo_axis_regular(30, 2, 97),
                                   histo_axis_regular(41, -1, 99)};
        const int naxes = 1 + kind / 2 % 2;
        const bool in_batch = kind / 4 % 2, replaces = kind / 8 % 2;
        const histo_slots slots = kind % 3 ? HISTO_FLOW : HISTO_BINS;
        const histo_read_options as = {.dtype = types[kind % 4]};
        histo_view views[2], host[2];
        for (int a = 0; a < 2; a++) {
            const int64_t shape[] = {BATCH, EACH};
            views[a] = histo_view_nd(samples + a * N, HISTO_F32, 2, shape);
            host[a] = histo_view_nd(data + a * N, HISTO_F32, 2, shape);
            views[a].batch_ndim = host[a].batch_ndim = in_batch;
        }
        const histo_hist_options hist = {.batch = in_batch ? BATCH : 1};
        histo_hist *h, *e;
        OK(histo_hist_create(&h, naxes, axes, &hist));
        OK(histo_hist_create(&e, naxes, axes, &hist));
        const int64_t size = histo_hist_size(h, slots);
        const size_t bytes = (size_t)size * histo_dtype_size(as.dtype);
        void *counts = malloc(bytes), *expected = malloc(bytes);
        const histo_fill_options filling = {.stream = stream, .replace = replaces};
        histo_plan *plan;
        OK(histo_plan_create(&plan, h, views, &filling, &(histo_plan_options){.strategy = strategies[kind % 5]}));
        for (int fill = 0; fill < 3; fill++) {
            OK(histo_plan_fill_read(plan, h, views, &filling, slots, there, size, &as));
            fill_by(e, "cpu/sequential", host, &(histo_fill_options){.replace = replaces});
            CUDA_OK(cudaMemcpyAsync(counts, there, bytes, cudaMemcpyDeviceToHost, stream));
            CUDA_OK(cudaStreamSynchronize(stream));
            OK(histo_hist_read_counts(e, slots, expected, size, &as));
            assert_memory_equal(counts, expected, bytes);
        }
        assert_same(h, e);
        histo_plan_destroy(plan);
        histo_hist_destroy(h);
        histo_hist_destroy(e);
        free(counts);
        free(expected);
    }
    CUDA_OK(cudaStreamDestroy(stream));
    CUDA_OK(cudaFree(samples));
    CUDA_OK(cudaFree(there));
    free(data);
}

/* A fill that reads is one kernel, and a graph of fills and reads has one node more for each, and one that records the
 * event. */
static void nodes_of_a_graph(void **state)
{
    (void)state;
    NEEDS_GPU();
    enum { N = 1 << 20 };
    uint8_t *samples;
    uint32_t *there;
    cudaStream_t stream;
    CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA_OK(cudaMalloc((void **)&samples, N));
    CUDA_OK(cudaMemset(samples, 7, N));
    CUDA_OK(cudaMalloc((void **)&there, 256 * sizeof *there));
    const histo_fill_options filling = {.stream = stream};
    const histo_read_options as = {.dtype = HISTO_U32, .stream = stream};
    const histo_axis axis = histo_axis_integer(0, 256);
    const histo_view view = histo_view_1d(samples, HISTO_U8, N);
    histo_hist *h;
    histo_plan *plan;
    OK(histo_hist_create(&h, 1, &axis, NULL));
    OK(histo_plan_create(&plan, h, &view, &filling, NULL));
    OK(histo_plan_fill(plan, h, &view, &filling));
    for (int apart = 0; apart < 2; apart++) {
        cudaGraph_t graph;
        size_t nodes, edges = 0, kernels = 0, records = 0;
        CUDA_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        for (int fill = 0; fill < 3; fill++)
            if (apart) {
                OK(histo_plan_fill(plan, h, &view, &filling));
                OK(histo_hist_read_counts(h, HISTO_BINS, there, 256, &as));
            } else {
                OK(histo_plan_fill_read(plan, h, &view, &filling, HISTO_BINS, there, 256, &as));
            }
        CUDA_OK(cudaStreamEndCapture(stream, &graph));
        CUDA_OK(cudaGraphGetNodes(graph, NULL, &nodes));
        cudaGraphNode_t *all = malloc(nodes * sizeof *all);
        CUDA_OK(cudaGraphGetNodes(graph, all, &nodes));
        for (size_t i = 0; i < nodes; i++) {
            enum cudaGraphNodeType type;
            CUDA_OK(cudaGraphNodeGetType(all[i], &type));
            kernels += type == cudaGraphNodeTypeKernel;
            records += type == cudaGraphNodeTypeEventRecord;
        }
#if CUDART_VERSION >= 13000
        CUDA_OK(cudaGraphGetEdges(graph, NULL, NULL, NULL, &edges));
#else
        CUDA_OK(cudaGraphGetEdges(graph, NULL, NULL, &edges));
#endif
        assert_int_equal(kernels, apart ? 6 : 3);
        assert_int_equal(records, 1);
        assert_int_equal(nodes, kernels + 2); /* one waits for the event */
        assert_int_equal(edges, nodes - 1);
        free(all);
        CUDA_OK(cudaGraphDestroy(graph));
    }
    histo_plan_destroy(plan);
    histo_hist_destroy(h);
    CUDA_OK(cudaStreamDestroy(stream));
    CUDA_OK(cudaFree(samples));
    CUDA_OK(cudaFree(there));
}

/* A device that fails while it is read loses nothing: the read can be repeated. */
static void failed_device_reads(void **state)
{
    (void)state;
    NEEDS_GPU();
    const int64_t n = 20011;
    float *data = make_floats(35, n);
    histo_view host = histo_view_1d(data, HISTO_F32, n), device;
    void *memory = device_copy(&host, &device);
    uint64_t *there, counts[BINS], expected[BINS];
    CUDA_OK(cudaMalloc((void **)&there, sizeof counts));
    histo_hist *h = make(1, HISTO_UNWEIGHTED), *e = make(1, HISTO_UNWEIGHTED);
    fill_by(e, "cpu/sequential", &host, NULL);
    OK(histo_hist_read_counts(e, HISTO_BINS, expected, BINS, NULL));
    OK(histo_hist_fill(h, &device, NULL));
    histo_cuda_fail_as = cudaErrorMemoryAllocation;
    for (int kind = 0; kind < 3; kind++) { /* on the device, to the host, everything to the host */
        int at = 1;
        for (bool reached = true; reached; at++) {
            histo_tally tally;
            histo_cuda_fail_at = at;
            const histo_status status = kind == 2 ? histo_hist_tally(h, &tally)
                                                  : histo_hist_read_counts(h, HISTO_BINS, kind ? counts : there, BINS,
                                                                           &(histo_read_options){.cumulative = !kind});
            reached = histo_cuda_fail_at <= 0;
            histo_cuda_fail_at = 0;
            assert_int_equal(status, reached ? HISTO_NO_MEMORY : HISTO_OK);
            OK(histo_hist_read_counts(h, HISTO_BINS, there, BINS, NULL));
            CUDA_OK(cudaMemcpy(counts, there, sizeof counts, cudaMemcpyDeviceToHost));
            assert_memory_equal(counts, expected, sizeof counts);
        }
        assert_in_range(at, 2, 40);
        OK(histo_hist_fill(h, &device, NULL)); /* so that the next kind has something to do */
        OK(histo_hist_reset(h, NULL));
        OK(histo_hist_fill(h, &device, NULL));
    }
    assert_same(h, e);
    histo_hist_destroy(h);
    histo_hist_destroy(e);
    CUDA_OK(cudaFree(there));
    device_free(memory);
    free(data);
}

typedef struct worker {
    const histo_plan *plan;
    histo_hist *hist;
    const histo_view *device, *host;
    int fills;
    histo_status status;
} worker;

static void *work(void *context)
{
    worker *w = context;
    cudaStream_t stream;
    if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess) return NULL;
    histo_fill_options options = {.stream = stream};
    w->status = HISTO_OK;
    for (int i = 0; i < w->fills && w->status == HISTO_OK; i++)
        w->status = histo_plan_fill(w->plan, w->hist, i % 2 ? w->host : w->device, &options);
    cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
    return NULL;
}

static void several_host_threads(void **state)
{
    (void)state;
    NEEDS_GPU();
    enum { MAX = 6 };
    const int threads = getenv("HISTO_TEST_THREADS") ? atoi(getenv("HISTO_TEST_THREADS")) : MAX;
    const int fills = is_sanitized() ? 4 : 10;
    assert_in_range(threads, 1, MAX);
    const int64_t n = is_sanitized() ? 30001 : 150001;
    float *data = make_floats(7, n);
    histo_view host = histo_view_1d(data, HISTO_F32, n), device;
    void *memory = device_copy(&host, &device);
    histo_hist *e = make(1, HISTO_UNWEIGHTED);
    for (int i = 0; i < fills; i++)
        fill_by(e, "cpu/privatized", &host, NULL);
    for (int i = 0; histo_row_at(i); i++) {
        if (histo_row_at(i)->backend != &histo_backend_cuda) continue;
        histo_plan *plan;
        char name[64];
        snprintf(name, sizeof name, "cuda/%s", histo_row_at(i)->name);
        if (histo_plan_create(&plan, e, &device, NULL, &(histo_plan_options){.strategy = name}) != HISTO_OK) continue;
        worker workers[MAX];
        pthread_t started[MAX];
        for (int t = 0; t < threads; t++) {
            workers[t] = (worker){plan, make(1, HISTO_UNWEIGHTED), &device, &host, fills, HISTO_DEVICE};
            assert_int_equal(pthread_create(&started[t], NULL, work, &workers[t]), 0);
        }
        for (int t = 0; t < threads; t++)
            pthread_join(started[t], NULL);
        for (int t = 0; t < threads; t++) {
            if (workers[t].status != HISTO_OK) fail_msg("%s, thread %d: status %d", name, t, workers[t].status);
            assert_same(workers[t].hist, e);
            histo_hist_destroy(workers[t].hist);
        }
        histo_plan_destroy(plan);
    }
    histo_hist_destroy(e);
    device_free(memory);
    free(data);
}

/* Record in wisdom that fills of this kind take `us` by a strategy. */
static void remember(const char *strategy, const histo_hist *h, const histo_view *samples,
                     const histo_fill_options *fill, double us)
{
    histo_plan *plan;
    OK(histo_plan_create(&plan, h, samples, fill, &(histo_plan_options){.strategy = strategy}));
    char signature[HISTO_SIGNATURE_BYTES];
    histo_plan_signature(plan, plan->at, signature);
    OK(histo_wisdom_add(plan->problem.device, signature, plan->row, NULL, us));
    histo_plan_destroy(plan);
}

/* A plan that splits fills between the GPU and the CPU counts every sample once: masked, filtered, weighted and batched
 * ones. Samples at another location than planned are counted on the GPU. */
static void split_fills(void **state)
{
    (void)state;
    NEEDS_GPU();
    enum { ROWS = 3 };
    const int64_t n = is_sanitized() ? 3 << 20 : 3 << 24, shape[2] = {ROWS, n / ROWS};
    float *data = make_floats(21, n), *pinned, *weights;
    uint8_t *bytes;
    CUDA_OK(cudaFree(NULL));
    CUDA_OK(cudaMallocHost((void **)&pinned, (size_t)n * sizeof *pinned));
    CUDA_OK(cudaMallocHost((void **)&weights, (size_t)n * sizeof *weights));
    CUDA_OK(cudaMallocHost((void **)&bytes, (size_t)n));
    for (int64_t i = 0; i < n; i++) {
        pinned[i] = data[i];
        weights[i] = (float)(i % 1000) * 0.37f;
        bytes[i] = (uint8_t)(i % 3);
    }
    histo_view samples = histo_view_nd(pinned, HISTO_F32, 2, shape), elsewhere = samples, on_device;
    histo_view of_weights = histo_view_nd(weights, HISTO_F32, 2, shape),
               mask = histo_view_nd(bytes, HISTO_U8, 2, shape);
    samples.batch_ndim = elsewhere.batch_ndim = of_weights.batch_ndim = mask.batch_ndim = 1;
    elsewhere.data = data;
    void *memory = device_copy(&elsewhere, &on_device);
    const struct {
        histo_weighting weighting;
        histo_fill_options fill;
    } cases[] = {{HISTO_UNWEIGHTED, {.mask = NULL}},
                 {HISTO_UNWEIGHTED, {.mask = &mask}},
                 {HISTO_UNWEIGHTED, {.where = &samples, .where_lo = -1, .where_hi = 1}},
                 {HISTO_WEIGHT_REPRODUCIBLE, {.weights = &of_weights}},
                 {HISTO_WEIGHT_REPRODUCIBLE, {.weights = &of_weights, .mask = &mask}}};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        histo_hist *h = make(ROWS, cases[c].weighting), *e = make(ROWS, cases[c].weighting);
        histo_plan *plan;
        fill_by(e, "cpu/privatized", &samples, &cases[c].fill);
        remember("cpu/privatized", h, &samples, &cases[c].fill, 1e5);
        remember("cuda/global_atomic", h, &samples, &cases[c].fill, 1e5);
        OK(histo_plan_create(&plan, h, &samples, &cases[c].fill, NULL));
        char text[8192];
        histo_plan_explain(plan, text, sizeof text);
        if (plan->split.fraction == 0) fail_msg("case %zu is not split:\n%s", c, text);
        for (int times = 1; times <= 3; times++) {
            OK(histo_plan_fill(plan, h, &samples, &cases[c].fill));
            assert_same(h, e);
            OK(histo_hist_reset(h, NULL));
        }
        if (c == 0) {
            OK(histo_plan_fill(plan, h, &elsewhere, NULL));
            assert_same(h, e);
            OK(histo_hist_reset(h, NULL));
            OK(histo_plan_fill(plan, h, &on_device, NULL));
            assert_same(h, e);
        }
        histo_plan_destroy(plan);
        histo_hist_destroy(h);
        histo_hist_destroy(e);
    }
    histo_wisdom_forget();
    device_free(memory);
    cudaFreeHost(pinned);
    cudaFreeHost(weights);
    cudaFreeHost(bytes);
    free(data);
}

/* Every parameter of every strategy at its limits affects only speed. */
static void parameters(void **state)
{
    (void)state;
    NEEDS_GPU();
    const int64_t n = is_sanitized() ? 20003 : 100003;
    int at = 0;
    float *data = make_floats(8, n);
    histo_view host = histo_view_1d(data, HISTO_F32, n), device;
    void *memory = device_copy(&host, &device);
    histo_hist *h = make(1, HISTO_UNWEIGHTED), *e = make(1, HISTO_UNWEIGHTED);
    fill_by(e, "cpu/sequential", &host, NULL);
    for (int i = 0; histo_row_at(i); i++) {
        const histo_row *row = histo_row_at(i);
        if (row->backend != &histo_backend_cuda) continue;
        for (const histo_param *p = row->strategy->params; p->name; p++) {
            const int64_t values[] = {p->min, p->min + 1, (p->min + p->max) / 2, p->max};
            for (int v = 0; v < 4; v++) {
                if (values[v] > p->max || (is_sanitized() && at++ % 5 > 0)) continue;
                char name[64], params[128];
                histo_plan *plan;
                snprintf(name, sizeof name, "cuda/%s", row->name);
                snprintf(params, sizeof params, "%s=%lld", p->name, (long long)values[v]);
                histo_status status = histo_plan_create(&plan, h, &device, NULL,
                                                        &(histo_plan_options){.strategy = name, .params = params});
                if (status == HISTO_UNSUPPORTED) continue;
                OK(status);
                status = histo_plan_fill(plan, h, &device, NULL);
                if (status != HISTO_OK) fail_msg("%s with %s: %s", name, params, histo_last_error());
                assert_same(h, e);
                OK(histo_hist_reset(h, NULL));
                histo_plan_destroy(plan);
            }
        }
    }
    /* Combined: rows of a second kernel, in tiles, in copies, for a batch. */
    static const char *const together[] = {"merge=1,tile=100,copies=3", "merge=1,blocks=3,tile=7,inc=1",
                                           "copies=32,padding=0,threads=64", "coarsening=1,merge=1,blocks=1"};
    const int64_t shape[2] = {17, n / 20};
    histo_view rows = histo_view_nd(data, HISTO_F32, 2, shape), device_rows;
    rows.batch_ndim = 1;
    void *rows_memory = device_copy(&rows, &device_rows);
    histo_hist *h2 = make(17, HISTO_UNWEIGHTED), *e2 = make(17, HISTO_UNWEIGHTED);
    fill_by(e2, "cpu/sequential", &rows, NULL);
    for (size_t t = 0; t < sizeof together / sizeof together[0]; t++) {
        histo_plan *plan;
        OK(histo_plan_create(&plan, h2, &device_rows, NULL,
                             &(histo_plan_options){.strategy = "cuda/shared_atomic", .params = together[t]}));
        OK(histo_hist_reset(h2, NULL));
        OK(histo_plan_fill(plan, h2, &device_rows, NULL));
        assert_same(h2, e2);
        histo_plan_destroy(plan);
    }
    histo_hist_destroy(h);
    histo_hist_destroy(e);
    histo_hist_destroy(h2);
    histo_hist_destroy(e2);
    device_free(memory);
    device_free(rows_memory);
    free(data);
}

/* The n-th CUDA call fails, for every n: the call returns a status and a message, and the histogram counts correctly
 * after a reset. */
static void failures(void **state)
{
    (void)state;
    NEEDS_GPU();
    enum { MAX_CALLS = 2000 };
    const int step = is_sanitized() ? 7 : 1;
    static const int errors[] = {cudaErrorMemoryAllocation, cudaErrorLaunchFailure};
    const int64_t n = 20011;
    float *data = make_floats(9, n);
    histo_view host = histo_view_1d(data, HISTO_F32, n), device;
    void *memory = device_copy(&host, &device);
    const histo_weighting weightings[] = {HISTO_UNWEIGHTED, HISTO_WEIGHT_FAST, HISTO_WEIGHT_REPRODUCIBLE};
    for (int round = 0; round < 12; round++) {
        histo_weighting weighting = weightings[round % 3];
        const histo_view *views = round / 3 % 2 ? &host : &device;
        const char *strategy = weighting == HISTO_UNWEIGHTED ? "cuda/shared_atomic" : "cuda/global_atomic";
        histo_cuda_fail_as = errors[round / 6];
        histo_status wanted = round / 6 ? HISTO_DEVICE : HISTO_NO_MEMORY;
        histo_hist *e = make(1, weighting);
        fill_by(e, "cpu/sequential", &host, NULL);
        int at = 1;
        for (; at < MAX_CALLS; at += step) {
            histo_hist *h = make(1, weighting);
            histo_plan *plan = NULL;
            uint64_t counts[SLOTS];
            histo_cuda_fail_at = at;
            histo_status status = histo_plan_create(&plan, h, views, NULL, &(histo_plan_options){.strategy = strategy});
            if (status == HISTO_OK) status = histo_plan_fill(plan, h, views, NULL);
            if (status == HISTO_OK) status = histo_hist_read_counts(h, HISTO_FLOW, counts, SLOTS, NULL);
            bool reached = histo_cuda_fail_at <= 0;
            histo_cuda_fail_at = 0;
            if (status != HISTO_OK) {
                assert_int_equal(status, wanted);
                assert_non_null(strstr(histo_last_error(), "GPU 0"));
                histo_plan_destroy(plan);
                OK(histo_hist_reset(h, NULL));
                OK(histo_plan_create(&plan, h, views, NULL, &(histo_plan_options){.strategy = strategy}));
                OK(histo_plan_fill(plan, h, views, NULL));
            }
            assert_same(h, e);
            histo_plan_destroy(plan);
            histo_hist_destroy(h);
            if (!reached) break;
            assert_int_not_equal(status, HISTO_OK);
        }
        assert_in_range(at, 8, MAX_CALLS - 1);
        histo_hist_destroy(e);
    }
    device_free(memory);
    free(data);
}

/* ---- Compiled kernels ---- */

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
    const void *there = p.device.data;
    p.device = p.host;
    p.device.data = there;
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
    const histo_fill_options there = {.mask = &p.device_mask}, here = {.mask = &p.host_mask};
    static const struct {
        const char *name, *params;
    } strategies[] = {{"cuda/lane_private", NULL},
                      {"cuda/packed_window", NULL},
                      {"cuda/partition", NULL},
                      {"cuda/global_atomic", "blocks=132"}}; /* few samples have a kernel of their own */
    static const histo_effort efforts[] = {HISTO_COMPILE, HISTO_ESTIMATE};
    histo_hist *e = make_for_picture();
    fill_by(e, "cpu/privatized", &p.host, &here);
    for (size_t s = 0; s < sizeof strategies / sizeof *strategies; s++)
        for (size_t i = 0; i < sizeof efforts / sizeof *efforts; i++) {
            histo_hist *h = make_for_picture();
            histo_plan *plan;
            const histo_plan_options options = {
                .effort = efforts[i], .strategy = strategies[s].name, .params = strategies[s].params};
            OK(histo_plan_create(&plan, h, &p.device, &there, &options));
            OK(histo_plan_fill(plan, h, &p.device, &there));
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
    const histo_fill_options there = {.mask = &p.device_mask, .stream = stream}, here = {.mask = &p.host_mask};
    const histo_plan_options options = {.effort = HISTO_COMPILE, .strategy = "cuda/lane_private"};
    histo_hist *h = make_for_picture(), *e = make_for_picture();
    histo_plan *plan, *late;
    OK(histo_plan_create(&plan, h, &p.device, &there, &options));
    OK(histo_plan_create(&late, h, &p.device, &there, &options));
    OK(histo_plan_fill(plan, h, &p.device, &there));
    OK(histo_plan_fill(late, h, &p.device, &there));
    fill_by(e, "cpu/privatized", &p.host, &here);
    fill_by(e, "cpu/privatized", &p.host, &here);
    cudaGraph_t graph;
    cudaGraphExec_t launched;
    CUDA_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    OK(histo_plan_fill(plan, h, &p.device, &there));
    set_pixel(&p, 5);
    OK(histo_plan_fill(late, h, &p.device, &there));
    CUDA_OK(cudaStreamEndCapture(stream, &graph));
    CUDA_OK(cudaGraphInstantiateWithFlags(&launched, graph, 0));
    assert_explained(plan, "kernel: compiled for such samples");
    assert_explained(late, "kernel: general");
    for (int launch = 0; launch < 3; launch++) {
        CUDA_OK(cudaGraphLaunch(launched, stream));
        fill_by(e, "cpu/privatized", &p.host, &here);
        set_pixel(&p, 3);
        fill_by(e, "cpu/privatized", &p.host, &here);
        set_pixel(&p, 5);
    }
    OK(histo_plan_fill(late, h, &p.device, &there));
    fill_by(e, "cpu/privatized", &p.host, &here);
    assert_explained(late, "kernel: compiled for such samples");
    assert_same(h, e);
    CUDA_OK(cudaGraphExecDestroy(launched));
    CUDA_OK(cudaGraphDestroy(graph));
    histo_plan_destroy(plan);
    histo_plan_destroy(late);
    histo_hist_destroy(h);
    histo_hist_destroy(e);
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
    const histo_fill_options there = {.mask = &p.device_mask}, here = {.mask = &p.host_mask};
    const histo_plan_options options = {.effort = HISTO_COMPILE, .strategy = "cuda/lane_private"};
    histo_cuda_fail_as = cudaErrorLaunchFailure;
    int replaced = 0, at = 1;
    for (bool reached = true; reached; at += step) {
        histo_hist *h = make_for_picture(), *e = make_for_picture();
        histo_plan *plan;
        set_pixel(&p, 5 + at); /* a class that nothing was compiled for */
        assert_true(5 + at <= MAX_PIXEL);
        fill_by(e, "cpu/privatized", &p.host, &here);
        OK(histo_plan_create(&plan, h, &p.device, &there, &options));
        histo_cuda_fail_at = at;
        histo_status status = histo_plan_fill(plan, h, &p.device, &there);
        reached = histo_cuda_fail_at <= 0;
        histo_cuda_fail_at = 0;
        if (status != HISTO_OK) {
            assert_int_equal(status, HISTO_DEVICE);
            OK(histo_hist_reset(h, NULL));
            OK(histo_plan_fill(plan, h, &p.device, &there));
        } else if (reached) {
            assert_explained(plan, "kernel: general, because the one compiled for such samples could not be loaded");
            replaced++;
        }
        assert_same(h, e);
        histo_plan_destroy(plan);
        histo_hist_destroy(h);
        histo_hist_destroy(e);
    }
    assert_true(at > LOADING_CALLS);
    if (step == 1) assert_int_equal(replaced, LOADING_CALLS);
    free_picture(&p);
}

/* A failed read can be repeated, and adds everything once. */
static void failed_reads_lose_nothing(void **state)
{
    (void)state;
    NEEDS_GPU();
    const int64_t n = 20011;
    float *data = make_floats(10, n);
    histo_view host = histo_view_1d(data, HISTO_F32, n), device;
    void *memory = device_copy(&host, &device);
    histo_hist *e = make(1, HISTO_WEIGHT_REPRODUCIBLE);
    fill_by(e, "cpu/sequential", &host, NULL);
    histo_cuda_fail_as = cudaErrorMemoryAllocation;
    for (int at = 1;; at++) {
        histo_hist *h = make(1, HISTO_WEIGHT_REPRODUCIBLE);
        uint64_t counts[SLOTS];
        OK(histo_hist_fill(h, &device, NULL));
        histo_cuda_fail_at = at;
        histo_status status = histo_hist_read_counts(h, HISTO_FLOW, counts, SLOTS, NULL);
        bool reached = histo_cuda_fail_at <= 0;
        histo_cuda_fail_at = 0;
        /* Only a failed clearing after a read cannot be repeated, and says so. */
        status = histo_hist_read_counts(h, HISTO_FLOW, counts, SLOTS, NULL);
        if (status == HISTO_OK)
            assert_same(h, e);
        else
            assert_non_null(strstr(histo_last_error(), "reset the histogram"));
        histo_hist_destroy(h);
        if (!reached) break;
    }
    histo_hist_destroy(e);
    device_free(memory);
    free(data);
}

/* 2^33 samples in one bin, 8 GiB: HISTO_TEST_LARGE=1. */
static void more_than_32_bits_count(void **state)
{
    (void)state;
    NEEDS_GPU();
    if (!getenv("HISTO_TEST_LARGE")) skip();
    const int64_t n = INT64_C(1) << 33;
    uint8_t *memory;
    CUDA_OK(cudaMalloc((void **)&memory, (size_t)n + 5));
    CUDA_OK(cudaMemset(memory, 7, (size_t)n + 5));
    histo_axis axis = histo_axis_integer(0, 256);
    histo_view view = histo_view_1d(memory, HISTO_U8, n + 5);
    for (int i = 0; histo_row_at(i); i++) {
        if (histo_row_at(i)->backend != &histo_backend_cuda) continue;
        histo_hist *h;
        histo_plan *plan;
        char name[64];
        uint64_t counts[256];
        snprintf(name, sizeof name, "cuda/%s", histo_row_at(i)->name);
        OK(histo_hist_create(&h, 1, &axis, NULL));
        if (histo_plan_create(&plan, h, &view, NULL, &(histo_plan_options){.strategy = name}) == HISTO_OK) {
            OK(histo_plan_fill(plan, h, &view, NULL));
            OK(histo_hist_read_counts(h, HISTO_BINS, counts, 256, NULL));
            for (int b = 0; b < 256; b++)
                if (counts[b] != (b == 7 ? (uint64_t)n + 5 : 0))
                    fail_msg("%s: bin %d has %llu", name, b, (unsigned long long)counts[b]);
            histo_plan_destroy(plan);
        }
        histo_hist_destroy(h);
    }
    CUDA_OK(cudaFree(memory));
}

/* Many samples in GPU memory with too many bins for shared memory: the plan probes some on their stream, except during
 * a capture, when it must not wait. */
static void plans_probe(void **state)
{
    (void)state;
    NEEDS_GPU();
    if (is_sanitized()) skip(); /* too slow */
    const int64_t n = INT64_C(1) << 28, bins = 1 << 20;
    uint32_t *memory;
    cudaStream_t stream;
    CUDA_OK(cudaMalloc((void **)&memory, (size_t)n * sizeof *memory));
    CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA_OK(cudaMemsetAsync(memory, 0, (size_t)n * sizeof *memory, stream));
    histo_axis axis = histo_axis_integer(0, bins);
    histo_view view = histo_view_1d(memory, HISTO_U32, n);
    histo_fill_options options = {.stream = stream};
    histo_hist *h;
    OK(histo_hist_create(&h, 1, &axis, NULL));
    for (int captured = 0; captured < 2; captured++) {
        histo_plan *plan;
        char text[8192];
        cudaGraph_t graph;
        if (captured) CUDA_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
        OK(histo_plan_create(&plan, h, &view, &options, NULL));
        if (captured) {
            CUDA_OK(cudaStreamEndCapture(stream, &graph));
            CUDA_OK(cudaGraphDestroy(graph));
        }
        assert_true(histo_plan_explain(plan, text, sizeof text) < sizeof text);
        if (!strstr(text, "a probe at 2047 samples: 100 % of them") == !captured) fail_msg("%d: %s", captured, text);
        OK(histo_plan_fill(plan, h, &view, &options));
        histo_plan_destroy(plan);
    }
    uint64_t *counts = calloc((size_t)bins, sizeof *counts);
    OK(histo_hist_read_counts(h, HISTO_BINS, counts, bins, NULL));
    assert_int_equal(counts[0], 2 * n);
    free(counts);
    histo_hist_destroy(h);
    CUDA_OK(cudaStreamDestroy(stream));
    CUDA_OK(cudaFree(memory));
}

/* Resources kept between histograms are rebuilt after the application has reset the device. Must be the last test. */
static void after_a_reset(void **state)
{
    (void)state;
    NEEDS_GPU();
    const int64_t n = is_sanitized() ? 300001 : 3000001;
    float *data = make_floats(12, n);
    histo_view host = histo_view_1d(data, HISTO_F32, n);
    histo_hist *e = make(1, HISTO_UNWEIGHTED);
    fill_by(e, "cpu/privatized", &host, NULL);
    for (int times = 0; times < 2; times++) {
        histo_hist *h = make(1, HISTO_UNWEIGHTED);
        fill_by(h, "cuda/shared_atomic", &host, NULL);
        assert_same(h, e);
        histo_hist_destroy(h);
        CUDA_OK(cudaDeviceReset());
    }
    histo_hist_destroy(e);
    free(data);
}

/* ---- Overlap ---- */

/* The shortest of some fills in milliseconds, by events on the stream. */
static float shortest_fill(const histo_view *view, const char *strategy, const char *params, cudaStream_t stream)
{
    cudaEvent_t begin, end;
    CUDA_OK(cudaEventCreate(&begin));
    CUDA_OK(cudaEventCreate(&end));
    histo_hist *h = make(1, HISTO_UNWEIGHTED);
    histo_fill_options fill = {.stream = stream};
    histo_plan *plan;
    OK(histo_plan_create(&plan, h, view, &fill, &(histo_plan_options){.strategy = strategy, .params = params}));
    float shortest = 0;
    for (int i = 0; i < 6; i++) {
        float ms;
        CUDA_OK(cudaEventRecord(begin, stream));
        OK(histo_plan_fill(plan, h, view, &fill));
        CUDA_OK(cudaEventRecord(end, stream));
        CUDA_OK(cudaStreamSynchronize(stream));
        CUDA_OK(cudaEventElapsedTime(&ms, begin, end));
        if (i == 1 || (i > 1 && ms < shortest)) shortest = ms; /* the first fill makes the streams */
    }
    histo_plan_destroy(plan);
    histo_hist_destroy(h);
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    return shortest;
}

/* A block on each of four streams takes about as long as four blocks on one; one after the other, they would take four
 * times as long, as one block does. */
static void streams_overlap(void **state)
{
    (void)state;
    if (device_missing() || is_sanitized()) skip();
    const int64_t n = 1 << 24;
    float *data = make_floats(14, n);
    histo_view view = histo_view_1d(data, HISTO_F32, n), device;
    void *memory = device_copy(&view, &device);
    cudaStream_t stream;
    CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    const char *strategy = "cuda/packed_atomic";
    float one_block = shortest_fill(&device, strategy, "blocks=1,streams=1", stream);
    float four_blocks = shortest_fill(&device, strategy, "blocks=4,streams=1", stream);
    float four_streams = shortest_fill(&device, strategy, "blocks=4,streams=4", stream);
    if (four_blocks * 2 > one_block || four_streams * 2 > one_block)
        fail_msg("one block takes %g ms, four take %g ms, and %g ms on four streams", (double)one_block,
                 (double)four_blocks, (double)four_streams);
    CUDA_OK(cudaStreamDestroy(stream));
    device_free(memory);
    free(data);
}

/* Samples of several chunks from host memory, copied while others are counted, or in turns. */
static void with_overlap_and_without(void **state)
{
    (void)state;
    if (device_missing() || is_sanitized()) skip();
    const int64_t n = 3 * (16 << 20) + 12345; /* a chunk has 64 MiB */
    float *data = make_floats(15, n);
    histo_view view = histo_view_1d(data, HISTO_F32, n);
    histo_hist *expected = make(1, HISTO_UNWEIGHTED);
    fill_by(expected, "cpu/privatized", &view, NULL);
    static const char *const strategies[] = {"cuda/shared_search", "cuda/sort_search"};
    for (int s = 0; s < 2; s++)
        for (int overlap = 0; overlap < 2; overlap++) {
            histo_hist *h = make(1, HISTO_UNWEIGHTED);
            histo_plan *plan;
            histo_plan_options options = {.strategy = strategies[s], .params = overlap ? "overlap=1" : "overlap=0"};
            OK(histo_plan_create(&plan, h, &view, NULL, &options));
            OK(histo_plan_fill(plan, h, &view, NULL));
            assert_same(h, expected);
            histo_plan_destroy(plan);
            histo_hist_destroy(h);
        }
    histo_hist_destroy(expected);
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(device_samples_choose_the_gpu),
        cmocka_unit_test(stacks_of_images),
        cmocka_unit_test(gathered_by_every_reader),
        cmocka_unit_test(weights),
        cmocka_unit_test(every_kind_of_memory),
        cmocka_unit_test(planned_fills_do_not_wait),
        cmocka_unit_test(two_streams),
        cmocka_unit_test(captured_fills),
        cmocka_unit_test(reads_into_device_memory),
        cmocka_unit_test(large_reads),
        cmocka_unit_test(reads_do_not_wait),
        cmocka_unit_test(captured_reads),
        cmocka_unit_test(fills_that_read),
        cmocka_unit_test(fills_that_read_by_any_strategy),
        cmocka_unit_test(nodes_of_a_graph),
        cmocka_unit_test(failed_device_reads),
        cmocka_unit_test(several_host_threads),
        cmocka_unit_test(split_fills),
        cmocka_unit_test(parameters),
        cmocka_unit_test(failures),
        cmocka_unit_test(compiled_once),
        cmocka_unit_test(compiled_in_graphs),
        cmocka_unit_test(compiled_kernels_fail),
        cmocka_unit_test(failed_reads_lose_nothing),
        cmocka_unit_test(more_than_32_bits_count),
        cmocka_unit_test(plans_probe),
        cmocka_unit_test(streams_overlap),
        cmocka_unit_test(with_overlap_and_without),
        cmocka_unit_test(after_a_reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
