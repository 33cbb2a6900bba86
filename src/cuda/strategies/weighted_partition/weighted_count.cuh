/* Counting the chunks of weighted_partition. Each block takes a run of the chunks in order of their ranges, so that the
 * range that has most samples gets most blocks. All runs cost about the same, including the slots of their ranges. A
 * range's part of the run is summed on chip, as a tile of weighted_private. */
#ifndef CUDA_WEIGHTED_COUNT_CUH
#define CUDA_WEIGHTED_COUNT_CUH

#include "cuda/device/weights/weighted_tile.cuh"
#include "cuda/strategies/weighted_partition/weighted_partition.cuh"

namespace histo::weighted_partition
{

/* Chunks [begin, end) in order, all of one range. */
struct run {
    uint32_t begin, end;
};

HISTO_IN_KERNEL uint2 chunk_at(const weighted_layout *l, uint32_t i)
{
    return __ldg(&l->ordered[i]);
}

/* GROUP entries of a run; those behind the chunk's last have a slot behind the range's, and no weight. */
template <typename T>
HISTO_IN_KERNEL void load_entries(const weighted_layout *l, const run *of, uint32_t group, uint32_t (&slot)[GROUP],
                                  T (&weight)[GROUP])
{
    const uint32_t log_groups = l->log_chunk - 2, first = (group & ((1u << log_groups) - 1)) * GROUP;
    const uint2 chunk = chunk_at(l, of->begin + (group >> log_groups));
    uint16_t slots[GROUP] = {};
#pragma unroll
    for (int k = 0; k < GROUP; k++)
        weight[k] = 0;
    if (first < chunk.y) {
        const uint32_t at = (chunk.x << l->log_chunk) + first;
        const uint2 words = __ldcs((const uint2 *)(l->slots + at));
        memcpy(slots, &words, sizeof words);
        weights::load_group((const T *)l->weights + at, true, GROUP, weight);
    }
#pragma unroll
    for (int k = 0; k < GROUP; k++) {
        const bool is_there = first + (uint32_t)k < chunk.y;
        slot[k] = is_there ? slots[k] : 1u << l->log_size;
        weight[k] = is_there ? weight[k] : 0;
    }
}

template <typename T, bool SQUARES>
HISTO_IN_KERNEL void count_run(const histo_cuda_work *work, const weighted_layout *l, unsigned int *shared,
                               uint32_t range, const run *of)
{
    using namespace weights;
    enum { GROUPS = SQUARES && sizeof(T) == 8 ? 1 : 2 }; /* as many as there are registers for */
    const auto sum = sums<T, SQUARES>::of(shared, &l->sums);
    const uint32_t groups = (of->end - of->begin) << (l->log_chunk - 2), step = blockDim.x * GROUPS;
    const uint32_t before = range << l->log_size;
    const int64_t first = l->first + before;
    const T *weights = (const T *)l->weights;
    const exponent_window<T> in =
        window_from<T, SQUARES>(densest_exponents<T, SQUARES>(shared, groups * GROUP, [&](uint32_t i) {
            const uint2 chunk = chunk_at(l, of->begin + (i >> l->log_chunk));
            return weights[(chunk.x << l->log_chunk) + (i & ((1u << l->log_chunk) - 1)) % chunk.y];
        }));
    sum.clear();
    for (uint32_t at = threadIdx.x; at / WARP * WARP < groups; at += step) { /* groups of a chunk are whole warps */
        uint32_t slot[GROUPS][GROUP];
        T weight[GROUPS][GROUP];
#pragma unroll
        for (int g = 0; g < GROUPS; g++)
            if (at + g * blockDim.x < groups) load_entries(l, of, at + g * blockDim.x, slot[g], weight[g]);
#pragma unroll
        for (int g = 0; g < GROUPS; g++) {
            if (at + g * blockDim.x >= groups) break;
            const bool is_there = slot[g][0] >> l->log_size == 0, all_there = __all_sync(~0u, is_there);
            if (!is_there) continue; /* behind the chunk's last */
            fixed<T, SQUARES> f[GROUP];
            bool outside = false;
#pragma unroll
            for (int k = 0; k < GROUP; k++) {
                f[k] = cut<T, SQUARES>(weight[g][k], &in);
                outside |= f[k].outside;
            }
            if (all_there && sum.repeats(slot[g]))
                sum.add_repeating(slot[g], f);
            else
                sum.template add_each<GROUP>(slot[g], f);
            if (outside)
#pragma unroll
                for (int k = 0; k < GROUP; k++)
                    if (f[k].outside) histo_add_to_sums(work, first + slot[g][k], (double)weight[g][k]);
        }
    }
    sum.merge(work, first, min(1u << l->log_size, l->size - before), &in);
}

/* Costs of ranges, in chunks: costs[r] is of all before r. By the whole block; at least as many threads as ranges. */
HISTO_IN_KERNEL void sum_costs(const weighted_layout *l, uint32_t *costs)
{
    uint32_t *const of_warps = costs + MAX_RANGES + 1;
    enum { BEGUN = 1 << 13 /* entries that a block sums in the time that it needs for the slots of a range */ };
    const uint32_t range = threadIdx.x, lane = range % WARP, warp = range / WARP;
    const uint32_t chunks = range < l->ranges ? l->starts[range + 1] - l->starts[range] : 0;
    uint32_t sum = histo_warp_running_sum(chunks ? chunks + (BEGUN >> l->log_chunk) : 0);
    if (lane == WARP - 1) of_warps[warp] = sum;
    __syncthreads();
    sum += histo_warp_sum(lane < warp ? of_warps[lane] : 0);
    if (range == 0) costs[0] = 0;
    if (range < l->ranges) costs[range + 1] = sum;
    __syncthreads();
}

/* The chunk before which there are such costs, and its range. */
HISTO_IN_KERNEL uint2 chunk_of_cost(const weighted_layout *l, const uint32_t *costs, uint32_t cost)
{
    uint32_t range = 0, ranges = l->ranges; /* bisection: costs[range] <= cost < costs[range + ranges] */
    if (cost >= costs[ranges]) return make_uint2(l->starts[ranges], ranges);
    while (ranges > 1) {
        const uint32_t half = ranges / 2;
        const bool is_above = costs[range + half] <= cost;
        range += is_above ? half : 0;
        ranges = is_above ? ranges - half : half;
    }
    const uint32_t first = l->starts[range], end = l->starts[range + 1],
                   begun = costs[range + 1] - costs[range] - (end - first);
    return make_uint2(first + max(cost - costs[range], begun) - begun, range);
}

/* T: of the pool's weights. */
template <typename T, bool SQUARES>
static __global__ void __launch_bounds__(COUNT_THREADS, 1)
    count(const __grid_constant__ histo_cuda_work work, const __grid_constant__ weighted_layout l)
{
    extern __shared__ unsigned int shared[];
    uint32_t *const costs = shared + l.sums.table;
    sum_costs(&l, costs);
    const uint32_t most = (uint32_t)weights::MAX_SAMPLES >> l.log_chunk; /* chunks of a tile */
    const uint32_t each = (costs[l.ranges] + gridDim.x - 1) / gridDim.x;
    const uint2 begin = chunk_of_cost(&l, costs, each * blockIdx.x);
    const uint32_t end = chunk_of_cost(&l, costs, each * (blockIdx.x + 1)).x;
    uint32_t range = begin.y;
    for (uint32_t at = begin.x; at < end;) {
        while (l.starts[range + 1] <= at)
            range++;
        const run its = {at, min(min(end, l.starts[range + 1]), at + most)};
        count_run<T, SQUARES>(&work, &l, shared, range, &its);
        at = its.end;
    }
}

} // namespace histo::weighted_partition

#endif
