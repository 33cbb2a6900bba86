/* partition: counting and the merge, once the chunks are in order of their ranges (device/chunk_order.cu). A range is
 * cut into as many equal parts as it is times as long as a multiprocessor's fair share, so that the range that has most
 * samples gets most blocks. A block adds the counters of a whole range to the histogram; those of parts become rows,
 * which the last block of the range adds up. */
#include "cuda/strategies/partition/partition.h"

namespace histo::partition
{

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

HISTO_IN_KERNEL uint32_t padding_of(const partition_layout *l)
{
    return l->counters << 16 | l->counters;
}

HISTO_IN_KERNEL void load_pieces(const partition_layout *l, uint32_t batch, int first, uint4 *x)
{
    const uint32_t padding = padding_of(l);
#pragma unroll
    for (int i = 0; i < LOADED; i++) {
        uint32_t piece = __shfl_sync(~0u, batch, first + i);
        x[i].x = padding; /* no vector begins with it */
        if (threadIdx.x % WARP < (piece & ((1u << PIECE_BITS) - 1)))
            x[i] = __ldcs(&l->pool[(piece >> PIECE_BITS) * WARP + threadIdx.x % WARP]);
    }
}

HISTO_IN_KERNEL void count_pieces(const partition_layout *l, uint32_t *counters, const uint4 *x)
{
#pragma unroll
    for (int i = 0; i < LOADED; i++) {
        if (x[i].x == padding_of(l)) continue;
        const uint32_t words[4] = {x[i].x, x[i].y, x[i].z, x[i].w};
#pragma unroll
        for (int k = 0; k < 4; k++) {
            atomicAdd(&counters[word_of(words[k] & 0xffff)], 1u);
            atomicAdd(&counters[word_of(words[k] >> 16)], 1u);
        }
    }
}

HISTO_IN_KERNEL void count_run(const partition_layout *l, uint32_t *counters, const run *of)
{
    const uint32_t stride = COUNT_THREADS / WARP * BATCH;
    uint32_t first = threadIdx.x / WARP * BATCH, batch = look_up(of, first), next = look_up(of, first + stride);
    uint4 x[LOADED], y[LOADED];
    load_pieces(l, batch, 0, x);
    for (; first < of->pieces; first += stride) {
        load_pieces(l, batch, LOADED, y);
        count_pieces(l, counters, x);
        batch = next;
        next = look_up(of, first + 2 * stride);
        load_pieces(l, batch, 0, x);
        count_pieces(l, counters, y);
    }
}

/* The counters of offsets `at` and every COUNT_THREADS behind it. */
enum { AT_ONCE = 8 };

HISTO_IN_KERNEL void load_counters(const partition_layout *l, const uint32_t *counters, uint32_t at,
                                   uint32_t (&n)[AT_ONCE])
{
    enum { WORDS = COUNT_THREADS + COUNT_THREADS / 32 + COUNT_THREADS / 1024 /* from one to the next */ };
    const uint32_t *const from = counters + word_of(at);
#pragma unroll
    for (uint32_t i = 0; i < AT_ONCE; i++)
        n[i] = at + i * COUNT_THREADS < l->counters ? from[i * WORDS] : 0;
}

/* Add to the counts of offsets `at` and every `stride` behind it, of a range that no other block adds to now. All
 * counts are loaded before any is stored. */
HISTO_IN_KERNEL void add_sums(const partition_layout *l, uint32_t range, uint32_t at, uint32_t stride,
                              const uint32_t (&sum)[AT_ONCE], unsigned long long *counts)
{
    unsigned long long before[AT_ONCE];
#pragma unroll
    for (uint32_t i = 0; i < AT_ONCE; i++)
        before[i] = sum[i] ? counts[slot_of(l, GROUP * range, at + i * stride)] : 0;
#pragma unroll
    for (uint32_t i = 0; i < AT_ONCE; i++)
        if (sum[i]) counts[slot_of(l, GROUP * range, at + i * stride)] = before[i] + sum[i];
}

HISTO_IN_KERNEL void add_range(const partition_layout *l, const uint32_t *counters, uint32_t range,
                               unsigned long long *counts)
{
    for (uint32_t at = threadIdx.x; at < l->counters; at += AT_ONCE * COUNT_THREADS) {
        uint32_t n[AT_ONCE];
        load_counters(l, counters, at, n);
        add_sums(l, range, at, COUNT_THREADS, n, counts);
    }
}

HISTO_IN_KERNEL void write_row(const partition_layout *l, const uint32_t *counters, uint32_t *row)
{
    for (uint32_t at = threadIdx.x; at < l->counters; at += AT_ONCE * COUNT_THREADS) {
        uint32_t n[AT_ONCE];
        load_counters(l, counters, at, n);
#pragma unroll
        for (uint32_t i = 0; i < AT_ONCE; i++)
            if (at + i * COUNT_THREADS < l->counters) row[at + i * COUNT_THREADS] = n[i];
    }
}

/* What a block counts: a part of a range of so many chunks. */
struct part {
    uint32_t range, number, parts, begin, chunks, fair;

    HISTO_MEMBER uint32_t first(uint32_t n) const { return begin + chunks * n / parts; }

    /* Parts are at least half a fair share apart. */
    HISTO_MEMBER uint32_t *row(const partition_layout *l, uint32_t n) const
    {
        return l->rows + (size_t)(2 * first(n) / fair) * l->counters;
    }

    static HISTO_MEMBER part of(const partition_layout *l, uint32_t range, uint32_t number)
    {
        const uint32_t before = l->parts[range], behind = l->parts[range + 1], begin = l->starts[range];
        const uint32_t end = l->starts[range + 1], all = l->starts[l->ranges];
        return {range, number - before, behind - before, begin, end - begin, fair_share(all, l->blocks)};
    }
};

/* counts: of the window's first slot. */
static __global__ void __launch_bounds__(COUNT_THREADS, 1)
    count(const __grid_constant__ partition_layout l, unsigned long long *counts)
{
    extern __shared__ uint32_t words[];
    part *const its = (part *)words;
    uint32_t *const counters = words + COUNT_WORDS;
    static_assert(sizeof(part) <= COUNT_WORDS * sizeof(uint32_t), "before the counters");
    if (blockIdx.x >= l.parts[l.ranges]) return;
    for (uint32_t i = threadIdx.x; i <= word_of(l.counters); i += COUNT_THREADS)
        counters[i] = 0;
    if (threadIdx.x < l.ranges) {
        const part of = part::of(&l, threadIdx.x, blockIdx.x);
        if (of.number < of.parts) *its = of;
    }
    __syncthreads();
    const uint32_t log_pieces = l.log_chunk - 5 /* of 32 vectors */, first = its->first(its->number);
    const run chunks = {l.ordered + first, (its->first(its->number + 1) - first) << log_pieces, log_pieces};
    count_run(&l, counters, &chunks);
    __syncthreads();
    if (its->parts == 1)
        add_range(&l, counters, its->range, counts);
    else
        write_row(&l, counters, its->row(&l, its->number));
}

/* Blocks (x, y) add up the rows of range x, if it has several parts; each block some of the counters. */
static __global__ void __launch_bounds__(MERGE_THREADS)
    merge(const __grid_constant__ partition_layout l, unsigned long long *counts)
{
    const part its = part::of(&l, blockIdx.x, 0);
    const uint32_t stride = gridDim.y * MERGE_THREADS;
    if (its.parts <= 1) return;
    for (uint32_t at = blockIdx.y * MERGE_THREADS + threadIdx.x; at < l.counters; at += AT_ONCE * stride) {
        uint32_t sum[AT_ONCE] = {};
        for (uint32_t n = 0; n < its.parts; n++) {
            const uint32_t *row = its.row(&l, n);
#pragma unroll
            for (uint32_t i = 0; i < AT_ONCE; i++)
                sum[i] += at + i * stride < l.counters ? row[at + i * stride] : 0;
        }
        add_sums(&l, its.range, at, stride, sum, counts);
    }
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
