/* One small array of 8-bit samples, such as a camera's image, counted by value.
 *
 * Such a fill takes a few microseconds, most of them cache misses: on the first instructions, the kernel's arguments,
 * the samples. So this kernel is short, its arguments fit a line of the constant cache, and each thread issues its
 * first loads before anything else. Each vector's successor is loaded before the vector is counted, so that after the
 * last load little is left to count. There are only as many blocks as keep the multiprocessors busy, since each adds
 * 256 sums to the same counters. The counters are those of byte_pixels.cu.
 *
 * Where the counts are read next, or replace earlier ones, the kernel writes them, too. A block then adds its counts to
 * words of this launch, and with each of them its arrival, in the upper bits: the atomic addition returns how many
 * blocks have arrived, so that the last one knows the sum at once, without a fence, and adds it to the count that all
 * have loaded at their start.
 *
 * Bytes: each sample once. Bound: the launch, and the latency of memory; then its bandwidth. Wins on contiguous arrays
 * of up to some hundred megabytes. */
#include "cuda/device/byte_counters.cuh"
#include "cuda/device/dependent.cuh"
#include "cuda/host/device.h"
#include "cuda/launch/launch.h"
#include "cuda/memory/accumulators.h"
#include "cuda/strategies/lane_private/byte_pixels.h"

enum { THREADS = 1024, VECTOR = 16 };
/* Vectors of a thread: with more than FEW, more are in flight; with more than MOST, the time to start and to end does
 * not matter. */
enum { FEW = 8, MOST = 64 };

enum { ARRIVED = 40 /* the bit from which on arrivals are counted; below it, samples of an image */ };

typedef struct small_image {
    const uint4 *vectors; /* aligned */
    const uint32_t *slot_of;
    unsigned long long *counts;
    uint32_t number;     /* of vectors */
    uint32_t head, tail; /* bytes before and after them */
} small_image;

/* A small image, and where its counts are written to. */
typedef struct small_image_read {
    small_image image;
    unsigned long long *arrivals; /* a word for each slot */
    void *out;
    uint32_t slots, first, read; /* of them, `read` from the first on are written, as … */
    histo_dtype dtype;
    bool replaces; /* earlier counts do not matter */
} small_image_read;

HISTO_IN_KERNEL void write_count(const small_image_read *r, uint32_t i, unsigned long long count)
{
    switch (r->dtype) {
    case HISTO_U32:
        ((uint32_t *)r->out)[i] = histo_saturated(count);
        break;
    case HISTO_F32:
        ((float *)r->out)[i] = (float)count;
        break;
    case HISTO_F64:
        ((double *)r->out)[i] = (double)count;
        break;
    default:
        ((unsigned long long *)r->out)[i] = count;
    }
}

/* Add a block's samples of a slot; the last block to do so counts and writes those of all. before: the slot's count. */
HISTO_IN_KERNEL void arrive(const small_image_read *r, uint32_t slot, uint32_t samples, unsigned long long before)
{
    const unsigned long long one = 1ull << ARRIVED, others = atomicAdd(&r->arrivals[slot], one + samples);
    if ((others >> ARRIVED) + 1 < gridDim.x) return;
    const unsigned long long count = before + (others & (one - 1)) + samples;
    r->arrivals[slot] = 0;
    r->image.counts[slot] = count;
    if (slot - r->first < r->read) write_count(r, slot - r->first, count);
}

HISTO_IN_KERNEL const small_image *image_of(const small_image *p)
{
    return p;
}

HISTO_IN_KERNEL const small_image *image_of(const small_image_read *p)
{
    return &p->image;
}

/* task: small_image or small_image_read. AHEAD: vectors of a thread in flight. */
template <typename task, int AHEAD>
static __global__ void __launch_bounds__(THREADS) count_small_image(const __grid_constant__ task its)
{
    constexpr bool reads = sizeof(task) > sizeof(small_image);
    __shared__ __align__(VECTOR) unsigned int counters[HISTO_VALUES * HISTO_VALUE_COPIES];
    __shared__ uint32_t sums[reads ? HISTO_CUDA_ARRIVING : HISTO_VALUES]; /* by slot, or by value */
    const small_image &p = *image_of(&its);
    uint32_t stride = gridDim.x * THREADS, next = blockIdx.x * THREADS + threadIdx.x;
    uint4 loaded[AHEAD];
    bool exists[AHEAD];
#pragma unroll
    for (int v = 0; v < AHEAD; v++, next += stride) {
        exists[v] = next < p.number;
        if (exists[v]) loaded[v] = __ldcs(&p.vectors[next]);
    }
    histo_launch_dependents();
    /* Blocks start their merge at different counters. */
    uint32_t value = (threadIdx.x + blockIdx.x * 32) % HISTO_VALUES, slot = 0;
    if (threadIdx.x < HISTO_VALUES) slot = p.slot_of[value];
    unsigned long long before = 0;
    if constexpr (reads) {
        value = threadIdx.x / 2;
        if (value < HISTO_VALUES) slot = p.slot_of[value];
        if (threadIdx.x < its.slots && !its.replaces) before = p.counts[threadIdx.x];
        if (its.replaces && blockIdx.x == 0 && threadIdx.x == its.slots)
            p.counts[threadIdx.x] = 0; /* samples left out */
        sums[threadIdx.x] = 0;
    }
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
                histo_count_at(histo_value_counter(mine, histo_word_of_vector(now, k / 4), k % 4));
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
        if constexpr (reads) {
            if (threadIdx.x % 2 == 0 && sum) atomicAdd(&sums[slot], sum);
        } else if (threadIdx.x % 2 == 0) {
            sums[threadIdx.x / 2] = sum;
        }
    }
    __syncthreads();
    if constexpr (reads) {
        if (threadIdx.x < its.slots) arrive(&its, threadIdx.x, sums[threadIdx.x], before);
        return;
    }
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

static int64_t bytes_of_few(const histo_job *job)
{
    return (int64_t)histo_cuda_device_of(job->problem->device)->multiprocessors * FEW * THREADS * VECTOR;
}

bool histo_small_image_replaces(const histo_job *job, const histo_pixels *pixels)
{
    return histo_cuda_arrivals(histo_cuda_accumulators_in(job)) && pixels->in.row_bytes <= bytes_of_few(job);
}

/* Can the kernel write what is read? One array of neighbouring slots. */
static bool can_read(const histo_job *job, small_image_read *r)
{
    const histo_reading *reading = job->reading;
    if (!reading || !r->arrivals || reading->quantity != HISTO_READ_COUNTS || reading->cumulative) return false;
    histo_slot_grid grid = reading->grid;
    histo_slot_grid_coalesce(&grid);
    r->out = reading->out;
    r->first = (uint32_t)grid.first;
    r->read = (uint32_t)reading->size;
    r->dtype = reading->dtype;
    return grid.ndim == 1 && (grid.stride[0] == 1 || reading->size == 1);
}

histo_status histo_small_image_launch(const histo_job *job, const histo_pixels *pixels, int64_t blocks)
{
    const char *at = pixels->in.samples;
    int64_t bytes = pixels->in.row_bytes, head = -(int64_t)(uintptr_t)at & (VECTOR - 1);
    const int64_t multiprocessors = histo_cuda_device_of(job->problem->device)->multiprocessors;
    const bool are_few = bytes <= bytes_of_few(job);
    const int64_t wanted = bytes / (THREADS * VECTOR * (blocks ? 1 : 2)) + 1;
    if (!blocks) blocks = multiprocessors;
    if (head > bytes) head = bytes;
    small_image p = {(const uint4 *)(at + head),          pixels->slot_of, pixels->counts,
                     (uint32_t)((bytes - head) / VECTOR), (uint32_t)head,  (uint32_t)((bytes - head) % VECTOR)};
    dim3 grid((unsigned)(wanted < blocks ? wanted : blocks));
    const histo_cuda_accumulators *accumulators = histo_cuda_accumulators_in(job);
    small_image_read read = {p, histo_cuda_arrivals(accumulators)};
    read.slots = (uint32_t)accumulators->slots;
    read.replaces = job->replace;
    const bool reads = can_read(job, &read), writes = reads || job->replace;
    if (!reads) read.read = 0;
    void *args[] = {writes ? (void *)&read : (void *)&p};
    const void *kernel = writes    ? (const void *)count_small_image<small_image_read, 2>
                         : are_few ? (const void *)count_small_image<small_image, 2>
                                   : (const void *)count_small_image<small_image, 4>;
    const histo_status status = histo_cuda_launch(job, kernel, grid, THREADS, 0, args);
    if (reads && status == HISTO_OK) job->reading->done = true;
    return status;
}
