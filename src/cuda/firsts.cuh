/* Floats on a regular axis, whose guess in float is less than half a bin off (histo_lookup.near_f32): a table of the
 * first float of each bin, in shared memory, decides. */
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
    for (int32_t i = (int32_t)threadIdx.x; i <= l->bins; i += (int32_t)blockDim.x)
        first[histo_spread((uint32_t)i)] =
            i < l->bins ? histo_first_float(l->lo + (double)i * l->step, false) : histo_first_float(l->hi, l->closed);
}

/* Of a number; the edge nearest to a guess in float, which is less than half a bin off, decides. Rounding to the
 * nearest is by adding 1.5 * 2^23; the sums' bits are numbers in the order of the guesses, also for guesses far from
 * the axis. */
HISTO_IN_KERNEL uint32_t histo_number_by_firsts(const histo_lookup *l, const uint32_t *words, float x)
{
    const float round = 0x1.8p23f;
    const int32_t zero = 0x4b400000; /* the bits of `round` */
    float sum = __fadd_rn(__fmaf_rn(x, l->per_step_f32, l->offset_f32), round);
    int32_t nearest = min(max(__float_as_int(sum), zero), zero + l->bins) - zero;
    return (uint32_t)nearest + (x >= __uint_as_float(words[histo_spread((uint32_t)nearest)]));
}

HISTO_IN_KERNEL uint32_t histo_by_firsts(const histo_lookup *l, const uint32_t *words, float x)
{
    uint32_t slot = histo_number_by_firsts(l, words, x);
    return x != x ? (uint32_t)l->bins + 2 : slot;
}

/* Of n samples, an even number; NaN is looked for in two at once. */
HISTO_IN_KERNEL void histo_slots_by_firsts(const histo_lookup *l, const uint32_t *words, const float *x, uint32_t *slot,
                                           int n)
{
    bool any = false;
#pragma unroll
    for (int k = 0; k < n; k++)
        slot[k] = histo_number_by_firsts(l, words, x[k]);
#pragma unroll
    for (int k = 0; k < n; k += 2)
        any |= x[k] != x[k] || x[k + 1] != x[k + 1];
    if (any)
#pragma unroll
        for (int k = 0; k < n; k++)
            slot[k] = x[k] != x[k] ? (uint32_t)l->bins + 2 : slot[k];
}

#endif
