/* Floats on an axis that is regular on a curve (histo_lookup.near_f32): a guess in float, and where that is near an
 * edge a table of the first float of each bin, in shared memory, decides. */
#ifndef CUDA_FIRSTS_CUH
#define CUDA_FIRSTS_CUH

#include "cuda/macro_names.cuh"

/* Words of the table. */
HISTO_INLINE uint32_t histo_firsts_words(const histo_lookup *l)
{
    return histo_spread((uint32_t)l->bins) + 1;
}

/* The first float that is not below an edge, or above it. */
HISTO_IN_KERNEL float histo_first_float(double edge, bool above)
{
    float x = (float)edge;
    while (above ? !((double)x > edge) : (double)x < edge)
        x = nextafterf(x, INFINITY);
    return x;
}

/* The words of a table that all samples look at are spread by less than of one that few do, in one instruction. */
template <bool NEAR>
__host__ __device__ static inline uint32_t histo_firsts_word(uint32_t i)
{
    return NEAR ? histo_spread(i) : i + (i >> 5);
}

/* The first float of each bin, and the first above the axis. */
template <bool NEAR = true>
HISTO_IN_KERNEL void histo_load_firsts(const histo_lookup *l, uint32_t *words)
{
    float *first = (float *)words;
    for (int32_t i = (int32_t)threadIdx.x; i <= l->bins; i += (int32_t)blockDim.x) {
        double edge = l->kind == HISTO_SEARCH ? l->edges[i] : i < l->bins ? l->lo + (double)i * l->step : l->hi;
        first[histo_firsts_word<NEAR>((uint32_t)i)] = histo_first_float(edge, i == l->bins && l->closed);
    }
}

/* Of n numbers in place of samples, their curve. What has none, as negative numbers have no root, is below the axis. */
HISTO_IN_KERNEL void histo_to_curve(const histo_lookup *l, float *x, int n)
{
    if (l->curve == HISTO_LOGARITHM)
#pragma unroll
        for (int k = 0; k < n; k++)
            asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(x[k]) : "f"(x[k]));
    else if (l->curve == HISTO_ROOT)
#pragma unroll
        for (int k = 0; k < n; k++)
            asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(x[k]) : "f"(x[k] - l->from_f32));
}

/* Of a number x, the edge nearest to its guess decides; the table is looked at only by samples near it, so that few
 * meet in a bank, and without a branch. */
HISTO_IN_KERNEL uint32_t histo_number_by_firsts(const histo_lookup *l, const uint32_t *words, float x, float curve)
{
    histo_guess guess = histo_guess_of(l, curve);
    float first = copysignf(INFINITY, guess.before);
    uint32_t at = histo_firsts_word<true>(guess.bits) - histo_firsts_word<true>(HISTO_GUESS_0); /* of the number */
    asm volatile("{ .reg .pred near; setp.le.f32 near, %1, %2; @near ld.shared.f32 %0, [%3]; }"
                 : "+f"(first)
                 : "f"(fabsf(guess.before)), "f"(l->margin_f32),
                   "r"((uint32_t)__cvta_generic_to_shared(words) + at * (uint32_t)sizeof *words));
    return x >= first ? guess.bits - (HISTO_GUESS_0 - 1) : guess.bits - HISTO_GUESS_0;
}

/* Of n <= HISTO_SAMPLES_f32 samples, an even number; NaN is looked for in two at once. */
HISTO_IN_KERNEL void histo_slots_by_firsts(const histo_lookup *l, const uint32_t *words, const float *x, uint32_t *slot,
                                           int n)
{
    float curve[HISTO_SAMPLES_f32];
    bool any = false;
#pragma unroll
    for (int k = 0; k < n; k++)
        curve[k] = x[k];
    histo_to_curve(l, curve, n);
#pragma unroll
    for (int k = 0; k < n; k++)
        slot[k] = histo_number_by_firsts(l, words, x[k], curve[k]);
#pragma unroll
    for (int k = 0; k < n; k += 2)
        any |= x[k] != x[k] || x[k + 1] != x[k + 1];
    if (any)
#pragma unroll
        for (int k = 0; k < n; k++)
            slot[k] = x[k] != x[k] ? (uint32_t)l->bins + 2 : slot[k];
}

/* The same of samples of an axis of several, whose part is added to their slots, and HISTO_GUESS_0 * stride with it;
 * all samples look at the table, which takes fewer instructions. before: where in shared memory it would begin if it
 * had guesses' bits before HISTO_GUESS_0, too, in bytes. */
HISTO_IN_KERNEL void histo_add_by_firsts(const histo_lookup *l, uint32_t before, const float *x, uint32_t stride,
                                         uint32_t *slot, int n)
{
    float curve[HISTO_SAMPLES_f32];
    bool any = false;
#pragma unroll
    for (int k = 0; k < n; k++)
        curve[k] = x[k];
    histo_to_curve(l, curve, n);
#pragma unroll
    for (int k = 0; k < n; k++) {
        uint32_t guess = histo_guess_of(l, curve[k]).bits;
        slot[k] += guess * stride;
        asm volatile("{ .reg .pred beyond; .reg .f32 first; ld.shared.f32 first, [%1]; setp.ge.f32 beyond, %2, first; "
                     "@beyond add.u32 %0, %0, %3; }"
                     : "+r"(slot[k])
                     : "r"(before + histo_firsts_word<false>(guess) * (uint32_t)sizeof(float)), "f"(x[k]), "r"(stride));
    }
#pragma unroll
    for (int k = 0; k < n; k += 2)
        any |= x[k] != x[k] || x[k + 1] != x[k + 1];
    if (any)
#pragma unroll
        for (int k = 0; k < n; k++)
            if (x[k] != x[k]) slot[k] += ((uint32_t)l->bins + 2) * stride; /* it was guessed to be below the axis */
}

#endif
