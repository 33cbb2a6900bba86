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

/* The edge nearest to a guess in float, which is less than half a bin off, decides. Rounding to the nearest is by
 * adding 1.5 * 2^23; the sums' bits are numbers in the order of the guesses, also for guesses far from the axis. */
HISTO_IN_KERNEL uint32_t histo_by_firsts(const histo_lookup *l, const uint32_t *words, float x)
{
    const float round = 0x1.8p23f;
    const int32_t zero = 0x4b400000; /* the bits of `round` */
    float sum = __fadd_rn(__fmaf_rn(x, l->per_step_f32, l->offset_f32), round);
    int32_t nearest = min(max(__float_as_int(sum), zero), zero + l->bins) - zero;
    uint32_t slot = (uint32_t)nearest + (x >= __uint_as_float(words[histo_spread((uint32_t)nearest)]));
    return x != x ? (uint32_t)l->bins + 2 : slot;
}

#endif
