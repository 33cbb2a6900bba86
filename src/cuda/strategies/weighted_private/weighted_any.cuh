/* Samples and weights of any layout and dtype: by the reader of device/any_step.cuh, or by readers that are compiled
 * for them. */
#ifndef CUDA_WEIGHTED_ANY_CUH
#define CUDA_WEIGHTED_ANY_CUH

#include "cuda/device/weights/weighted_tile.cuh"
#include "cuda/jit/specialised_lookup.cuh"

namespace histo::weighted_private
{

using namespace weights;

/* FORMAT: of the weights' fixed point. */
template <bool SQUARES, typename FORMAT>
static __global__ void __launch_bounds__(1024, 1)
    count_any(const __grid_constant__ histo_cuda_work work, const __grid_constant__ sums_layout l)
{
    extern __shared__ unsigned int shared[];
    const auto sum = sums<FORMAT, SQUARES>::of(shared, &l);
    for (int64_t item = blockIdx.x; item < work.tiles; item += gridDim.x) {
        const histo_tile tile = histo_tile_at(&work, item);
        const int64_t first = tile.entry * work.counters;
        const exponent_window<FORMAT> in =
            window_from<FORMAT, SQUARES>(densest_exponents<FORMAT, SQUARES>(shared, tile.length, [&](uint32_t i) {
                const histo_sample_place place = histo_sample_place_of(&work, &tile, i);
                double weight;
                load_weight<histo_any_weighted>(&work, &place, &weight);
                return (FORMAT)weight;
            }));
        uint32_t left_out = 0;
        sum.clear();
        for (uint32_t at = 0; at < tile.length; at += blockDim.x * GROUP) {
            uint32_t slot[GROUP];
            double weight[GROUP];
            histo_slots_of_step(&work, &tile, at, slot);
            const uint32_t inexact = histo_weights_of_step(&work, &tile, at, weight);
#pragma unroll 1
            for (int k = 0; k < GROUP; k++) {
                const uint32_t its = histo_select<GROUP>(slot, k), count = its != work.slots;
                if (its == HISTO_NO_SLOT) continue;
                const bool exact = !(inexact >> k & 1);
                const fixed<FORMAT, SQUARES> f =
                    cut<FORMAT, SQUARES>((FORMAT)(count && exact ? histo_select<GROUP>(weight, k) : 0), &in);
                const uint32_t word = count ? sum.word(its) : sum.spare();
                left_out += !count;
                sum.template add<1>(&word, &count, &f);
                if (count && (f.outside || !exact)) {
                    const histo_sample_place place =
                        histo_sample_place_of(&work, &tile, histo_step_offset(&work, at, k));
                    add_outside(&work, first + its, histo_any_weighted::weight(&work, &place));
                }
            }
        }
        if (left_out) sum.add_count(work.slots, left_out);
        sum.merge(&work, first, (uint32_t)work.counters, &in);
    }
}

/* Samples and weights in vectors, by a reader that is compiled for them: see specialised_reader.cuh. */
template <class READER, bool SQUARES, typename FORMAT>
static __global__ void __launch_bounds__(1024, 1)
    count_joint(const __grid_constant__ histo_cuda_work work, const __grid_constant__ sums_layout l,
                const __grid_constant__ histo_joint joint)
{
    extern __shared__ unsigned int shared[];
    histo_tables_of<READER>::load(&work, &joint, shared);
    for (int64_t item = blockIdx.x; item < work.tiles; item += gridDim.x) {
        const auto tile = READER::tile(&work, &joint, item);
        count_tile<READER, SQUARES, FORMAT>(&work, &l, &joint, shared, &tile, all_slots{work.slots});
    }
}

} // namespace histo::weighted_private

#endif
