/* Samples and weights of any layout and dtype: one by one, or by readers that are compiled for them. */
#ifndef CUDA_WEIGHTED_ANY_CUH
#define CUDA_WEIGHTED_ANY_CUH

#include "cuda/device/weights/weighted_tile.cuh"
#include "cuda/jit/specialised_lookup.cuh"

namespace histo::weighted_private
{

using namespace weights;

/* READER: see device/weights/weighted_reader.cuh; FORMAT: of the weights' fixed point. */
template <class READER, bool SQUARES, typename FORMAT>
static __global__ void __launch_bounds__(1024, 1)
    count_any(const __grid_constant__ histo_cuda_work work, const __grid_constant__ sums_layout l)
{
    extern __shared__ unsigned int shared[];
    const auto sum = sums<FORMAT, SQUARES>::of(shared, &l);
    for (int64_t item = blockIdx.x; item < work.tiles; item += gridDim.x) {
        const auto tile = READER::tile(&work, item);
        const exponent_window<FORMAT> in =
            window_from<FORMAT, SQUARES>(densest_exponents<FORMAT, SQUARES>(shared, tile.length, [&](uint32_t i) {
                const auto place = READER::place_of(&work, &tile, i);
                double weight;
                load_weight<READER>(&work, &place, &weight);
                return (FORMAT)weight;
            }));
        uint32_t left_out = 0;
        sum.clear();
        for (uint32_t i = threadIdx.x; i < tile.length; i += blockDim.x) {
            const auto place = READER::place_of(&work, &tile, i);
            const uint32_t slot = READER::slot(&work, &place), count = slot != work.slots;
            double weight = 0;
            const bool exact = !count || load_weight<READER>(&work, &place, &weight);
            const fixed<FORMAT, SQUARES> f = cut<FORMAT, SQUARES>((FORMAT)(exact ? weight : 0), &in);
            const uint32_t at = count ? sum.word(slot) : sum.spare();
            left_out += !count;
            sum.template add<1>(&at, &count, &f);
            if (f.outside || !exact)
                add_outside(&work, tile.entry * work.counters + slot, READER::weight(&work, &place));
        }
        if (left_out) sum.add_count(work.slots, left_out);
        sum.merge(&work, tile.entry * work.counters, (uint32_t)work.counters, &in);
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
