/* Cells: a table that gives the slot on an axis of any edges with one look and no comparison.
 *
 * A sample has a position, a 32-bit number that never decreases as the sample grows: a linear map of its value, or the
 * leading bits of its floating-point representation. The upper bits of the position, all but the last `low`, name a
 * cell. A threshold is the smallest value of the samples' dtype that is not below an edge. With `base` thresholds below
 * the cell and one in it, whose place in the cell is `place`, and with
 *
 *     at    = 2 * (position's place in the cell) + 1, less than 2^(low + 1)
 *     there = 2 * place, + 1 if samples below the threshold share its position
 *
 * the sum  base << (low + 1) + (2^(low + 1) - 1 - there) + at  has the slot in its upper bits, because the lower ones
 * overflow just where at > there; if they are all ones, at == there, and only a search of the edges can tell. The
 * cell's entry has all of that but twice the position, from which twice the cell's beginning is taken, so that
 *
 *     sum = entry + 2 * position (modulo 2^32).
 *
 * A sum whose upper bits are all ones is of a cell that needs more: narrower cells, where there are several thresholds;
 * a comparison with an edge, where a threshold shares its position with samples below it and the other cells are
 * `certain`, free of such; or a search.
 *
 * Source: a table over leading bits before a search is folklore; deciding within the cell by the overflow of one packed
 * threshold is ours. Cost: one random read of 4 bytes a sample. */
#ifndef AXIS_CELLS_H
#define AXIS_CELLS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "view/half.h"

/* Where entry or counter `index` is: spread, so that such a power of two apart are in different banks of a GPU's shared
 * memory, and different sets of a cache. */
HISTO_INLINE uint32_t histo_spread(uint32_t index)
{
    return index + (index >> 5) + (index >> 10);
}

typedef struct histo_cells {
    const uint32_t *entry; /* [words], where histo_spread says; NULL: the axis has no cells */
    const uint32_t *more;  /* [words], of entries that need it: see below */
    uint32_t words;
    uint32_t skipped; /* cells before the first */
    uint8_t low;
    bool certain;        /* a sum of no cell that needs more tells the slot */
    bool by_bits;        /* else position = value * scale + offset, cut to 32 bits */
    int32_t first, last; /* by_bits: position = leading bits, cut to these */
    double scale, offset;
} histo_cells;

/* What is more: narrower cells, index << 5 | (bits of a position below a narrower cell's number); or a comparison with
 * the edge of this number; or a search. */
#define HISTO_CELLS_COMPARE ((uint32_t)1 << 31)
#define HISTO_CELLS_SEARCH UINT32_MAX

/* Positions are computed in the dtype of f32 samples, and in double for the others that have no table of slots. */
#ifdef __CUDA_ARCH__
#define HISTO_CUT_f32(y) __float2uint_rz(y)
#define HISTO_CUT_f64(y) __double2uint_rz(y)
#else
#define HISTO_CUT_f32(y) ((y) >= 0x1p32f ? UINT32_MAX : (y) > 0 ? (uint32_t)(y) : 0)
#define HISTO_CUT_f64(y) ((y) >= 0x1p32 ? UINT32_MAX : (y) > 0 ? (uint32_t)(y) : 0)
#endif

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

HISTO_INLINE float histo_linear_f32(const histo_cells *c, float x)
{
    return fmaf(x, (float)c->scale, (float)c->offset);
}

HISTO_INLINE double histo_linear_f64(const histo_cells *c, double x)
{
    return fma(x, c->scale, c->offset);
}

/* by_bits is c->by_bits, given apart so that a caller of many can ask once. */
#define HISTO_DEFINE_POSITION(name, type)                                                                              \
    HISTO_INLINE uint32_t histo_position_##name(const histo_cells *c, bool by_bits, type x)                            \
    {                                                                                                                  \
        if (by_bits) {                                                                                                 \
            int32_t bits = histo_leading_bits_##name(x);                                                               \
            bits = bits > c->first ? bits : c->first;                                                                  \
            return (uint32_t)(bits < c->last ? bits : c->last);                                                        \
        }                                                                                                              \
        type y = histo_linear_##name(c, x);                                                                            \
        return HISTO_CUT_##name(y);                                                                                    \
    }
HISTO_DEFINE_POSITION(f32, float)
HISTO_DEFINE_POSITION(f64, double)

/* Samples below the axis are told by a comparison, unless positions are all bits of a float, and NaN by another. For
 * the rest, the sum for a position; `entry` is c->entry or a copy of it. */
HISTO_INLINE uint32_t histo_cells_sum(const histo_cells *c, const uint32_t *entry, uint32_t position)
{
    return entry[histo_spread((position >> c->low) - c->skipped)] + (position << 1);
}

/* Is the sum less than this, the cell does not need more, */
HISTO_INLINE uint32_t histo_cells_special(const histo_cells *c)
{
    return UINT32_MAX << (c->low + 1);
}

/* and the slot is sum >> (low + 1), unless this is so (never, where c->certain). */
HISTO_INLINE bool histo_cells_equals(const histo_cells *c, uint32_t sum)
{
    return (~sum & ~histo_cells_special(c)) == 0;
}

/* For a cell that needs more: what, HISTO_CELLS_COMPARE | edge or HISTO_CELLS_SEARCH; or less than that, the slot. */
HISTO_INLINE uint32_t histo_cells_more(const histo_cells *c, const uint32_t *entry, uint32_t position)
{
    uint32_t more = c->more[histo_spread((position >> c->low) - c->skipped)];
    if (more >= HISTO_CELLS_COMPARE) return more;
    uint32_t at = position & (((uint32_t)1 << c->low) - 1), word = histo_spread((more >> 5) + (at >> (more & 31)));
    uint32_t sum = entry[word] + (position << 1);
    if (sum >= histo_cells_special(c)) return c->more[word];
    return histo_cells_equals(c, sum) ? HISTO_CELLS_SEARCH : sum >> (c->low + 1);
}

#endif
