/* One small array of 8-bit samples, such as a camera's image, counted by value.
 *
 * Such a fill takes a few microseconds, most of them cache misses: on the first instructions, the kernel's arguments,
 * the samples. So this kernel is short, its arguments fit a line of the constant cache, and each thread issues its
 * first loads before anything else. Each vector's successor is loaded before the vector is counted, so that after the
 * last load little is left to count. There are only as many blocks as keep the multiprocessors busy, since each adds
 * 256 sums to the same counters. The counters are those of pixels.cu.
 *
 * Bytes: each sample once. Bound: the launch, and the latency of memory; then its bandwidth. Wins on contiguous arrays
 * of up to some hundred megabytes. */
#include "cuda/lane_private/pixels.h"
#include "cuda/lane_private/values.cuh"

enum { THREADS = 1024, VECTOR = 16 };
/* Vectors of a thread: with more than FEW, more are in flight; with more than MOST, the time to start and to end does
 * not matter. */
enum { FEW = 8, MOST = 64 };

typedef struct small_image {
    const uint4 *vectors; /* aligned */
    const uint32_t *slot_of;
    unsigned long long *counts;
    uint32_t number;     /* of vectors */
    uint32_t head, tail; /* bytes before and after them */
} small_image;

/* AHEAD: vectors of a thread in flight. */
template <int AHEAD>
static __global__ void __launch_bounds__(THREADS) count_small_image(const __grid_constant__ small_image p)
{
    __shared__ __align__(VECTOR) unsigned int counters[HISTO_VALUES * HISTO_VALUE_COPIES];
    __shared__ uint32_t sums[HISTO_VALUES];
    uint32_t stride = gridDim.x * THREADS, next = blockIdx.x * THREADS + threadIdx.x;
    uint4 loaded[AHEAD];
    bool exists[AHEAD];
#pragma unroll
    for (int v = 0; v < AHEAD; v++, next += stride) {
        exists[v] = next < p.number;
        if (exists[v]) loaded[v] = __ldcs(&p.vectors[next]);
    }
    /* Blocks start their merge at different counters. */
    uint32_t value = (threadIdx.x + blockIdx.x * 32) % HISTO_VALUES, slot = 0;
    if (threadIdx.x < HISTO_VALUES) slot = p.slot_of[value];
    for (uint32_t i = threadIdx.x; i < HISTO_VALUES * HISTO_VALUE_COPIES / 4; i += THREADS)
        ((uint4 *)counters)[i] = make_uint4(0, 0, 0, 0);
    __syncthreads();
    uint32_t mine = (uint32_t)__cvta_generic_to_shared(counters + threadIdx.x % HISTO_VALUE_COPIES);
#pragma unroll 1
    while (exists[0])
#pragma unroll
        for (int v = 0; v < AHEAD; v++, next += stride) {
            if (!exists[v]) continue;
            uint4 now = loaded[v];
            exists[v] = next < p.number;
            if (exists[v]) loaded[v] = __ldcs(&p.vectors[next]);
#pragma unroll
            for (int k = 0; k < VECTOR; k++)
                histo_count_at(histo_value_counter(mine, histo_word_of(now, k / 4), k % 4));
        }
    if (blockIdx.x == 0 && threadIdx.x < p.head + p.tail) {
        const uint8_t *end = (const uint8_t *)(p.vectors + p.number);
        uint8_t byte =
            threadIdx.x < p.tail ? end[threadIdx.x] : ((const uint8_t *)p.vectors)[-1 - (int)(threadIdx.x - p.tail)];
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

bool histo_is_small_image(const histo_job *job, const histo_pixels *pixels, int period, int64_t threads)
{
    const histo_images *in = &pixels->in;
    bool is_array = period == 1 && in->rows == 1 && in->dims == 0 && !in->mask && !pixels->filters;
    bool all = job->begin == 0 && job->end == job->iter.batch * job->iter.per_batch;
    int64_t multiprocessors = histo_cuda_device_of(job->problem->device)->multiprocessors;
    return is_array && all && in->row_bytes <= multiprocessors * MOST * THREADS * VECTOR &&
           (!threads || threads >= THREADS);
}

histo_status histo_small_image_launch(const histo_job *job, const histo_pixels *pixels, int64_t blocks)
{
    const char *at = pixels->in.samples;
    int64_t bytes = pixels->in.row_bytes, head = -(int64_t)(uintptr_t)at & (VECTOR - 1);
    const int64_t multiprocessors = histo_cuda_device_of(job->problem->device)->multiprocessors;
    const bool are_few = bytes <= multiprocessors * FEW * THREADS * VECTOR;
    const int64_t wanted = bytes / (THREADS * VECTOR * 2) + 1;
    if (!blocks) blocks = multiprocessors;
    if (head > bytes) head = bytes;
    small_image p = {(const uint4 *)(at + head),          pixels->slot_of, pixels->counts,
                     (uint32_t)((bytes - head) / VECTOR), (uint32_t)head,  (uint32_t)((bytes - head) % VECTOR)};
    void *args[] = {&p};
    dim3 grid((unsigned)(wanted < blocks ? wanted : blocks));
    const void *kernel = are_few ? (const void *)count_small_image<2> : (const void *)count_small_image<4>;
    return histo_cuda_launch(job, kernel, grid, THREADS, 0, args);
}
