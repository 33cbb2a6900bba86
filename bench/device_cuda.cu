/* Measuring on a GPU: samples in device memory, times by events, and a kernel that only reads, 16 bytes at a time. */
#include <cuda_runtime.h>

#include "bench/device.h"

extern "C" {
#include "base/error.h"
#include "plan/strategy.h"
}

static histo_status check(cudaError_t error, const char *what)
{
    if (error == cudaSuccess) return HISTO_OK;
    cudaGetLastError();
    return histo_fail(error == cudaErrorMemoryAllocation ? HISTO_NO_MEMORY : HISTO_DEVICE, "%s: %s", what,
                      cudaGetErrorString(error));
}

#define TRY(call, what)                                                                                                \
    do {                                                                                                               \
        histo_status tried = check(call, what);                                                                        \
        if (tried != HISTO_OK) return tried;                                                                           \
    } while (0)

static const char *unavailable(void)
{
    return histo_backend_cuda.unavailable();
}

static histo_status place(const void *host, size_t bytes, const void **placed)
{
    void *memory;
    TRY(cudaMalloc(&memory, bytes), "memory for the samples");
    cudaError_t error = cudaMemcpy(memory, host, bytes, cudaMemcpyHostToDevice);
    if (error != cudaSuccess) cudaFree(memory);
    *placed = memory;
    return check(error, "copying the samples");
}

static void release(const void *placed)
{
    cudaFree((void *)placed);
}

__global__ void read_kernel(const uint4 *samples, size_t n, unsigned *sink)
{
    size_t stride = (size_t)gridDim.x * blockDim.x, i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    unsigned mixed = 0;
    for (; i + 3 * stride < n; i += 4 * stride) {
        uint4 a = samples[i], b = samples[i + stride], c = samples[i + 2 * stride], d = samples[i + 3 * stride];
        mixed += (a.x ^ a.y ^ a.z ^ a.w) + (b.x ^ b.y ^ b.z ^ b.w) + (c.x ^ c.y ^ c.z ^ c.w) + (d.x ^ d.y ^ d.z ^ d.w);
    }
    for (; i < n; i += stride)
        mixed += samples[i].x ^ samples[i].y ^ samples[i].z ^ samples[i].w;
    if (mixed == 0x2545f491) *sink = mixed; /* so that reading is not left out */
}

static int attribute(cudaDeviceAttr which)
{
    int device = 0, value = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&value, which, device);
    return value;
}

/* A stream, events, and memory to read, so that the second-level cache holds none of the samples. */
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
    return check(cudaMalloc(&own.elsewhere, own.bytes), "memory to empty the cache with");
}

static histo_status read_all(const void *placed, size_t bytes, int threads, void *stream)
{
    enum { BLOCK = 512, BLOCKS_EACH = 4 };
    (void)threads;
    unsigned blocks = (unsigned)attribute(cudaDevAttrMultiProcessorCount) * BLOCKS_EACH;
    read_kernel<<<blocks, BLOCK, 0, (cudaStream_t)stream>>>((const uint4 *)placed, bytes / sizeof(uint4), own.sink);
    return check(cudaGetLastError(), "launching the kernel that reads");
}

/* The work is enqueued while the GPU still reads elsewhere, so that the time has no launch latency of the host in it
 * but what exceeds that. */
static histo_status time_work(bench_work *work, void *context, double *us)
{
    histo_status status = prepare();
    if (status == HISTO_OK) status = read_all(own.elsewhere, own.bytes, 1, own.stream);
    if (status != HISTO_OK) return status;
    TRY(cudaEventRecord(own.start, own.stream), "recording an event");
    status = work(context, own.stream);
    TRY(cudaEventRecord(own.stop, own.stream), "recording an event");
    TRY(cudaEventSynchronize(own.stop), "waiting for the GPU");
    float ms = 0;
    TRY(cudaEventElapsedTime(&ms, own.start, own.stop), "taking the time");
    *us = (double)ms * 1e3;
    return status;
}

static int one(int wanted)
{
    (void)wanted;
    return 1;
}

extern "C" const bench_device bench_device_cuda = {
    .backend = "cuda",
    .device = HISTO_DEVICE_CUDA(0),
    .unavailable = unavailable,
    .usual_bytes = (size_t)1 << 30,
    .quick_bytes = (size_t)256 << 20,
    .usual_budget_us = 0.25e6,
    .place = place,
    .release = release,
    .time = time_work,
    .read = read_all,
    .threads = one,
};
