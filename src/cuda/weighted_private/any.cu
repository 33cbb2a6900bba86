/* weighted_private: samples and weights of any layout and dtype, one by one. */
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
HISTO_IN_KERNEL bool load_weight(const histo_cuda_work *w, const char *at, double *weight)
{
    *weight = 1;
    if (!at) return true;
    return histo_with_dtype(w->dtypes[w->weights], [=](auto of) {
        auto x = histo_to_compute<of.type>(histo_load<histo_stored<of.type>>(w, at));
        *weight = (double)x;
        return is_exact(x, *weight);
    });
}

template <typename T, bool SQUARES>
static __global__ void __launch_bounds__(1024, 1)
    count_any(const __grid_constant__ histo_cuda_work work, const __grid_constant__ layout l)
{
    extern __shared__ unsigned int shared[];
    const auto sum = sums<T, SQUARES>::of(shared, &l);
    for (int64_t item = blockIdx.x; item < work.tiles; item += gridDim.x) {
        histo_tile tile = histo_tile_at(&work, item);
        auto address = [&](const histo_place *place) {
            return work.weights == HISTO_ABSENT ? NULL : histo_address(&work, place, work.weights);
        };
        window<T> in = window_from<T, SQUARES>(densest_window<T, SQUARES>(shared, tile.length, [&](uint32_t i) {
            histo_place place = histo_place_of(&work, &tile, i);
            double weight;
            load_weight(&work, address(&place), &weight);
            return weight;
        }));
        sum.clear();
        for (uint32_t i = threadIdx.x; i < tile.length; i += blockDim.x) {
            histo_place place = histo_place_of(&work, &tile, i);
            uint32_t slot = histo_slot_of_place(&work, &place);
            if (slot == work.slots) { /* left out: counted, but not its weight */
                sum.add_count(slot, 1);
                continue;
            }
            double weight;
            bool exact = load_weight(&work, address(&place), &weight);
            fixed<T, SQUARES> f = cut<T, SQUARES>(exact ? weight : 0, &in);
            sum.template add_each<1>(&slot, &f);
            if (f.outside || !exact) add_outside(&work, tile.entry * work.counters + slot, address(&place));
        }
        sum.merge(&work, tile.entry, &in);
    }
}

kernel kernel_of_any(bool squares)
{
    return squares ? count_any<double, true> : count_any<double, false>;
}

} // namespace histo::weighted_private
