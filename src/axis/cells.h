/* Cells: a table that gives the slot on an axis with arbitrary edges by one load, without comparisons.
 *
 * A sample has a position: a 32-bit number, non-decreasing in the sample, from a linear map of its value or from the
 * leading bits of its floating-point representation. All but the lowest `low` bits of the position select a cell. A
 * threshold is the smallest value of the samples' dtype that is not below an edge. Consider a cell that contains one
 * threshold, at offset `place`, with `base` thresholds below the cell, and let
 *
 *     at    = 2 * (position's offset in the cell) + 1, less than 2^(low + 1)
 *     there = 2 * place, + 1 if samples below the threshold share its position
 *
 * The sum  base << (low + 1) + (2^(low + 1) - 1 - there) + at  has the slot in its upper bits: the lower bits overflow
 * exactly when at > there. If the lower bits are all ones, at == there, and the sample must be compared with edge
 * `base`. The cell's entry holds everything but twice the position, less twice the cell's first position, so that
 *
 *     sum = entry + 2 * position (modulo 2^32).
 *
 * Sums from `special` up, which exceed those of all slots, mark cells with several thresholds. Such a cell is divided
 * into 2^log_finer finer cells. Its sum is special + (number of its first finer cell << shift) + at, where `shift` is
 * such that the upper log_finer bits of `at` are added to the number. Then
 *
 *     sum + entry of finer cell (sum - special) >> shift
 *
 * is again the sum of a cell, or special, with the next bits of `at`. Sums that are special at the last level belong to
 * thresholds that finer cells cannot separate. Their number refers to two words: the index of the first of these
 * thresholds, and of the first one after them. The sample's slot is the former plus the number of these thresholds that
 * it is not below. Threshold and edge have the same index, so the edges are compared.
 *
 * Source: a table over leading bits before a search is folklore; deciding within the cell by the overflow of one packed
 * threshold is ours. Cost: a random load of 4 bytes per sample, more where edges are close. */
#ifndef AXIS_CELLS_H
#define AXIS_CELLS_H

#include "base/host_device.h"

/* The position of entry or counter `index` in memory: spread out, so that indices a power of two apart use different
 * banks of a GPU's shared memory and different sets of a cache. */
HISTO_INLINE uint32_t histo_spread(uint32_t index)
{
    return index + (index >> 5) + (index >> 10);
}

typedef struct histo_cells {
    const uint32_t *entry; /* [words]; NULL if the axis has no cells */
    uint32_t words;
    uint32_t skipped; /* cells before the first stored one */
    uint32_t special;
    uint32_t finer;                 /* words before the first finer cell's */
    uint8_t low, log_finer, levels; /* levels: levels of finer cells; 0 if no cell has several thresholds */
    bool by_bits;                   /* else linear: position = value * scale + offset, in double */
    bool from_below;     /* by_bits: samples below the axis would map to the first bin; a comparison excludes them */
    int32_t first, last; /* positions are clamped to these */
    float least, most;   /* linear: f32 samples are clamped to these before mapping; for other dtypes, positions are
                            clamped after it */
    double scale, offset;
} histo_cells;

HISTO_INLINE int32_t histo_leading_bits_f32(float x)
{
    int32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

HISTO_INLINE int32_t histo_leading_bits_f64(double x)
{
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (int32_t)(bits >> 32);
}

/* by_bits equals c->by_bits; a parameter lets callers test it once for many samples. NaN has an arbitrary position. */
HISTO_INLINE uint32_t histo_position_of_bits(const histo_cells *c, int32_t bits)
{
    bits = bits > c->first ? bits : c->first;
    return (uint32_t)(bits < c->last ? bits : c->last);
}

/* Adding 2^52 rounds to an integer, which the low bits of the sum are. */
HISTO_INLINE uint32_t histo_position_f32(const histo_cells *c, bool by_bits, float x)
{
    if (by_bits) return histo_position_of_bits(c, histo_leading_bits_f32(x));
    double sum = fma((double)fminf(fmaxf(x, c->least), c->most), c->scale, c->offset + 0x1p52);
    uint64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    return (uint32_t)bits;
}

HISTO_INLINE uint32_t histo_position_f64(const histo_cells *c, bool by_bits, double x)
{
    if (by_bits) return histo_position_of_bits(c, histo_leading_bits_f64(x));
    double y = fma(x, c->scale, c->offset);
#ifdef __CUDA_ARCH__
    int32_t position = __double2int_rz(y);
#else
    int32_t position = y >= 0x1p31 ? INT32_MAX : y > 0 ? (int32_t)y : 0;
#endif
    position = position > 0 ? position : 0;
    return (uint32_t)(position < c->last ? position : c->last);
}

/* The position of the entry of cell `index`. The scale of linear maps keeps regularly spaced samples from using cells a
 * power of two apart. Signed, so that compilers may fold constants into the table's address. */
HISTO_INLINE int32_t histo_cells_word(const histo_cells *c, bool by_bits, uint32_t index)
{
    return by_bits ? (int32_t)histo_spread(index - c->skipped) : (int32_t)index - (int32_t)c->skipped;
}

/* The sum for a position; `entry` is c->entry or a copy of it. The caller detects NaN, and samples below the axis if
 * c->from_below, by comparisons. */
HISTO_INLINE uint32_t histo_cells_sum(const histo_cells *c, bool by_bits, const uint32_t *entry, uint32_t position)
{
    return entry[histo_cells_word(c, by_bits, position >> c->low)] + (position << 1);
}

/* Where the number of the next word starts in a special sum: above the bits of `at` that are left after `levels`
 * levels. The last level takes all that remain. */
HISTO_INLINE int histo_cells_shift(const histo_cells *c, int levels)
{
    int bits = c->low - levels * c->log_finer;
    return bits > 0 ? bits + 1 : 1;
}

/* The word that a special sum refers to; level: 1 for a finer cell of the first level. */
HISTO_INLINE int32_t histo_cells_next(const histo_cells *c, uint32_t sum, int level)
{
    int shift = histo_cells_shift(c, level); /* c->special is a multiple of 2^(low + 1) */
    return (int32_t)c->finer - (int32_t)(c->special >> shift) + (int32_t)(sum >> shift);
}

/* The sum of the finer cell for a special sum. */
HISTO_INLINE uint32_t histo_cells_finer(const histo_cells *c, const uint32_t *entry, uint32_t sum, int level)
{
    return sum < c->special ? sum : sum + entry[histo_cells_next(c, sum, level)];
}

/* How far the lower bits of a sum below c->special are from all ones. If 0, the sample must be compared with edge sum
 * >> (low + 1); else that is the slot. */
HISTO_INLINE uint32_t histo_cells_short(const histo_cells *c, uint32_t sum)
{
    return ~sum & (((uint32_t)2 << c->low) - 1);
}

HISTO_INLINE bool histo_cells_equals(const histo_cells *c, uint32_t sum)
{
    return histo_cells_short(c, sum) == 0;
}

#endif
