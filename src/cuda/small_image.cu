/* One small array of 8-bit samples, such as a camera's image, counted by value: what lane_private does with it.
 *
 * Such a fill is over in a few microseconds, most of which are misses: of the first instructions, of the launch's
 * arguments, of the samples. So this kernel is short, and all its arguments are within a line of constants. Each thread
 * asks for its first vectors before it does anything else, and blocks are as few as keep a multiprocessor busy, since
 * each adds 256 sums to the same counters.
 *
 * Bytes: each once. Bound: launching, and the latency of memory. */
#include "cuda/pixels.h"
#include "cuda/values.cuh"

enum { THREADS = 1024, VECTOR = 16, AHEAD = 2 /* vectors of a thread that are on their way */ };
enum { MAX_VECTORS = 8 /* of a thread: beyond, the start does not matter */ };

typedef struct small_image {
    const uint4 *vectors; /* aligned */
    const uint32_t *slot_of;
    unsigned long long *counts;
    uint32_t number;     /* of vectors */
    uint32_t head, tail; /* bytes before and behind them */
} small_image;

static __global__ void __launch_bounds__(THREADS) count_small_image(const __grid_constant__ small_image p)
{
    __shared__ __align__(VECTOR) unsigned int counters[HISTO_VALUES * HISTO_VALUE_COPIES];
    __shared__ uint32_t sums[HISTO_VALUES];
    uint32_t stride = gridDim.x * THREADS, next = blockIdx.x * THREADS + threadIdx.x;
    uint4 coming[AHEAD];
    bool comes[AHEAD];
#pragma unroll
    for (int v = 0; v < AHEAD; v++, next += stride) {
        comes[v] = next < p.number;
        if (comes[v]) coming[v] = __ldcs(&p.vectors[next]);
    }
    /* Blocks begin to add at different counters. */
    uint32_t value = (threadIdx.x + blockIdx.x * 32) % HISTO_VALUES, slot = 0;
    if (threadIdx.x < HISTO_VALUES) slot = p.slot_of[value];
    for (uint32_t i = threadIdx.x; i < HISTO_VALUES * HISTO_VALUE_COPIES / 4; i += THREADS)
        ((uint4 *)counters)[i] = make_uint4(0, 0, 0, 0);
    __syncthreads();
    uint32_t mine = (uint32_t)__cvta_generic_to_shared(counters + threadIdx.x % HISTO_VALUE_COPIES);
#pragma unroll 1
    while (comes[0])
#pragma unroll
        for (int v = 0; v < AHEAD; v++, next += stride) {
            if (!comes[v]) continue;
            uint4 now = coming[v];
            comes[v] = next < p.number;
            if (comes[v]) coming[v] = __ldcs(&p.vectors[next]);
#pragma unroll
            for (int k = 0; k < VECTOR; k++)
                histo_count_at(histo_value_counter(mine, histo_word_of(now, k / 4), k % 4));
        }
    if (blockIdx.x == 0 && threadIdx.x < p.head + p.tail) {
        const uint8_t *behind = (const uint8_t *)(p.vectors + p.number);
        uint8_t byte =
            threadIdx.x < p.tail ? behind[threadIdx.x] : ((const uint8_t *)p.vectors)[-1 - (int)(threadIdx.x - p.tail)];
        histo_count_at(histo_value_counter(mine, byte, 0));
    }
    __syncthreads();
    if (threadIdx.x < 2 * HISTO_VALUES) {
        uint32_t sum = histo_sum_value(counters, threadIdx.x);
        if (threadIdx.x % 2 == 0) sums[threadIdx.x / 2] = sum;
    }
    __syncthreads();
    if (threadIdx.x < HISTO_VALUES && sums[value]) atomicAdd(&p.counts[slot], (unsigned long long)sums[value]);
}

bool histo_cuda_count_small_image(const histo_job *job, const char *at, int64_t bytes, int64_t threads, int64_t blocks,
                                  histo_status *status)
{
    int64_t most = histo_cuda_device_of(job->problem->device)->multiprocessors, each = THREADS * VECTOR;
    if (bytes > most * each * MAX_VECTORS || (threads && threads < THREADS)) return false;
    const histo_cuda_accumulators *accumulators = histo_cuda_accumulators_in(job);
    int64_t head = -(int64_t)(uintptr_t)at & (VECTOR - 1), wanted = bytes / (each * AHEAD) + 1;
    if (head > bytes) head = bytes;
    small_image p = {(const uint4 *)(at + head),
                     ((const histo_cuda_prepared *)job->prepared)->lookups[0].table,
                     accumulators->counts,
                     (uint32_t)((bytes - head) / VECTOR),
                     (uint32_t)head,
                     (uint32_t)((bytes - head) % VECTOR)};
    if (blocks) most = blocks;
    void *args[] = {&p};
    *status = histo_cuda_launch(job, (const void *)count_small_image, dim3((unsigned)(wanted < most ? wanted : most)),
                                THREADS, 0, args);
    return true;
}
