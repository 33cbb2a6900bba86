/* Samples and weights of any layout and dtype, one by one. */
#ifndef CUDA_WEIGHTED_PRIVATE_ANY_CUH
#define CUDA_WEIGHTED_PRIVATE_ANY_CUH

#include "cuda/weighted_private/sums.cuh"

namespace histo::weighted_private
{

/* Is a number of the compute type the same as double? */
HISTO_IN_KERNEL bool is_exact(double, double)
{
    return true;
}

template <typename T>
HISTO_IN_KERNEL bool is_exact(T, double x)
{
    return fabs(x) < 0x1p53;
}

/* The weight of a sample, 1 if there are none; false if double does not hold it. */
template <class READER>
HISTO_IN_KERNEL bool load_weight(const histo_cuda_work *w, const typename READER::place *place, double *weight)
{
    return READER::with_weight(w, place, [=](auto x) {
        *weight = (double)x;
        return is_exact(x, *weight);
    });
}

/* READER: see device/weight.cuh; FORMAT: of the weights' fixed point. */
template <class READER, bool SQUARES, typename FORMAT>
static __global__ void __launch_bounds__(1024, 1)
    count_any(const __grid_constant__ histo_cuda_work work, const __grid_constant__ layout l)
{
    enum { N = READER::GROUP };
    extern __shared__ unsigned int shared[];
    const auto sum = sums<FORMAT, SQUARES>::of(shared, &l);
    const bool joins = WARP >> l.log_copies > FEW_LANES;
    for (int64_t item = blockIdx.x; item < work.tiles; item += gridDim.x) {
        const auto tile = READER::tile(&work, item);
        const window<FORMAT> in =
            window_from<FORMAT, SQUARES>(densest_window<FORMAT, SQUARES>(shared, tile.length, [&](uint32_t i) {
                const auto place = READER::place_of(&work, &tile, i);
                double weight;
                load_weight<READER>(&work, &place, &weight);
                return (FORMAT)weight;
            }));
        uint32_t left_out = 0;
        sum.clear();
        for (uint32_t step = 0; step < tile.length; step += blockDim.x * N) {
            const uint32_t first = step + threadIdx.x;
            typename READER::place place[N];
#pragma unroll
            for (int k = 0; k < N; k++) /* past the end of the tile, its last sample is read again */
                place[k] = READER::place_of(&work, &tile, min(first + (uint32_t)k * blockDim.x, tile.length - 1));
            uint32_t slot[N], at[N], count[N], outside = 0;
            fixed<FORMAT, SQUARES> f[N];
            bool all_count = true;
#pragma unroll
            for (int k = 0; k < N; k++) {
                slot[k] = READER::slot(&work, &place[k]);
                const bool is_there = first + (uint32_t)k * blockDim.x < tile.length, counts = slot[k] != work.slots;
                double weight = 0;
                const bool exact = !counts || load_weight<READER>(&work, &place[k], &weight);
                left_out += is_there && !counts;
                count[k] = is_there && counts;
                all_count = all_count && count[k];
                f[k] = cut<FORMAT, SQUARES>((FORMAT)(exact && count[k] ? weight : 0), &in);
                if (f[k].outside || (!exact && count[k])) outside |= 1u << k;
                at[k] = count[k] ? sum.word(slot[k]) : sum.spare();
            }
            bool repeat = false;
            if constexpr (N == (int)GROUP) {
                /* Samples so far apart in memory are alike only if few slots have most: joining others costs more. */
                repeat =
                    joins && __all_sync(~0u, all_count) && __popc(__ballot_sync(~0u, slot[0] == slot[1])) >= WARP / 2;
                if (repeat) sum.add_repeating(slot, f);
            }
            if (!repeat) sum.template add<N>(at, count, f);
            if (outside)
#pragma unroll
                for (int k = 0; k < N; k++)
                    if (outside >> k & 1)
                        add_outside(&work, tile.entry * work.counters + slot[k], READER::weight(&work, &place[k]));
        }
        if (left_out) sum.add_count(work.slots, left_out);
        sum.merge(&work, tile.entry * work.counters, (uint32_t)work.counters, &in);
    }
}

} // namespace histo::weighted_private

#endif
