/* Counters of 4, 8 or 16 bits packed into 32-bit words, and the corrections due when one overflows; for host and
 * device.
 *
 * A sample adds 1 << shift to its word by an atomic, which returns the old word. A full counter wraps to zero and
 * carries into its neighbour, which may wrap and carry in turn; the carry out of the last counter is lost. The thread
 * then corrects the histogram's 64-bit counters: +2^bits for the counter that wrapped, +(2^bits - 1) for each neighbour
 * that the carry wraps, -1 for the counter where the carry ends.
 *
 * Why counts are exact for any interleaving of threads: additions to a word are serialised, and each returns the word
 * that the previous one left. So for each addition and each counter c of the word
 *
 *     due(c) = (1 if the sample is c's, else 0) - (c afterwards - c before)
 *
 * is known to the adding thread alone. Over all additions to a word that began as zero, the differences telescope:
 * final c + sum of due(c) = samples of c. Corrections never change the word, so their timing does not matter: a false
 * count, an overflow caused by one, and a lost carry are differences like any other. Corrections are added modulo 2^64
 * in any order; the final sum, a number of samples, is below 2^64. */
#ifndef PAPERS_STRATEGIES_PACKED_COUNTERS_H
#define PAPERS_STRATEGIES_PACKED_COUNTERS_H

#include "base/host_device.h"

typedef struct histo_packing {
    uint32_t bits, full;        /* of a counter; its maximum */
    uint8_t log_bits, log_each; /* a word has 2^log_each counters */
} histo_packing;

/* bits: 4, 8 or 16. For other widths, the caller has to find the word and shift of a counter. */
HISTO_INLINE histo_packing histo_packing_of(int bits)
{
    histo_packing p;
    p.bits = (uint32_t)bits;
    p.full = ((uint32_t)1 << bits) - 1;
    p.log_bits = (uint8_t)(bits == 4 ? 2 : bits == 8 ? 3 : 4);
    p.log_each = (uint8_t)(5 - p.log_bits);
    return p;
}

/* A block's counters in shared memory. */
typedef struct histo_packed_block {
    histo_packing packing;
    uint32_t size;           /* counters, at most */
    uint32_t copies, stride; /* of the counters; words from one to the next */
} histo_packed_block;

/* A vertical tile: a range of a batch entry's counters. */
typedef struct histo_counter_range {
    uint32_t first, size;
} histo_counter_range;

/* Tile `number` of tiles of `each` counters; the last one has what is left. */
HISTO_INLINE histo_counter_range histo_counter_tile(uint32_t number, uint32_t each, uint32_t counters)
{
    histo_counter_range tile = {number * each, counters - number * each};
    if (tile.size > each) tile.size = each;
    return tile;
}

/* The word of counter `at`, … */
HISTO_INLINE uint32_t histo_packed_word(const histo_packing *p, uint32_t at)
{
    return at >> p->log_each;
}

/* … and its shift in the word. */
HISTO_INLINE uint32_t histo_packed_shift(const histo_packing *p, uint32_t at)
{
    return (at << p->log_bits) & 31;
}

HISTO_INLINE uint32_t histo_packed_value(const histo_packing *p, uint32_t word, uint32_t shift)
{
    return word >> shift & p->full;
}

/* Does adding 1 << shift to `old` cause corrections? */
HISTO_INLINE bool histo_packed_overflows(const histo_packing *p, uint32_t old, uint32_t shift)
{
    return histo_packed_value(p, old, shift) == p->full;
}

/* The correction for the counter at shift `other` after 1 << shift was added to `old`. Corrections start at `shift` and
 * go upwards to the first counter without one; all others are 0. */
HISTO_INLINE int32_t histo_packed_due(const histo_packing *p, uint32_t old, uint32_t shift, uint32_t other)
{
    uint32_t now = old + ((uint32_t)1 << shift);
    return (other == shift) + (int32_t)histo_packed_value(p, old, other) - (int32_t)histo_packed_value(p, now, other);
}

#endif
