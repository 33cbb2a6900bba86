/* Measuring on a GPU by events. The read roof of samples in device memory is a kernel that reads 16 bytes at a time;
 * that of samples in host memory is a plain copy. */
#include <stdlib.h>
#include <string.h>

#include "bench/core/cuda.h"
#include "papers/inputs/position.h"

static int attribute(cudaDeviceAttr which)
{
    int device = 0, value = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&value, which, device);
    return value;
}

unsigned bench_cuda_blocks(void)
{
    return (unsigned)(attribute(cudaDevAttrMultiProcessorCount) *
                      (attribute(cudaDevAttrMaxThreadsPerMultiProcessor) / BENCH_CUDA_THREADS));
}

static histo_status allocate(size_t bytes, void **memory)
{
    return bench_cuda_check(cudaMalloc(memory, bytes), "memory for the samples: ask for fewer");
}

static void release(const void *memory)
{
    cudaFree((void *)memory);
}

static histo_status copy(void *to, const void *from, size_t bytes)
{
    return bench_cuda_check(bench_cuda_move(to, from, bytes), "copying the samples");
}

typedef struct making {
    histo_axis axis[BENCH_MAX_AXES];
} making;

static __global__ void make_kernel(bench_input input, making on_gpu, int64_t n, void *samples)
{
    int64_t stride = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        bench_store(&input, on_gpu.axis, samples, i, n);
}

static histo_status make(const bench_input *input, const histo_axis *axis, int64_t n, void *memory)
{
    making on_gpu;
    memcpy(on_gpu.axis, axis, (size_t)bench_input_axes(input) * sizeof *axis);
    void *edges;
    histo_status status =
        bench_cuda_copy(axis->edges, ((size_t)axis->bins + 1) * sizeof(double), "memory for edges", &edges);
    on_gpu.axis[0].edges = (const double *)edges;
    if (status == HISTO_OK) make_kernel<<<bench_cuda_blocks(), BENCH_CUDA_THREADS>>>(*input, on_gpu, n, memory);
    cudaError_t error = cudaDeviceSynchronize();
    cudaFree(edges);
    return status == HISTO_OK ? bench_cuda_check(error, "making the samples") : status;
}

static __global__ void read_kernel(const uint4 *samples, size_t n, unsigned *sink)
{
    size_t stride = (size_t)gridDim.x * blockDim.x, i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    unsigned mixed = 0;
    for (; i + 3 * stride < n; i += 4 * stride) {
        uint4 a = samples[i], b = samples[i + stride], c = samples[i + 2 * stride], d = samples[i + 3 * stride];
        mixed += (a.x ^ a.y ^ a.z ^ a.w) + (b.x ^ b.y ^ b.z ^ b.w) + (c.x ^ c.y ^ c.z ^ c.w) + (d.x ^ d.y ^ d.z ^ d.w);
    }
    for (; i < n; i += stride)
        mixed += samples[i].x ^ samples[i].y ^ samples[i].z ^ samples[i].w;
    if (mixed == 0x2545f491) *sink = mixed; /* keeps the compiler from dropping the reads */
}

/* A stream, events, and memory to read that evicts the samples from L2. */
static struct {
    cudaStream_t stream;
    cudaEvent_t start, stop;
    unsigned *sink;
    void *elsewhere;
    size_t bytes;
} own;

static histo_status prepare(void)
{
    if (own.elsewhere) return HISTO_OK;
    TRY(cudaStreamCreateWithFlags(&own.stream, cudaStreamNonBlocking), "creating a stream");
    TRY(cudaEventCreate(&own.start), "creating an event");
    TRY(cudaEventCreate(&own.stop), "creating an event");
    TRY(cudaMalloc(&own.sink, sizeof *own.sink), "memory for a sum");
    own.bytes = 2 * (size_t)attribute(cudaDevAttrL2CacheSize) + sizeof(uint4);
    return bench_cuda_check(cudaMalloc(&own.elsewhere, own.bytes), "memory to empty the cache with");
}

static histo_status read_all(const void *placed, size_t bytes, int threads, void *stream)
{
    enum { BLOCK = 512, BLOCKS_EACH = 4 };
    (void)threads;
    const size_t most = (size_t)attribute(cudaDevAttrMultiProcessorCount) * BLOCKS_EACH, n = bytes / sizeof(uint4);
    const size_t blocks = n / BLOCK + 1 < most ? n / BLOCK + 1 : most;
    read_kernel<<<(unsigned)blocks, BLOCK, 0, (cudaStream_t)stream>>>((const uint4 *)placed, n, own.sink);
    return bench_cuda_check(cudaGetLastError(), "launching the kernel that reads");
}

static histo_status evict(void)
{
    histo_status status = prepare();
    return status == HISTO_OK ? read_all(own.elsewhere, own.bytes, 1, own.stream) : status;
}

static histo_status time_from_here(bench_work *work, void *context, double *us)
{
    histo_status status;
    TRY(cudaEventRecord(own.start, own.stream), "recording an event");
    status = work(context, own.stream);
    TRY(cudaEventRecord(own.stop, own.stream), "recording an event");
    TRY(cudaEventSynchronize(own.stop), "waiting for the GPU");
    float ms = 0;
    TRY(cudaEventElapsedTime(&ms, own.start, own.stop), "taking the time");
    *us = (double)ms * 1e3;
    return status;
}

/* The work is enqueued while the GPU is still evicting, which hides the host's launch latency. */
static histo_status time_work(bench_work *work, void *context, double *us)
{
    histo_status status = evict();
    return status == HISTO_OK ? time_from_here(work, context, us) : status;
}

/* Samples in host memory travel on streams of the library's own, so the work begins when the GPU has nothing to do. */
static histo_status time_transfer(bench_work *work, void *context, double *us)
{
    histo_status status = evict();
    if (status != HISTO_OK) return status;
    TRY(cudaStreamSynchronize(own.stream), "waiting for the GPU");
    return time_from_here(work, context, us);
}

static __global__ void empty_kernel(void) {}

static histo_status launch(void *context, void *stream)
{
    (void)context;
    empty_kernel<<<1, 32, 0, (cudaStream_t)stream>>>();
    return bench_cuda_check(cudaGetLastError(), "launching an empty kernel");
}

/* ---- Samples in host memory ---- */

static histo_status allocate_pinned(size_t bytes, void **memory)
{
    return bench_cuda_check(cudaMallocHost(memory, bytes), "page-locked memory: ask for fewer samples");
}

static void release_pinned(const void *memory)
{
    cudaFreeHost((void *)memory);
}

static histo_status allocate_pageable(size_t bytes, void **memory)
{
    *memory = malloc(bytes);
    return *memory ? HISTO_OK : histo_fail_memory(bytes, "samples: ask for fewer");
}

static void release_pageable(const void *memory)
{
    free((void *)memory);
}

/* The GPU makes them in its own memory. */
static histo_status make_on_host(const bench_input *input, const histo_axis *axis, int64_t n, void *memory)
{
    const size_t bytes = bench_input_bytes(input, n);
    void *made = NULL;
    histo_status status = allocate(bytes, &made);
    if (status == HISTO_OK) status = make(input, axis, n, made);
    if (status == HISTO_OK) status = copy(memory, made, bytes);
    release(made);
    return status;
}

/* Copies as many bytes as the samples have from page-locked memory. */
static histo_status copy_all(const void *placed, size_t bytes, int threads, void *stream)
{
    enum { PIECE = 64 << 20 };
    static void *from, *to;
    (void)placed, (void)threads;
    if (!from) TRY(cudaMallocHost(&from, PIECE), "page-locked memory");
    if (!to) TRY(cudaMalloc(&to, PIECE), "memory to copy to");
    for (size_t at = 0; at < bytes; at += PIECE)
        TRY(cudaMemcpyAsync(to, from, bytes - at < PIECE ? bytes - at : (size_t)PIECE, cudaMemcpyHostToDevice,
                            (cudaStream_t)stream),
            "copying from page-locked memory");
    return HISTO_OK;
}

static const bench_peer *const peers[] = {&bench_cub_histogram, &bench_cub_sort,       &bench_cub_runs,
                                          &bench_npp,           &bench_global_atomics, NULL};
static const bench_peer *const no_peers[] = {NULL};

#define ON_GPU                                                                                                         \
    .backend = "cuda", .device = HISTO_DEVICE_CUDA(0), .default_bytes = (size_t)1 << 30,                               \
    .quick_bytes = (size_t)256 << 20, .default_budget_us = 0.25e6

/* Indexed by bench_placement. */
extern "C" const bench_device bench_devices_cuda[] = {
    {ON_GPU, .allocate = allocate, .release = release, .make = make, .copy = copy, .count = reference_count_cuda,
     .peers = peers, .time = time_work, .launch = launch, .read = read_all, .random = &bench_random_cuda},
    {ON_GPU, .allocate = allocate_pinned, .release = release_pinned, .make = make_on_host, .copy = copy,
     .peers = no_peers, .time = time_transfer, .launch = launch, .read = copy_all},
    {ON_GPU, .allocate = allocate_pageable, .release = release_pageable, .make = make_on_host, .copy = copy,
     .peers = no_peers, .time = time_transfer, .launch = launch, .read = copy_all},
};
