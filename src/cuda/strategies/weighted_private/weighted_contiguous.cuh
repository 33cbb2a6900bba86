/* Contiguous samples of one axis, and contiguous weights, 4 neighbours of a thread at a time. */
#ifndef CUDA_WEIGHTED_CONTIGUOUS_CUH
#define CUDA_WEIGHTED_CONTIGUOUS_CUH

#include "cuda/device/weights/weighted_tile.cuh"

namespace histo::weighted_private
{

using namespace weights;

/* The lookup that the axis has. LOOKUPS of kernels have a sample type; load, which loads their table, by the whole
 * block; and slots, of a group. */
template <histo_dtype TYPE>
struct no_table {
    static constexpr histo_dtype type = TYPE;

    static HISTO_MEMBER void load(const histo_lookup *, uint32_t *) {}

    static HISTO_MEMBER void slots(const histo_lookup *l, const uint32_t *, const histo_stored<TYPE> (&x)[GROUP],
                                   uint32_t (&slot)[GROUP])
    {
        histo_any_lookup<TYPE>(l).slots(x, slot);
    }
};

/* T: of weights. */
template <class LOOKUP, typename T, bool SQUARES>
static __global__ void __launch_bounds__(1024, 1)
    count_contiguous(const __grid_constant__ histo_cuda_work work, const __grid_constant__ sums_layout l)
{
    constexpr histo_dtype type = LOOKUP::type;
    using storage = histo_stored<type>;
    enum { GROUPS = sizeof(storage) + sizeof(T) > 8 ? 1 : 2 };
    extern __shared__ unsigned int shared[];
    const histo_lookup *lookup = &work.lookups[0];
    const auto sum = sums<T, SQUARES>::of(shared, &l);
    const bool joins = WARP >> l.log_copies > FEW_LANES;
    LOOKUP::load(lookup, shared + l.table);
    for (int64_t item = blockIdx.x; item < work.tiles; item += gridDim.x) {
        histo_tile tile = histo_tile_at(&work, item);
        const storage *samples = (const storage *)tile.at;
        histo_sample_place place = histo_sample_place_of(&work, &tile, 0);
        const T *weights = (const T *)histo_address(&work, &place, work.weights);
        bool samples_aligned = is_aligned(samples), weights_aligned = is_aligned(weights);
        int64_t first = tile.entry * work.counters;
        exponent_window<T> in = window_from<T, SQUARES>(
            densest_exponents<T, SQUARES>(shared, tile.length, [&](uint32_t i) { return weights[i]; }));
        sum.clear();
        uint32_t step = blockDim.x * GROUP * GROUPS, whole = tile.length / step * step;
        for (uint32_t at = threadIdx.x * GROUP; at < whole; at += step) {
            storage x[GROUPS][GROUP];
            T weight[GROUPS][GROUP];
#pragma unroll
            for (int g = 0; g < GROUPS; g++) {
                load_group(samples + at + g * blockDim.x * GROUP, samples_aligned, GROUP, x[g]);
                load_group(weights + at + g * blockDim.x * GROUP, weights_aligned, GROUP, weight[g]);
            }
#pragma unroll
            for (int g = 0; g < GROUPS; g++) {
                uint32_t slot[GROUP];
                fixed<T, SQUARES> f[GROUP];
                bool outside = false;
                LOOKUP::slots(lookup, shared + l.table, x[g], slot);
#pragma unroll
                for (int k = 0; k < GROUP; k++) {
                    f[k] = cut<T, SQUARES>(weight[g][k], &in);
                    outside |= f[k].outside;
                }
                if (joins && sum.repeats(slot))
                    sum.add_repeating(slot, f);
                else
                    sum.template add_each<GROUP>(slot, f);
                if (outside)
#pragma unroll
                    for (int k = 0; k < GROUP; k++)
                        if (f[k].outside)
                            add_outside(&work, first + slot[k],
                                        (const char *)(weights + at + g * blockDim.x * GROUP + k));
            }
        }
        for (uint32_t begin = whole; begin < tile.length; begin += blockDim.x * GROUP) { /* what is less than a step */
            const uint32_t at = begin + threadIdx.x * GROUP;
            const uint32_t n = at < tile.length ? min((uint32_t)GROUP, tile.length - at) : 0;
            storage x[GROUP] = {};
            T weight[GROUP] = {};
            uint32_t slot[GROUP], word[GROUP], count[GROUP];
            fixed<T, SQUARES> f[GROUP];
            load_group(samples + at, samples_aligned, n, x);
            load_group(weights + at, weights_aligned, n, weight);
            LOOKUP::slots(lookup, shared + l.table, x, slot);
#pragma unroll
            for (uint32_t k = 0; k < GROUP; k++) {
                f[k] = cut<T, SQUARES>(weight[k], &in);
                count[k] = k < n;
                word[k] = k < n ? sum.word(slot[k]) : sum.spare();
            }
            sum.template add<GROUP>(word, count, f);
#pragma unroll
            for (int k = 0; k < GROUP; k++)
                if (f[k].outside) add_outside(&work, first + slot[k], (const char *)(weights + at + k));
        }
        sum.merge(&work, first, (uint32_t)work.counters, &in);
    }
}

} // namespace histo::weighted_private

#endif
