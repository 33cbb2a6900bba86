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

/* The weight at `at`, 1 if there are none; false if double does not hold it. */
template <class READER>
HISTO_IN_KERNEL bool load_weight(const histo_cuda_work *w, const char *at, double *weight)
{
    *weight = 1;
    if (!at) return true;
    return histo_with_dtype(READER::weight_dtype(w), [=](auto of) {
        auto x = histo_to_compute<of.type>(histo_load<histo_stored<of.type>>(w, at));
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
        histo_tile tile = READER::tile(&work, item);
        window<double> in =
            window_from<double, SQUARES>(densest_window<double, SQUARES>(shared, tile.length, [&](uint32_t i) {
                const auto place = READER::place_of(&work, &tile, i);
                double weight;
                load_weight<READER>(&work, READER::weight(&work, &place), &weight);
                return weight;
            }));
        sum.clear();
        for (uint32_t i = threadIdx.x; i < tile.length; i += blockDim.x) {
            const auto place = READER::place_of(&work, &tile, i);
            uint32_t slot = READER::slot(&work, &place);
            if (slot == work.slots) { /* left out: counted, but not its weight */
                sum.add_count(slot, 1);
                continue;
            }
            double weight;
            bool exact = load_weight<READER>(&work, READER::weight(&work, &place), &weight);
            fixed<double, SQUARES> f = cut<double, SQUARES>(exact ? weight : 0, &in);
            sum.template add_each<1>(&slot, &f);
            if (f.outside || !exact)
                add_outside(&work, tile.entry * work.counters + slot, READER::weight(&work, &place));
        }
        sum.merge(&work, tile.entry, &in);
    }
}

} // namespace histo::weighted_private

#endif
