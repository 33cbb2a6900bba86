/* f32 on an axis that is regular on a curve (histo_lookup.near_f32): linear, logarithmic or square root.
 *
 * A guess in float gives the nearest edge, and how far the sample is before it. Samples farther from the edge than the
 * guess's error are done; for the others a table of the first float of each bin, in shared memory, decides. */
#ifndef CUDA_DEVICE_FIRST_FLOATS_CUH
#define CUDA_DEVICE_FIRST_FLOATS_CUH

#include "cuda/device/lookup.cuh"

/* ---- The table ---- */

/* Words of the table. */
HISTO_INLINE uint32_t histo_first_floats_words(const histo_lookup *l)
{
    return histo_spread((uint32_t)l->bins) + 1;
}

/* The word of bin i, 0-based. NEAR_ONLY: few samples look at the table, so that its words are not spread over the banks
 * as well as they could be, but in one instruction less. */
template <bool NEAR_ONLY>
__host__ __device__ static inline uint32_t histo_first_float_word(uint32_t i)
{
    return NEAR_ONLY ? histo_spread(i) : i + (i >> 5);
}

/* Fill the table: the first float of each bin, and the first above the axis. By all threads of the block. Several loads
 * of a thread overlap. */
template <bool NEAR_ONLY = true>
HISTO_IN_KERNEL void histo_load_first_floats(const histo_lookup *l, uint32_t *words)
{
    enum { AHEAD = 4 };
    float *first = (float *)words;
    const uint32_t bins = (uint32_t)l->bins;
    if (l->kind == HISTO_SEARCH) {
#pragma unroll 1
        for (uint32_t from = threadIdx.x; from < bins; from += AHEAD * blockDim.x) {
            double edge[AHEAD];
#pragma unroll
            for (uint32_t k = 0; k < AHEAD; k++)
                edge[k] = __ldg(&l->edges[min(from + k * blockDim.x, bins - 1)]);
#pragma unroll
            for (uint32_t k = 0; k < AHEAD; k++)
                if (from + k * blockDim.x < bins)
                    first[histo_first_float_word<NEAR_ONLY>(from + k * blockDim.x)] = __double2float_ru(edge[k]);
        }
    } else {
#pragma unroll 1
        for (uint32_t i = threadIdx.x; i < bins; i += blockDim.x)
            first[histo_first_float_word<NEAR_ONLY>(i)] = __double2float_ru(l->lo + (double)i * l->step);
    }
    if (threadIdx.x == 0) first[histo_first_float_word<NEAR_ONLY>(bins)] = l->over_f32;
}

/* ---- Samples to slots ---- */

/* Where n samples are on the curve. Those that have no place, as the root of a negative number, are below the axis. */
HISTO_IN_KERNEL void histo_to_curve(const histo_lookup *l, const float *x, float *curve, int n)
{
#pragma unroll
    for (int k = 0; k < n; k++)
        curve[k] = x[k];
    if (l->curve == HISTO_LOGARITHM)
#pragma unroll
        for (int k = 0; k < n; k++)
            asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(curve[k]) : "f"(curve[k]));
    else if (l->curve == HISTO_ROOT)
#pragma unroll
        for (int k = 0; k < n; k++)
            asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(curve[k]) : "f"(curve[k] - l->from_f32));
}

/* Is any of them NaN? n is even: two are compared at once. */
HISTO_IN_KERNEL bool histo_has_nan(const float *x, int n)
{
    bool any = false;
#pragma unroll
    for (int k = 0; k < n; k += 2)
        any |= x[k] != x[k] || x[k + 1] != x[k + 1];
    return any;
}

/* The slot of a number. Only samples near an edge read the table, by a predicated load instead of a branch, so that few
 * lanes meet in a bank. */
HISTO_IN_KERNEL uint32_t histo_number_by_first_floats(const histo_lookup *l, const uint32_t *words, float x,
                                                      float curve)
{
    histo_guess guess = histo_guess_of(l, curve);
    float first = copysignf(INFINITY, guess.before);
    uint32_t at = histo_first_float_word<true>(guess.bits) - histo_first_float_word<true>(HISTO_GUESS_0);
    asm volatile("{ .reg .pred near; setp.le.f32 near, %1, %2; @near ld.shared.f32 %0, [%3]; }"
                 : "+f"(first)
                 : "f"(fabsf(guess.before)), "f"(l->margin_f32),
                   "r"((uint32_t)__cvta_generic_to_shared(words) + at * (uint32_t)sizeof *words));
    return x >= first ? guess.bits - (HISTO_GUESS_0 - 1) : guess.bits - HISTO_GUESS_0;
}

/* The slots of n samples: an even number, and at most as many as a step has. */
HISTO_IN_KERNEL void histo_slots_by_first_floats(const histo_lookup *l, const uint32_t *words, const float *x,
                                                 uint32_t *slot, int n)
{
    float curve[histo_sample<HISTO_F32>::PER_STEP];
    histo_to_curve(l, x, curve, n);
#pragma unroll
    for (int k = 0; k < n; k++)
        slot[k] = histo_number_by_first_floats(l, words, x[k], curve[k]);
    if (histo_has_nan(x, n))
#pragma unroll
        for (int k = 0; k < n; k++)
            slot[k] = x[k] != x[k] ? (uint32_t)l->bins + 2 : slot[k];
}

/* One axis of several: add its part, and HISTO_GUESS_0 * stride, to the slots. All samples read the table, which takes
 * fewer instructions. table: its address in shared memory, in bytes, less the offset of the word of HISTO_GUESS_0, so
 * that the bits of a guess are an index. */
HISTO_IN_KERNEL void histo_add_by_first_floats(const histo_lookup *l, uint32_t table, const float *x, uint32_t stride,
                                               uint32_t *slot, int n)
{
    float curve[histo_sample<HISTO_F32>::PER_STEP];
    histo_to_curve(l, x, curve, n);
#pragma unroll
    for (int k = 0; k < n; k++) {
        uint32_t guess = histo_guess_of(l, curve[k]).bits;
        slot[k] += guess * stride;
        asm volatile("{ .reg .pred beyond; .reg .f32 first; ld.shared.f32 first, [%1]; setp.ge.f32 beyond, %2, first; "
                     "@beyond add.u32 %0, %0, %3; }"
                     : "+r"(slot[k])
                     : "r"(table + histo_first_float_word<false>(guess) * (uint32_t)sizeof(float)), "f"(x[k]),
                       "r"(stride));
    }
    if (histo_has_nan(x, n))
#pragma unroll
        for (int k = 0; k < n; k++)
            if (x[k] != x[k]) slot[k] += ((uint32_t)l->bins + 2) * stride; /* it was guessed to be below the axis */
}

#endif
