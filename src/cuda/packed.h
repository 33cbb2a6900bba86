/* Counters of 4, 8 or 16 bits packed into 32-bit words, and what is due when one overflows; for host and device.
 *
 * A sample adds 1 << shift to its word, atomically, which returns the old word. A counter that was full wraps to zero
 * and carries into its neighbour, which may be full and carry on; out of the last one the carry is lost. The histogram,
 * of 64-bit counters, is given the difference: 2^bits for the counter that wrapped, 2^bits - 1 for each neighbour that
 * the carry wraps, -1 for the one where it ends.
 *
 * Why the counts are exact, however threads interleave. Additions to a word happen one after the other, each to the
 * word that the one before left, which it is told. So for each of them and each counter c of the word
 *
 *     due(c) = (1 if the sample is c's, else 0) - (c afterwards - c before)
 *
 * is known to the thread that added, and to no other. Summed over the additions to a word that began as zero, the
 * differences telescope: c at the end + sum of due(c) = samples of c. Nothing is undone in the word, so that nothing
 * has to be in time: a false count, a counter that overflows because of one, and a lost carry are differences like
 * others. What is due is added modulo 2^64, in any order; the sum, a number of samples, is less than that. */
#ifndef CUDA_PACKED_H
#define CUDA_PACKED_H

#include "base/host_device.h"

typedef struct histo_packing {
    uint32_t bits, full;        /* of a counter; its largest value */
    uint8_t log_bits, log_each; /* 2^log_each counters in a word */
} histo_packing;

/* bits: 4, 8 or 16; of others, where counters are in words is the caller's business. */
HISTO_INLINE histo_packing histo_packing_of(int bits)
{
    histo_packing p;
    p.bits = (uint32_t)bits;
    p.full = ((uint32_t)1 << bits) - 1;
    p.log_bits = (uint8_t)(bits == 4 ? 2 : bits == 8 ? 3 : 4);
    p.log_each = (uint8_t)(5 - p.log_bits);
    return p;
}

/* Counter `at` is in this word, */
HISTO_INLINE uint32_t histo_packed_word(const histo_packing *p, uint32_t at)
{
    return at >> p->log_each;
}

/* that many bits up. */
HISTO_INLINE uint32_t histo_packed_shift(const histo_packing *p, uint32_t at)
{
    return (at << p->log_bits) & 31;
}

HISTO_INLINE uint32_t histo_packed_value(const histo_packing *p, uint32_t word, uint32_t shift)
{
    return word >> shift & p->full;
}

/* Is anything due after 1 << shift was added to `old`? */
HISTO_INLINE bool histo_packed_overflows(const histo_packing *p, uint32_t old, uint32_t shift)
{
    return histo_packed_value(p, old, shift) == p->full;
}

/* What is due for the counter at `other`, after 1 << shift was added to `old`. From `shift` upward up to the first
 * counter for which nothing is due; nothing for all others. */
HISTO_INLINE int32_t histo_packed_due(const histo_packing *p, uint32_t old, uint32_t shift, uint32_t other)
{
    uint32_t now = old + ((uint32_t)1 << shift);
    return (other == shift) + (int32_t)histo_packed_value(p, old, other) - (int32_t)histo_packed_value(p, now, other);
}

#endif
