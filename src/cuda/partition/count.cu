/* partition: chunks in order of their ranges, counting, and the merge. Each block counts an equal run of chunks, so
 * that the range that has most samples gets most blocks. Of a range that a block has for itself it adds the counters to
 * the histogram; of others its counters become rows, which the merge adds up. */
#include "cuda/partition/layout.h"

namespace histo::partition
{

/* ---- Chunks in order of their ranges ---- */

/* starts[r]: chunks of all ranges before r; starts[ranges]: of all. Blocks of COUNT_THREADS >= ranges. */
HISTO_IN_KERNEL void find_starts(const layout *l, uint32_t *starts)
{
    __shared__ uint32_t of_warps[WARP];
    uint32_t lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    uint32_t sum = threadIdx.x < l->ranges ? l->chunks[threadIdx.x] : 0;
#pragma unroll
    for (uint32_t distance = 1; distance < WARP; distance *= 2) {
        uint32_t before = __shfl_up_sync(~0u, sum, distance);
        if (lane >= distance) sum += before;
    }
    if (lane == WARP - 1) of_warps[warp] = sum;
    __syncthreads();
    for (uint32_t w = 0; w < warp; w++)
        sum += of_warps[w];
    if (threadIdx.x == 0) starts[0] = 0;
    if (threadIdx.x < l->ranges) starts[threadIdx.x + 1] = sum;
    __syncthreads();
}

/* Block x gives the chunks of tile x their places in order. */
static __global__ void __launch_bounds__(COUNT_THREADS) order(const __grid_constant__ layout l)
{
    __shared__ uint32_t next[MAX_RANGES + 1], own[MAX_RANGES];
    uint32_t first = blockIdx.x * l.chunks_each, used = l.used[blockIdx.x];
    find_starts(&l, next);
    for (uint32_t range = threadIdx.x; range <= l.ranges && blockIdx.x == 0; range += COUNT_THREADS)
        l.starts[range] = next[range];
    for (uint32_t range = threadIdx.x; range < l.ranges; range += COUNT_THREADS)
        own[range] = 0;
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < used; i += COUNT_THREADS)
        atomicAdd(&own[l.tags[first + i] >> TAG_BITS], 1u);
    __syncthreads();
    for (uint32_t range = threadIdx.x; range < l.ranges; range += COUNT_THREADS)
        if (own[range]) next[range] += atomicAdd(&l.taken[range], own[range]);
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < used; i += COUNT_THREADS) {
        uint32_t tag = l.tags[first + i];
        l.ordered[atomicAdd(&next[tag >> TAG_BITS], 1u)] = make_uint2(first + i, tag & ((1u << TAG_BITS) - 1));
    }
}

/* ---- Counting ---- */

/* Warps load pieces of 32 vectors. They look up a batch of pieces at a time, one a lane, each as its number in the pool
 * << PIECE_BITS | vectors in use, and load some pieces while those before are counted. */
enum { BATCH = 8, LOADED = 4, PIECE_BITS = 6 };

struct run {
    const uint2 *chunks;
    uint32_t pieces, log_pieces; /* in all; of a chunk */
};

HISTO_IN_KERNEL uint32_t look_up(const run *of, uint32_t first)
{
    uint32_t piece = first + threadIdx.x % BATCH, within = piece & ((1u << of->log_pieces) - 1);
    if (piece >= of->pieces) return 0;
    uint2 chunk = __ldg(&of->chunks[piece >> of->log_pieces]);
    int vectors = min(max((int)chunk.y - (int)(within * WARP), 0), (int)WARP);
    return ((chunk.x << of->log_pieces) + within) << PIECE_BITS | (uint32_t)vectors;
}

HISTO_IN_KERNEL void load_pieces(const layout *l, uint32_t batch, int first, uint4 *x)
{
    const uint32_t padding = l->counters << 16 | l->counters;
#pragma unroll
    for (int i = 0; i < LOADED; i++) {
        uint32_t piece = __shfl_sync(~0u, batch, first + i);
        x[i] = make_uint4(padding, padding, padding, padding);
        if (threadIdx.x % WARP < (piece & ((1u << PIECE_BITS) - 1)))
            x[i] = __ldcs(&l->pool[(piece >> PIECE_BITS) * WARP + threadIdx.x % WARP]);
    }
}

HISTO_IN_KERNEL void count_pieces(uint32_t *counters, const uint4 *x)
{
#pragma unroll
    for (int i = 0; i < LOADED; i++) {
        const uint32_t words[4] = {x[i].x, x[i].y, x[i].z, x[i].w};
#pragma unroll
        for (int k = 0; k < 4; k++) {
            atomicAdd(&counters[word_of(words[k] & 0xffff)], 1u);
            atomicAdd(&counters[word_of(words[k] >> 16)], 1u);
        }
    }
}

HISTO_IN_KERNEL void count_run(const layout *l, uint32_t *counters, const run *of)
{
    const uint32_t stride = COUNT_THREADS / WARP * BATCH;
    uint32_t first = threadIdx.x / WARP * BATCH, batch = look_up(of, first), next = look_up(of, first + stride);
    uint4 x[LOADED], y[LOADED];
    load_pieces(l, batch, 0, x);
    for (; first < of->pieces; first += stride) {
        load_pieces(l, batch, LOADED, y);
        count_pieces(counters, x);
        batch = next;
        next = look_up(of, first + 2 * stride);
        load_pieces(l, batch, 0, x);
        count_pieces(counters, y);
    }
}

HISTO_IN_KERNEL uint32_t take_counter(uint32_t *counters, uint32_t offset)
{
    uint32_t n = counters[word_of(offset)];
    counters[word_of(offset)] = 0;
    return n;
}

/* Add to the counts of offsets `first` and every `stride` behind it, of a range that no other block adds to now. All
 * counts are loaded before any is stored. */
enum { AT_ONCE = 8 };

HISTO_IN_KERNEL void add_sums(const layout *l, uint32_t range, uint32_t first, uint32_t stride,
                              const unsigned long long *sum, unsigned long long *counts)
{
    unsigned long long before[AT_ONCE];
#pragma unroll
    for (uint32_t i = 0; i < AT_ONCE; i++)
        before[i] = sum[i] ? counts[slot_of(l, GROUP * range, first + i * stride)] : 0;
#pragma unroll
    for (uint32_t i = 0; i < AT_ONCE; i++)
        if (sum[i]) counts[slot_of(l, GROUP * range, first + i * stride)] = before[i] + sum[i];
}

HISTO_IN_KERNEL void add_range(const layout *l, uint32_t *counters, uint32_t range, unsigned long long *counts)
{
    for (uint32_t first = threadIdx.x; first < l->counters; first += AT_ONCE * COUNT_THREADS) {
        unsigned long long sum[AT_ONCE];
#pragma unroll
        for (uint32_t i = 0; i < AT_ONCE; i++) {
            uint32_t offset = first + i * COUNT_THREADS;
            sum[i] = offset < l->counters ? take_counter(counters, offset) : 0;
        }
        add_sums(l, range, first, COUNT_THREADS, sum, counts);
    }
}

/* Each block counts chunks [begin, end) of those ordered. */
HISTO_IN_KERNEL uint32_t chunks_of_block(const layout *l, const uint32_t *starts)
{
    return (starts[l->ranges] + l->blocks - 1) / l->blocks;
}

/* counts: of the window's first slot. */
static __global__ void __launch_bounds__(COUNT_THREADS, 1)
    count(const __grid_constant__ layout l, unsigned long long *counts)
{
    extern __shared__ uint32_t starts[];
    uint32_t *counters = starts + MAX_RANGES + 1;
    for (uint32_t i = threadIdx.x; i <= l.ranges; i += COUNT_THREADS)
        starts[i] = l.starts[i];
    __syncthreads();
    uint32_t each = chunks_of_block(&l, starts), all = starts[l.ranges];
    uint32_t begin = min(all, each * blockIdx.x), end = min(all, begin + each);
    for (uint32_t i = threadIdx.x; i <= word_of(l.counters); i += COUNT_THREADS)
        counters[i] = 0;
    uint32_t range = 0;
    for (uint32_t n = l.ranges, half; n > 1; n -= half) {
        half = n / 2;
        range += starts[range + half] <= begin ? half : 0;
    }
    for (uint32_t at = begin, behind; at < end; at = behind, range++) {
        behind = min(end, starts[range + 1]);
        if (behind == at) continue;
        __syncthreads();
        const uint32_t log_pieces = l.log_chunk - 5; /* of 32 vectors */
        run its = {l.ordered + at, (behind - at) << log_pieces, log_pieces};
        count_run(&l, counters, &its);
        __syncthreads();
        bool began_before = starts[range] < begin;
        if (began_before || behind < starts[range + 1]) {
            uint32_t *row = l.rows + (size_t)(2 * blockIdx.x + !began_before) * l.counters;
            for (uint32_t offset = threadIdx.x; offset < l.counters; offset += COUNT_THREADS)
                row[offset] = take_counter(counters, offset);
        } else {
            add_range(&l, counters, range, counts);
        }
        if (threadIdx.x == 0) counters[word_of(l.counters)] = 0;
    }
}

/* Blocks (x, y) add up the rows of range x, if several blocks counted it; each block a part of the counters. */
static __global__ void __launch_bounds__(COUNT_THREADS)
    merge(const __grid_constant__ layout l, unsigned long long *counts)
{
    uint32_t range = blockIdx.x, begin = l.starts[range], end = l.starts[range + 1];
    if (begin == end) return;
    uint32_t each = chunks_of_block(&l, l.starts), first = begin / each, last = (end - 1) / each;
    if (first == last) return;
    for (uint32_t at = blockIdx.y * COUNT_THREADS + threadIdx.x; at < l.counters;
         at += AT_ONCE * MERGE_PARTS * COUNT_THREADS) {
        unsigned long long sum[AT_ONCE] = {};
        const uint32_t *row = l.rows + (size_t)(2 * first + 1) * l.counters;
        for (uint32_t block = first; block <= last; block++) {
#pragma unroll
            for (uint32_t i = 0; i < AT_ONCE; i++) {
                uint32_t offset = at + i * MERGE_PARTS * COUNT_THREADS;
                sum[i] += offset < l.counters ? row[offset] : 0;
            }
            row += (block == first ? 1 : 2) * (size_t)l.counters;
        }
        add_sums(&l, range, at, MERGE_PARTS * COUNT_THREADS, sum, counts);
    }
}

const void *kernel_of_order(void)
{
    return (const void *)order;
}

const void *kernel_of_count(void)
{
    return (const void *)count;
}

const void *kernel_of_merge(void)
{
    return (const void *)merge;
}

} // namespace histo::partition
