/* What the kernels of weighted_partition share: constants, and the layout of a launch. */
#ifndef CUDA_WEIGHTED_PARTITION_CUH
#define CUDA_WEIGHTED_PARTITION_CUH

#include "cuda/device/chunk_order.cuh"
#include "cuda/device/weights/weighted_tile.cuh"

namespace histo::weighted_partition
{

using chunks::COUNT_THREADS;
using chunks::MAX_RANGES;
using chunks::TAG_BITS;
using chunks::WARP;
using weights::GROUP;

enum {
    THREADS = 512, /* that scatter */
    SAMPLES = 8,   /* of a thread and step */
    STEP = THREADS * SAMPLES,
    RANKS = MAX_RANGES, /* counters of a step: of each range, several where there are few */
    OWN = MAX_RANGES / THREADS,
    COSTS = MAX_RANGES + 1 + WARP, /* of ranges, and a word for each warp */
    BLOCKS_EACH = 2                /* on a multiprocessor: one's barriers hide behind the other's work */
};

/* Slots are numbered over the whole batch, as the accumulators' counters are; a range has 2^log_size of them, and the
 * window all ranges. An entry of the pool is a slot in its range, and a weight of float or double. */
struct weighted_layout {
    int64_t first; /* the window's first counter */
    uint32_t size; /* and how many it has */
    uint32_t log_size, ranges;
    uint32_t log_copies;  /* of a range's rank, each of which belongs to a few lanes */
    uint32_t log_chunk;   /* entries of a chunk: at least GROUP * WARP */
    uint32_t chunks_each; /* of a block's part of the pool */
    uint16_t *slots;      /* [chunks << log_chunk] */
    void *weights;
    uint2 *ordered;            /* chunks by range: number, entries in use */
    uint32_t *tags;            /* of each chunk: range << TAG_BITS | entries in use */
    uint32_t *used;            /* chunks of each block */
    uint32_t *chunks;          /* of each range */
    uint32_t *starts;          /* [ranges + 1]: where a range's chunks begin in `ordered` */
    const uint32_t *done;      /* of each tile: does the window pass have it? NULL: there was none */
    weights::sums_layout sums; /* the table: COSTS words of the kernel that counts */
};

/* In a block's shared memory: a step's samples by range, and where these go. */
template <typename T>
struct sorted_step {
    T weights[STEP];
    uint16_t slots[STEP], ranges[STEP];
    uint32_t ranks[RANKS + 1]; /* counts; then where the samples begin; behind them, all samples */
    /* Sample i of a range goes to entry i + at, from `limit` on to i + beyond. */
    uint32_t at[MAX_RANGES], limit[MAX_RANGES], beyond[MAX_RANGES];
    uint32_t warps[THREADS / WARP];
    uint32_t used; /* chunks of the block's part of the pool */
};

} // namespace histo::weighted_partition

#endif
