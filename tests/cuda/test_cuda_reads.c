/* Reads of what a GPU has counted: into memory of the GPU, by fills, and after failures. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime_api.h>

#include "support/check.h"
#include "support/data.h"
#include "support/device.h"
#include "support/gpu_fills.h"
#include "support/same.h"

extern int histo_cuda_fail_at, histo_cuda_fail_as;

/* Compare a read into device memory with one into the host's, which must see the same counts in any order. */
static void check_read(const histo_hist *h, histo_slots slots, histo_dtype dtype, bool cumulative, bool sums)
{
    const int64_t size = histo_hist_size(h, slots);
    const size_t bytes = (size_t)size * histo_dtype_size(dtype);
    const histo_read_options options = {.dtype = dtype, .cumulative = cumulative};
    char *on_cpu = malloc(2 * bytes), *back = on_cpu + bytes;
    void *on_gpu;
    CUDA_OK(cudaMalloc(&on_gpu, bytes));
    CUDA_OK(cudaMemset(on_gpu, 0x55, bytes));
    for (int square = 0; square <= sums; square++) {
        if (!sums) {
            OK(histo_hist_read_counts(h, slots, on_gpu, size, &options));
            OK(histo_hist_read_counts(h, slots, on_cpu, size, &options));
        } else {
            OK(histo_hist_read_weights(h, slots, square ? NULL : on_gpu, square ? on_gpu : NULL, size, &options));
            OK(histo_hist_read_weights(h, slots, square ? NULL : on_cpu, square ? on_cpu : NULL, size, &options));
        }
        CUDA_OK(cudaMemcpy(back, on_gpu, bytes, cudaMemcpyDeviceToHost));
        if (memcmp(on_cpu, back, bytes) != 0)
            fail_msg("slots %d, dtype %d, cumulative %d, sums %d, square %d", slots, dtype, cumulative, sums, square);
    }
    CUDA_OK(cudaFree(on_gpu));
    free(on_cpu);
}

/* What a read on the stream has written to device memory is what the same read gives of a histogram on the host. */
static void assert_read(const void *on_device, cudaStream_t stream, const histo_hist *expected, histo_slots slots,
                        const histo_read_options *read)
{
    const int64_t size = histo_hist_size(expected, slots);
    const size_t bytes = (size_t)size * histo_dtype_size(read->dtype);
    char *counts = malloc(2 * bytes), *expected_counts = counts + bytes;
    CUDA_OK(cudaMemcpyAsync(counts, on_device, bytes, cudaMemcpyDeviceToHost, stream));
    CUDA_OK(cudaStreamSynchronize(stream));
    OK(histo_hist_read_counts(expected, slots, expected_counts, size, read));
    assert_memory_equal(counts, expected_counts, bytes);
    free(counts);
}

/* A stream, samples in device memory, and room there for what is read of them. */
typedef struct gpu_reading {
    cudaStream_t stream;
    void *samples, *counts;
} gpu_reading;

static gpu_reading begin_reading(const void *samples, size_t bytes, size_t count_bytes)
{
    gpu_reading r;
    CUDA_OK(cudaStreamCreateWithFlags(&r.stream, cudaStreamNonBlocking));
    CUDA_OK(cudaMalloc(&r.samples, bytes));
    CUDA_OK(cudaMemcpy(r.samples, samples, bytes, cudaMemcpyHostToDevice));
    CUDA_OK(cudaMalloc(&r.counts, count_bytes));
    return r;
}

static void end_reading(const gpu_reading *r)
{
    CUDA_OK(cudaStreamDestroy(r->stream));
    CUDA_OK(cudaFree(r->samples));
    CUDA_OK(cudaFree(r->counts));
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
    float *data = make_unit_floats(31, N), *more = make_unit_floats(32, N);
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
        assert_same_then_destroy(h, e);
        device_free(memory);
    }
    free(data);
}

/* Reset, fill and reads in a graph, whose launches count other samples each; reads into host memory in between change
 * nothing. */
static void captured_reads(void **state)
{
    (void)state;
    NEEDS_GPU();
    enum { N = 5000, ROUNDS = 4 };
    float *data = make_unit_floats(34, N * ROUNDS);
    const histo_read_options as = {.dtype = HISTO_U32};
    cudaGraph_t graph;
    cudaGraphExec_t launched;
    const gpu_reading on_gpu = begin_reading(data, N * sizeof *data, BINS * sizeof(uint32_t));
    const cudaStream_t stream = on_gpu.stream;
    const histo_view view = histo_view_1d(on_gpu.samples, HISTO_F32, N), host = histo_view_1d(data, HISTO_F32, N);
    const histo_fill_options filling = {.stream = stream};
    const histo_read_options reading = {.stream = stream, .dtype = HISTO_U32};
    for (int fresh = 0; fresh < 2; fresh++) { /* each launch counts alone, or adds to those before */
        histo_hist *h = make_unit_hist(1, HISTO_UNWEIGHTED), *e = make_unit_hist(1, HISTO_UNWEIGHTED);
        OK(histo_hist_fill(h, &host, NULL));
        OK(histo_hist_fill(h, &view, &filling));
        CUDA_OK(cudaStreamSynchronize(stream));
        CUDA_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        REFUSED(HISTO_UNSUPPORTED, "a graph can read only",
                histo_hist_read_counts(h, HISTO_BINS, on_gpu.counts, BINS, &reading));
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
        OK(histo_hist_read_counts(h, HISTO_BINS, on_gpu.counts, BINS, &reading));
        CUDA_OK(cudaStreamEndCapture(stream, &graph));
        CUDA_OK(cudaGraphInstantiateWithFlags(&launched, graph, 0));
        for (int round = 0; round < ROUNDS; round++) {
            const histo_view now = histo_view_1d(data + round * N, HISTO_F32, N);
            CUDA_OK(cudaMemcpyAsync(on_gpu.samples, now.data, N * sizeof *data, cudaMemcpyHostToDevice, stream));
            CUDA_OK(cudaGraphLaunch(launched, stream));
            if (fresh) OK(histo_hist_reset(e, NULL));
            OK(histo_hist_fill(e, &now, NULL));
            assert_read(on_gpu.counts, stream, e, HISTO_BINS, &as);
            assert_same(h, e);
        }
        CUDA_OK(cudaGraphExecDestroy(launched));
        CUDA_OK(cudaGraphDestroy(graph));
        histo_hist_destroy(h);
        histo_hist_destroy(e);
    }
    end_reading(&on_gpu);
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
    uint8_t *data = malloc(N);
    for (int i = 0; i < N; i++)
        data[i] = (uint8_t)(rng_below(&r, 200) + i % 50);
    const gpu_reading on_gpu = begin_reading(data, N, sizeof(double) * 2 * MAX);
    const cudaStream_t stream = on_gpu.stream;
    const uint8_t *const samples = on_gpu.samples;
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
                OK(histo_plan_fill_read(plan, h, &view, &filling, slots, on_gpu.counts, size, &as));
                CUDA_OK(cudaStreamEndCapture(stream, &graph));
                CUDA_OK(cudaGraphInstantiateWithFlags(&launched, graph, 0));
            }
            if (launched)
                CUDA_OK(cudaGraphLaunch(launched, stream));
            else
                OK(histo_plan_fill_read(plan, h, &view, &filling, slots, on_gpu.counts, size, &as));
            for (int times = launched ? 2 : 1; times > 0; times--)
                fill_by(e, "cpu/sequential", &host, NULL);
            assert_read(on_gpu.counts, stream, e, slots, &as);
            if (fill == 2) {
                OK(histo_plan_fill(plan, h, &view, NULL)); /* on another stream */
                OK(histo_hist_fill(e, &host, NULL));
            }
            if (fill == 3) {
                OK(histo_hist_reset(h, stream));
                OK(histo_hist_reset(e, NULL));
            }
        }
        CUDA_OK(cudaGraphExecDestroy(launched));
        CUDA_OK(cudaGraphDestroy(graph));
        histo_plan_destroy(plan);
        assert_same_then_destroy(h, e);
    }
    end_reading(&on_gpu);
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
    float *data = malloc(2 * N * sizeof *data);
    for (int i = 0; i < 2 * N; i++)
        data[i] = (float)rng_below(&r, 100000) / 1000;
    const gpu_reading on_gpu = begin_reading(data, 2 * N * sizeof *data, MAX * sizeof(double));
    const cudaStream_t stream = on_gpu.stream;
    const float *const samples = on_gpu.samples;
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
        const histo_fill_options filling = {.stream = stream, .replace = replaces};
        histo_plan *plan;
        OK(histo_plan_create(&plan, h, views, &filling, &(histo_plan_options){.strategy = strategies[kind % 5]}));
        for (int fill = 0; fill < 3; fill++) {
            OK(histo_plan_fill_read(plan, h, views, &filling, slots, on_gpu.counts, size, &as));
            fill_by(e, "cpu/sequential", host, &(histo_fill_options){.replace = replaces});
            assert_read(on_gpu.counts, stream, e, slots, &as);
        }
        histo_plan_destroy(plan);
        assert_same_then_destroy(h, e);
    }
    end_reading(&on_gpu);
    free(data);
}

/* A device that fails while it is read loses nothing: the read can be repeated. */
static void failed_device_reads(void **state)
{
    (void)state;
    NEEDS_GPU();
    const int64_t n = 20011;
    const gpu_samples s = make_gpu_samples(make_unit_floats(35, n), HISTO_F32, n);
    uint64_t *on_gpu, counts[BINS], expected[BINS];
    CUDA_OK(cudaMalloc((void **)&on_gpu, sizeof counts));
    histo_hist *h = make_unit_hist(1, HISTO_UNWEIGHTED), *e = make_unit_hist(1, HISTO_UNWEIGHTED);
    fill_by(e, "cpu/sequential", &s.host, NULL);
    OK(histo_hist_read_counts(e, HISTO_BINS, expected, BINS, NULL));
    OK(histo_hist_fill(h, &s.device, NULL));
    histo_cuda_fail_as = cudaErrorMemoryAllocation;
    for (int kind = 0; kind < 3; kind++) { /* on the device, to the host, everything to the host */
        int at = 1;
        for (bool reached = true; reached; at++) {
            histo_tally tally;
            histo_cuda_fail_at = at;
            const histo_status status = kind == 2 ? histo_hist_tally(h, &tally)
                                                  : histo_hist_read_counts(h, HISTO_BINS, kind ? counts : on_gpu, BINS,
                                                                           &(histo_read_options){.cumulative = !kind});
            reached = histo_cuda_fail_at <= 0;
            histo_cuda_fail_at = 0;
            assert_int_equal(status, reached ? HISTO_NO_MEMORY : HISTO_OK);
            OK(histo_hist_read_counts(h, HISTO_BINS, on_gpu, BINS, NULL));
            CUDA_OK(cudaMemcpy(counts, on_gpu, sizeof counts, cudaMemcpyDeviceToHost));
            assert_memory_equal(counts, expected, sizeof counts);
        }
        assert_in_range(at, 2, 40);
        OK(histo_hist_fill(h, &s.device, NULL)); /* so that the next kind has something to do */
        OK(histo_hist_reset(h, NULL));
        OK(histo_hist_fill(h, &s.device, NULL));
    }
    assert_same_then_destroy(h, e);
    CUDA_OK(cudaFree(on_gpu));
    free_gpu_samples(&s);
}

/* A failed read can be repeated, and adds everything once. */
static void failed_reads_lose_nothing(void **state)
{
    (void)state;
    NEEDS_GPU();
    const int64_t n = 20011;
    const gpu_samples s = make_gpu_samples(make_unit_floats(10, n), HISTO_F32, n);
    histo_hist *e = make_unit_hist(1, HISTO_WEIGHT_REPRODUCIBLE);
    fill_by(e, "cpu/sequential", &s.host, NULL);
    histo_cuda_fail_as = cudaErrorMemoryAllocation;
    for (int at = 1;; at++) {
        histo_hist *h = make_unit_hist(1, HISTO_WEIGHT_REPRODUCIBLE);
        uint64_t counts[SLOTS];
        OK(histo_hist_fill(h, &s.device, NULL));
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
    free_gpu_samples(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_into_device_memory),
        cmocka_unit_test(large_reads),
        cmocka_unit_test(captured_reads),
        cmocka_unit_test(fills_that_read),
        cmocka_unit_test(fills_that_read_by_any_strategy),
        cmocka_unit_test(failed_device_reads),
        cmocka_unit_test(failed_reads_lose_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
