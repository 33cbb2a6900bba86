/* Floats on an axis that is regular on a curve (histo_lookup.near_f32): a guess in float, and where that is near an
 * edge a table of the first float of each bin, in shared memory, decides. */
#ifndef CUDA_FIRSTS_CUH
#define CUDA_FIRSTS_CUH

#include "cuda/slots.cuh"

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

/* The first float of each bin, and the first above the axis. */
HISTO_IN_KERNEL void histo_load_firsts(const histo_lookup *l, uint32_t *words)
{
    float *first = (float *)words;
    for (int32_t i = (int32_t)threadIdx.x; i <= l->bins; i += (int32_t)blockDim.x) {
        double edge = l->kind == HISTO_SEARCH ? l->edges[i] : i < l->bins ? l->lo + (double)i * l->step : l->hi;
        first[histo_spread((uint32_t)i)] = histo_first_float(edge, i == l->bins && l->closed);
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

/* Of a number x, the edge nearest to its guess decides. NEAR: the table is looked at only by samples near it, so that
 * few meet in a bank, and without a branch; else by all, which takes fewer instructions. */
template <bool NEAR>
HISTO_IN_KERNEL uint32_t histo_number_by_firsts(const histo_lookup *l, const uint32_t *words, float x, float curve)
{
    histo_guess guess = histo_guess_of(l, curve);
    uint32_t at = histo_spread(guess.bits) - histo_spread(HISTO_GUESS_0); /* of the number alone */
    float first = NEAR ? copysignf(INFINITY, guess.before) : __uint_as_float(words[at]);
    if (NEAR)
        asm volatile("{ .reg .pred near; setp.le.f32 near, %1, %2; @near ld.shared.f32 %0, [%3]; }"
                     : "+f"(first)
                     : "f"(fabsf(guess.before)), "f"(l->margin_f32),
                       "r"((uint32_t)__cvta_generic_to_shared(words) + at * (uint32_t)sizeof *words));
    return x >= first ? guess.bits - (HISTO_GUESS_0 - 1) : guess.bits - HISTO_GUESS_0;
}

/* Of n <= HISTO_SAMPLES_f32 samples, an even number; NaN is looked for in two at once. */
template <bool NEAR>
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
        slot[k] = histo_number_by_firsts<NEAR>(l, words, x[k], curve[k]);
#pragma unroll
    for (int k = 0; k < n; k += 2)
        any |= x[k] != x[k] || x[k + 1] != x[k + 1];
    if (any)
#pragma unroll
        for (int k = 0; k < n; k++)
            slot[k] = x[k] != x[k] ? (uint32_t)l->bins + 2 : slot[k];
}

#endif
