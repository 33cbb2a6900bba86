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

/* READER: see device/weight.cuh. */
template <class READER, bool SQUARES>
static __global__ void __launch_bounds__(1024, 1)
    count_any(const __grid_constant__ histo_cuda_work work, const __grid_constant__ layout l)
{
    extern __shared__ unsigned int shared[];
    const auto sum = sums<double, SQUARES>::of(shared, &l);
    for (int64_t item = blockIdx.x; item < work.tiles; item += gridDim.x) {
        const auto tile = READER::tile(&work, item);
        window<double> in =
            window_from<double, SQUARES>(densest_window<double, SQUARES>(shared, tile.length, [&](uint32_t i) {
                const auto place = READER::place_of(&work, &tile, i);
                double weight;
                load_weight<READER>(&work, &place, &weight);
                return weight;
            }));
        sum.clear();
        for (uint32_t first = threadIdx.x; first < tile.length; first += blockDim.x * READER::GROUP) {
            typename READER::place place[READER::GROUP];
#pragma unroll
            for (int k = 0; k < READER::GROUP; k++) /* past the end of the tile, its last sample is read again */
                place[k] = READER::place_of(&work, &tile, min(first + (uint32_t)k * blockDim.x, tile.length - 1));
#pragma unroll
            for (int k = 0; k < READER::GROUP; k++) {
                if (first + (uint32_t)k * blockDim.x >= tile.length) break;
                uint32_t slot = READER::slot(&work, &place[k]);
                if (slot == work.slots) { /* left out: counted, but not its weight */
                    sum.add_count(slot, 1);
                    continue;
                }
                double weight;
                bool exact = load_weight<READER>(&work, &place[k], &weight);
                fixed<double, SQUARES> f = cut<double, SQUARES>(exact ? weight : 0, &in);
                sum.template add_each<1>(&slot, &f);
                if (f.outside || !exact)
                    add_outside(&work, tile.entry * work.counters + slot, READER::weight(&work, &place[k]));
            }
        }
        sum.merge(&work, tile.entry, &in);
    }
}

} // namespace histo::weighted_private

#endif
