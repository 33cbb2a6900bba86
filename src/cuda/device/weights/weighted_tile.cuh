/* Summing weights on chip, of samples that a reader gives one by one, in groups or in vectors. */
#ifndef CUDA_DEVICE_WEIGHTS_WEIGHTED_TILE_CUH
#define CUDA_DEVICE_WEIGHTS_WEIGHTED_TILE_CUH

#include "cuda/device/several_axes.cuh"
#include "cuda/device/weights/weighted_sums.cuh"

namespace histo::weights
{

/* ---- Groups of neighbours ---- */

/* Bytes of a vector load of GROUP neighbours, or of a part of them. */
template <typename T>
constexpr int vector_bytes = GROUP *(int)sizeof(T) < 16 ? GROUP *(int)sizeof(T) : 16;

/* GROUP neighbours, by vector loads if they are aligned; or the first n. */
template <typename T>
HISTO_IN_KERNEL void load_group(const T *from, bool aligned, uint32_t n, T *x)
{
    enum { VECTORS = GROUP * (int)sizeof(T) / vector_bytes<T> };
    using word = histo_word_of_bytes<vector_bytes<T>>;
    if (aligned && n == GROUP) {
        word words[VECTORS];
#pragma unroll
        for (int v = 0; v < VECTORS; v++)
            words[v] = __ldcs((const word *)from + v);
        memcpy(x, words, sizeof words);
    } else {
#pragma unroll
        for (uint32_t i = 0; i < GROUP; i++)
            if (i < n) x[i] = from[i];
    }
}

template <typename T>
HISTO_IN_KERNEL bool is_aligned(const T *at)
{
    return (uint64_t)at % vector_bytes<T> == 0;
}

/* ---- Single weights ---- */

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

template <histo_dtype TYPE>
static __device__ __noinline__ void add_value_outside(const histo_cuda_work *w, int64_t i, histo_stored<TYPE> x)
{
    histo_add_to_sums(w, i, histo_to_compute<TYPE>(x));
}

/* ---- A tile ---- */

/* All slots of a batch entry have words. */
struct all_slots {
    enum { ARE_ALL = true };
    uint32_t slots; /* of an entry */

    HISTO_MEMBER uint32_t extent() const { return slots + 1; }
    HISTO_MEMBER uint32_t local(uint32_t slot) const { return slot; }
    HISTO_MEMBER uint32_t slot(uint32_t local) const { return local; }
};

/* The slots and weights of a step of the tile, read at once. */
template <class READER, class TILE>
HISTO_IN_KERNEL void read_step(const histo_cuda_work *work, const histo_joint *joint, const unsigned int *shared,
                               const TILE *tile, uint32_t step, uint32_t (&slots)[READER::PER_STEP],
                               typename READER::weight (&weights)[READER::PER_STEP])
{
    typename READER::loaded loaded;
    READER::load(work, joint, tile, step, &loaded);
    READER::weighted_slots(work, joint, shared, tile, step, &loaded, slots, weights);
}

/* Sum a tile on chip. SLOTS: which slots have words, and where. */
template <class READER, bool SQUARES, typename FORMAT, class SLOTS, class TILE>
HISTO_IN_KERNEL void count_tile(const histo_cuda_work *work, const sums_layout *l, const histo_joint *joint,
                                unsigned int *shared, const TILE *tile, const SLOTS &of)
{
    enum { ALL = READER::PER_STEP, N = ALL < GROUP ? ALL : GROUP };
    constexpr histo_dtype type = READER::weight_type;
    const auto sum = sums<FORMAT, SQUARES>::of(shared, l);
    const bool joins = WARP >> l->log_copies > FEW_LANES;
    const int64_t to = tile->entry * work->counters;
    const exponent_window<FORMAT> in =
        window_from<FORMAT, SQUARES>(densest_exponents<FORMAT, SQUARES>(shared, tile->length, [&](uint32_t i) {
            return (FORMAT)histo_to_compute<type>(READER::weight_of(work, tile, i));
        }));
    uint32_t left_out = 0;
    sum.clear();
    for (uint32_t step = 0; step < tile->length; step += blockDim.x * ALL) {
        uint32_t slots[ALL];
        typename READER::weight weights[ALL];
        read_step<READER>(work, joint, shared, tile, step, slots, weights);
#pragma unroll
        for (int first = 0; first < ALL; first += N) {
            const uint32_t *slot = slots + first;
            uint32_t local[N], at[N], count[N], outside = 0, out = 0;
            fixed<FORMAT, SQUARES> f[N];
            bool all_here = true;
#pragma unroll
            for (int k = 0; k < N; k++) {
                const auto weight = histo_to_compute<type>(weights[first + k]);
                const bool counts = slot[k] < work->slots, exact = is_exact(weight, (double)weight);
                local[k] = of.local(slot[k]);
                const bool here = counts && (SLOTS::ARE_ALL || local[k] < of.extent());
                count[k] = here;
                out += slot[k] == work->slots;
                all_here = all_here && (here || (SLOTS::ARE_ALL && slot[k] == work->slots));
                f[k] = cut<FORMAT, SQUARES>((FORMAT)(here && exact ? (double)weight : 0), &in);
                if (f[k].outside || (counts && !(exact && here))) outside |= 1u << k;
                at[k] = here ? sum.word(local[k]) : sum.spare();
            }
            bool repeat = false;
            if constexpr (N == (int)GROUP) {
                /* Samples far apart in memory are alike only if few slots have most: joining others costs more. */
                const bool apart = READER::NEIGHBOURS < N;
                repeat = joins && __all_sync(~0u, all_here) &&
                         (apart ? __popc(__ballot_sync(~0u, slot[0] == slot[1])) >= WARP / 2 : sum.repeats(slot));
                if (repeat) sum.add_repeating(local, f); /* those left out, too */
            }
            if (!repeat) {
                sum.template add<N>(at, count, f);
                left_out += out;
            }
            if (outside)
#pragma unroll
                for (int k = 0; k < N; k++) {
                    if (!(outside >> k & 1)) continue;
                    if (!count[k]) atomicAdd(&work->counts[to + slot[k]], 1ull);
                    add_value_outside<type>(work, to + slot[k], weights[first + k]);
                }
        }
    }
    left_out = histo_warp_sum(left_out);
    if (left_out && threadIdx.x % WARP == 0) {
        if constexpr (SLOTS::ARE_ALL)
            sum.add_count(work->slots, left_out);
        else
            atomicAdd(&work->counts[to + work->slots], (unsigned long long)left_out);
    }
    sum.merge_by(work, of.extent(), &in, [&](uint32_t local) { return to + of.slot(local); });
}

} // namespace histo::weights

#endif
