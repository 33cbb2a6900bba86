/* Fills and reads on streams of a GPU: what they wait for, what overlaps, and what a graph captures. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cuda_runtime_api.h>

#include "plan/plan.h"
#include "support/check.h"
#include "support/data.h"
#include "support/device.h"
#include "support/forbidden.h"
#include "support/gpu_fills.h"
#include "support/same.h"

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
    const gpu_samples s = make_gpu_samples(make_unit_floats(5, n), HISTO_F32, n);
    cudaStream_t stream;
    CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    histo_fill_options options = {.stream = stream};
    for (int i = 0; histo_row_at(i); i++) {
        if (histo_row_at(i)->backend != &histo_backend_cuda) continue;
        histo_hist *h = make_unit_hist(1, HISTO_UNWEIGHTED), *e = make_unit_hist(1, HISTO_UNWEIGHTED);
        histo_plan *plan;
        char name[64];
        snprintf(name, sizeof name, "cuda/%s", histo_row_at(i)->name);
        histo_status status = histo_plan_create(&plan, h, &s.device, &options, &(histo_plan_options){.strategy = name});
        if (status == HISTO_OK) {
            gate g = {0};
            OK(histo_plan_fill(plan, h, &s.device, &options));
            CUDA_OK(cudaDeviceSynchronize());
            CUDA_OK(cudaLaunchHostFunc(stream, wait_at, &g));
            assert_true(forbidden_calls > 0); /* from the first fill: proves that the linker redirects them */
            forbidden_calls = 0;
            for (int fill = 0; fill < 3; fill++)
                OK(histo_plan_fill(plan, h, &s.device, &options));
            int forbidden = forbidden_calls;
            bool running = cudaStreamQuery(stream) == cudaErrorNotReady;
            __atomic_store_n(&g.open, 1, __ATOMIC_RELEASE);
            CUDA_OK(cudaStreamSynchronize(stream));
            if (!running || g.late) fail_msg("%s: a planned fill waited for its stream", name);
            if (forbidden) fail_msg("%s: %d calls in planned fills take memory, wait or copy", name, forbidden);
            fill_by(e, "cpu/privatized", &s.host, NULL);
            OK(histo_hist_merge(e, e));
            OK(histo_hist_merge(e, e));
            assert_same(h, e);
            histo_plan_destroy(plan);
        }
        histo_hist_destroy(h);
        histo_hist_destroy(e);
    }
    CUDA_OK(cudaStreamDestroy(stream));
    free_gpu_samples(&s);
}

/* Two streams fill one histogram alternately, and two histograms at once, by every strategy. */
static void two_streams(void **state)
{
    (void)state;
    NEEDS_GPU();
    const int rounds = is_sanitized() ? 4 : 20;
    const int64_t n = is_sanitized() ? 20003 : 200003;
    const gpu_samples samples = make_gpu_samples(make_unit_floats(6, n), HISTO_F32, n);
    cudaStream_t streams[2];
    for (int s = 0; s < 2; s++)
        CUDA_OK(cudaStreamCreateWithFlags(&streams[s], cudaStreamNonBlocking));
    histo_hist *e = make_unit_hist(1, HISTO_UNWEIGHTED);
    for (int round = 0; round < rounds; round++)
        fill_by(e, "cpu/privatized", &samples.host, NULL);
    for (int i = 0; histo_row_at(i); i++) {
        if (histo_row_at(i)->backend != &histo_backend_cuda) continue;
        histo_hist *one = make_unit_hist(1, HISTO_UNWEIGHTED),
                   *each[2] = {make_unit_hist(1, HISTO_UNWEIGHTED), make_unit_hist(1, HISTO_UNWEIGHTED)};
        histo_plan *plan;
        char name[64];
        snprintf(name, sizeof name, "cuda/%s", histo_row_at(i)->name);
        if (histo_plan_create(&plan, one, &samples.device, NULL, &(histo_plan_options){.strategy = name}) == HISTO_OK) {
            for (int round = 0; round < rounds; round++) {
                OK(histo_plan_fill(plan, one, &samples.device, &(histo_fill_options){.stream = streams[round % 2]}));
                for (int s = 0; s < 2; s++)
                    OK(histo_plan_fill(plan, each[s], &samples.device, &(histo_fill_options){.stream = streams[s]}));
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
    free_gpu_samples(&samples);
}

/* Fills captured in a graph count at each launch, on any stream, between other fills and resets. */
static void captured_fills(void **state)
{
    (void)state;
    NEEDS_GPU();
    const int64_t n = 1920 * 1080 + 3;
    rng r = {.state = 11};
    histo_axis axis = histo_axis_integer(0, 256);
    const gpu_samples s = make_gpu_samples(make_samples(&r, HISTO_U8, GAUSSIAN, &axis, n), HISTO_U8, n);
    cudaStream_t streams[2];
    for (int i = 0; i < 2; i++)
        CUDA_OK(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
    static const char *const strategies[] = {"cuda/lane_private", "cuda/global_atomic"};
    for (int i = 0; i < 2; i++) {
        histo_hist *h, *e;
        histo_plan *plan;
        cudaGraph_t graph;
        cudaGraphExec_t launched;
        histo_fill_options options = {.stream = streams[0]};
        OK(histo_hist_create(&h, 1, &axis, NULL));
        OK(histo_hist_create(&e, 1, &axis, NULL));
        OK(histo_plan_create(&plan, h, &s.device, NULL, &(histo_plan_options){.strategy = strategies[i]}));
        CUDA_OK(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeGlobal));
        REFUSED(HISTO_UNSUPPORTED, "fill the histogram once before", histo_plan_fill(plan, h, &s.device, &options));
        REFUSED(HISTO_UNSUPPORTED, "host memory cannot be counted in a graph",
                histo_plan_fill(plan, h, &s.host, &options));
        CUDA_OK(cudaStreamEndCapture(streams[0], &graph));
        CUDA_OK(cudaGraphDestroy(graph));
        OK(histo_plan_fill(plan, h, &s.device, &options));
        CUDA_OK(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeGlobal));
        OK(histo_plan_fill(plan, h, &s.device, &options));
        OK(histo_plan_fill(plan, h, &s.device, &options));
        CUDA_OK(cudaStreamEndCapture(streams[0], &graph));
        CUDA_OK(cudaGraphInstantiateWithFlags(&launched, graph, 0));
        for (int round = 0; round < 3; round++) {
            for (int launch = 0; launch < 4; launch++)
                CUDA_OK(cudaGraphLaunch(launched, streams[launch % 2]));
            OK(histo_plan_fill(plan, h, &s.device, &(histo_fill_options){.stream = streams[round % 2]}));
            for (int fill = 0; fill < (round ? 9 : 10); fill++) /* the first round did that before the graph */
                fill_by(e, "cpu/value_counts", &s.host, NULL);
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
    for (int i = 0; i < 2; i++)
        CUDA_OK(cudaStreamDestroy(streams[i]));
    free_gpu_samples(&s);
}

/* A fill and reads on a stream return while it waits, and neither allocate nor copy. */
static void reads_do_not_wait(void **state)
{
    (void)state;
    NEEDS_GPU();
    const int64_t n = 100003;
    const gpu_samples s = make_gpu_samples(make_unit_floats(33, n), HISTO_F32, n);
    cudaStream_t stream;
    CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    const histo_fill_options filling = {.stream = stream};
    const histo_read_options plain = {.stream = stream}, running = {.stream = stream, .cumulative = true};
    uint64_t *on_gpu, counts[2 * BINS], expected[2 * BINS];
    CUDA_OK(cudaMalloc((void **)&on_gpu, sizeof counts));
    histo_hist *h = make_unit_hist(1, HISTO_UNWEIGHTED), *e = make_unit_hist(1, HISTO_UNWEIGHTED);
    /* Kernels are loaded when they are first launched, and loading may wait for the device. */
    OK(histo_hist_reset(h, stream));
    OK(histo_hist_fill(h, &s.device, &filling));
    OK(histo_hist_read_counts(h, HISTO_BINS, on_gpu, BINS, &plain));
    OK(histo_hist_read_counts(h, HISTO_BINS, on_gpu + BINS, BINS, &running));
    CUDA_OK(cudaDeviceSynchronize());
    gate g = {0};
    CUDA_OK(cudaLaunchHostFunc(stream, wait_at, &g));
    forbidden_calls = 0;
    OK(histo_hist_reset(h, stream));
    OK(histo_hist_fill(h, &s.device, &filling));
    OK(histo_hist_read_counts(h, HISTO_BINS, on_gpu, BINS, &plain));
    OK(histo_hist_fill(h, &s.device, &filling));
    OK(histo_hist_read_counts(h, HISTO_BINS, on_gpu + BINS, BINS, &running));
    const int forbidden = forbidden_calls;
    const bool waiting = cudaStreamQuery(stream) == cudaErrorNotReady;
    __atomic_store_n(&g.open, 1, __ATOMIC_RELEASE);
    CUDA_OK(cudaStreamSynchronize(stream));
    assert_true(waiting && !g.late);
    assert_int_equal(forbidden, 0);
    CUDA_OK(cudaMemcpy(counts, on_gpu, sizeof counts, cudaMemcpyDeviceToHost));
    fill_by(e, "cpu/sequential", &s.host, NULL);
    OK(histo_hist_read_counts(e, HISTO_BINS, expected, BINS, NULL));
    OK(histo_hist_merge(e, e));
    OK(histo_hist_read_counts(e, HISTO_BINS, expected + BINS, BINS, &(histo_read_options){.cumulative = true}));
    assert_memory_equal(counts, expected, sizeof counts);
    histo_hist_destroy(h);
    histo_hist_destroy(e);
    CUDA_OK(cudaFree(on_gpu));
    CUDA_OK(cudaStreamDestroy(stream));
    free_gpu_samples(&s);
}

/* A fill that reads is one kernel, and a graph of fills and reads has one node more for each, and one that records the
 * event. */
static void nodes_of_a_graph(void **state)
{
    (void)state;
    NEEDS_GPU();
    enum { N = 1 << 20 };
    uint8_t *samples;
    uint32_t *on_gpu;
    cudaStream_t stream;
    CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA_OK(cudaMalloc((void **)&samples, N));
    CUDA_OK(cudaMemset(samples, 7, N));
    CUDA_OK(cudaMalloc((void **)&on_gpu, 256 * sizeof *on_gpu));
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
                OK(histo_hist_read_counts(h, HISTO_BINS, on_gpu, 256, &as));
            } else {
                OK(histo_plan_fill_read(plan, h, &view, &filling, HISTO_BINS, on_gpu, 256, &as));
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
    CUDA_OK(cudaFree(on_gpu));
}

/* The shortest of some fills in milliseconds, by events on the stream. */
static float shortest_fill(const histo_view *view, const char *strategy, const char *params, cudaStream_t stream)
{
    cudaEvent_t begin, end;
    CUDA_OK(cudaEventCreate(&begin));
    CUDA_OK(cudaEventCreate(&end));
    histo_hist *h = make_unit_hist(1, HISTO_UNWEIGHTED);
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
    float *data = make_unit_floats(14, n);
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
    float *data = make_unit_floats(15, n);
    histo_view view = histo_view_1d(data, HISTO_F32, n);
    histo_hist *expected = make_unit_hist(1, HISTO_UNWEIGHTED);
    fill_by(expected, "cpu/privatized", &view, NULL);
    static const char *const strategies[] = {"cuda/shared_search", "cuda/sort_search"};
    for (int s = 0; s < 2; s++)
        for (int overlap = 0; overlap < 2; overlap++) {
            histo_hist *h = make_unit_hist(1, HISTO_UNWEIGHTED);
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

/* ---- Sequences ---- */

enum { IMAGE = 1 << 20, LEVELS = 256, ON_FIRST = 0, ON_OTHER = 1 };

/* Images of bytes in the memory of the GPU that are equalized there, on two streams. */
typedef struct equalizing {
    histo_hist *hist;
    histo_plan *plan;
    histo_map *map;
    gpu_samples image, results[2];
    uint8_t *expected;
    cudaStream_t streams[2];
} equalizing;

static void *image_of(uint64_t seed)
{
    rng r = {.state = seed};
    const histo_axis axis = histo_axis_integer(0, LEVELS);
    return make_samples(&r, HISTO_U8, GAUSSIAN, &axis, IMAGE);
}

static void fill_on(const equalizing *e, int stream)
{
    OK(histo_plan_fill(e->plan, e->hist, &e->image.device,
                       &(histo_fill_options){.stream = e->streams[stream], .replace = true}));
}

static void make_on(const equalizing *e, int stream)
{
    OK(histo_map_equalize(e->map, e->hist, &(histo_make_options){.hi = LEVELS - 1, .stream = e->streams[stream]}));
}

static void apply_on(const equalizing *e, int stream)
{
    OK(histo_map_apply(e->map, &e->image.device, &e->results[stream].device,
                       &(histo_apply_options){.stream = e->streams[stream]}));
}

static void equalize_on(const equalizing *e, int stream)
{
    fill_on(e, stream);
    make_on(e, stream);
    apply_on(e, stream);
}

static equalizing make_equalizing(void)
{
    equalizing e;
    const histo_axis axis = histo_axis_integer(0, LEVELS);
    OK(histo_hist_create(&e.hist, 1, &axis, NULL));
    OK(histo_map_create(&e.map, 1, &axis, NULL));
    e.image = make_gpu_samples(image_of(21), HISTO_U8, IMAGE);
    e.expected = malloc(IMAGE);
    for (int s = 0; s < 2; s++) {
        e.results[s] = make_gpu_samples(calloc(IMAGE, 1), HISTO_U8, IMAGE);
        CUDA_OK(cudaStreamCreateWithFlags(&e.streams[s], cudaStreamNonBlocking));
    }
    /* On the host, and on the GPU: what comes later does not allocate. */
    const histo_view expected = histo_view_1d(e.expected, HISTO_U8, IMAGE);
    fill_by(e.hist, "cpu/privatized", &e.image.host, NULL);
    make_on(&e, ON_FIRST);
    OK(histo_map_apply(e.map, &e.image.host, &expected, NULL));
    OK(histo_plan_create(&e.plan, e.hist, &e.image.device, NULL, NULL));
    equalize_on(&e, ON_OTHER);
    equalize_on(&e, ON_FIRST);
    CUDA_OK(cudaDeviceSynchronize());
    return e;
}

static void free_equalizing(const equalizing *e)
{
    for (int s = 0; s < 2; s++) {
        CUDA_OK(cudaStreamDestroy(e->streams[s]));
        free_gpu_samples(&e->results[s]);
    }
    free(e->expected);
    free_gpu_samples(&e->image);
    histo_map_destroy(e->map);
    histo_plan_destroy(e->plan);
    histo_hist_destroy(e->hist);
}

/* Whether a stream has written the expected results, which it then loses. */
static bool has_results(const equalizing *e, int stream)
{
    uint8_t *there = malloc(IMAGE);
    CUDA_OK(cudaMemcpy(there, e->results[stream].device.data, IMAGE, cudaMemcpyDeviceToHost));
    const bool are = memcmp(there, e->expected, IMAGE) == 0;
    CUDA_OK(cudaMemset((void *)e->results[stream].device.data, 0, IMAGE));
    CUDA_OK(cudaDeviceSynchronize());
    free(there);
    return are;
}

/* Other streams wait for the calls of a sequence, whether they come after it or in between. The map is made of an image
 * that the gate holds back: results without waiting would be those of the map before. */
static void other_streams_wait_for_sequences(void **state)
{
    (void)state;
    NEEDS_GPU();
    const equalizing e = make_equalizing();
    assert_true(has_results(&e, ON_FIRST) && has_results(&e, ON_OTHER));
    for (int in_between = 0; in_between < 2; in_between++) {
        OK(histo_hist_reset(e.hist, NULL));
        make_on(&e, ON_FIRST); /* of no counts */
        CUDA_OK(cudaDeviceSynchronize());
        gate g = {0};
        CUDA_OK(cudaLaunchHostFunc(e.streams[ON_FIRST], wait_at, &g));
        histo_sequence_begin(e.streams[ON_FIRST]);
        fill_on(&e, ON_FIRST);
        make_on(&e, ON_FIRST);
        if (in_between) apply_on(&e, ON_OTHER);
        apply_on(&e, ON_FIRST);
        OK(histo_sequence_end());
        if (!in_between) apply_on(&e, ON_OTHER);
        const bool waits = cudaStreamQuery(e.streams[ON_OTHER]) == cudaErrorNotReady;
        __atomic_store_n(&g.open, 1, __ATOMIC_RELEASE);
        CUDA_OK(cudaDeviceSynchronize());
        assert_true(waits && !g.late);
        assert_true(has_results(&e, ON_FIRST) && has_results(&e, ON_OTHER));
    }
    free_equalizing(&e);
}

/* In a sequence, the host reads what its calls have counted, and objects may be destroyed. */
static void the_host_in_sequences(void **state)
{
    (void)state;
    NEEDS_GPU();
    equalizing e = make_equalizing();
    uint64_t counts[LEVELS], sum = 0;
    histo_sequence_begin(e.streams[ON_FIRST]);
    histo_sequence_begin(e.streams[ON_OTHER]); /* in the first one */
    equalize_on(&e, ON_FIRST);
    OK(histo_sequence_end());
    OK(histo_hist_read_counts(e.hist, HISTO_BINS, counts, LEVELS, NULL));
    for (int i = 0; i < LEVELS; i++)
        sum += counts[i];
    assert_int_equal(sum, IMAGE);
    equalize_on(&e, ON_FIRST);
    histo_map_destroy(e.map);
    histo_hist_destroy(e.hist);
    OK(histo_sequence_end());
    OK(histo_sequence_end()); /* of none */
    e.map = NULL;
    e.hist = NULL;
    CUDA_OK(cudaDeviceSynchronize());
    assert_true(has_results(&e, ON_FIRST));
    free_equalizing(&e);
}

/* A graph captures the calls of a sequence as it does others. */
static void captured_sequences(void **state)
{
    (void)state;
    NEEDS_GPU();
    const equalizing e = make_equalizing();
    cudaGraph_t graph;
    cudaGraphExec_t launched;
    CUDA_OK(cudaStreamBeginCapture(e.streams[ON_FIRST], cudaStreamCaptureModeThreadLocal));
    histo_sequence_begin(e.streams[ON_FIRST]);
    equalize_on(&e, ON_FIRST);
    OK(histo_sequence_end());
    CUDA_OK(cudaStreamEndCapture(e.streams[ON_FIRST], &graph));
    CUDA_OK(cudaGraphInstantiate(&launched, graph, 0));
    for (int launch = 0; launch < 2; launch++) {
        assert_true(has_results(&e, ON_FIRST) == !launch); /* of the calls before, and none of the capture */
        CUDA_OK(cudaGraphLaunch(launched, e.streams[ON_FIRST]));
        CUDA_OK(cudaStreamSynchronize(e.streams[ON_FIRST]));
        assert_true(has_results(&e, ON_FIRST));
        histo_sequence_begin(e.streams[ON_OTHER]);
        equalize_on(&e, ON_OTHER);
        OK(histo_sequence_end());
        CUDA_OK(cudaDeviceSynchronize());
        assert_true(has_results(&e, ON_OTHER));
    }
    CUDA_OK(cudaGraphExecDestroy(launched));
    CUDA_OK(cudaGraphDestroy(graph));
    free_equalizing(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planned_fills_do_not_wait),
        cmocka_unit_test(two_streams),
        cmocka_unit_test(captured_fills),
        cmocka_unit_test(reads_do_not_wait),
        cmocka_unit_test(nodes_of_a_graph),
        cmocka_unit_test(streams_overlap),
        cmocka_unit_test(with_overlap_and_without),
        cmocka_unit_test(other_streams_wait_for_sequences),
        cmocka_unit_test(the_host_in_sequences),
        cmocka_unit_test(captured_sequences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
