/* Cells: a table that gives the slot on an axis of any edges with one look and one comparison.
 *
 * A sample has a position, a 32-bit number that never decreases as the sample grows: a linear map of its value, or the
 * leading bits of its floating-point representation. The upper bits of the position name a cell. A cell's entry has the
 * number of thresholds below the cell (a threshold is the smallest value of the samples' dtype that is not below an
 * edge) and the place of the one threshold within the cell, so that one comparison gives the slot. A cell with more
 * thresholds has a table of narrower cells. Where positions cannot decide, because samples below a threshold share its
 * position or thresholds are closer than positions, the edges are searched.
 *
 * An entry, where `low` bits of a position are below its cell's number:
 *
 *     base << (low + 1) | threshold
 *
 * base: thresholds below the cell. threshold: twice the position of the threshold from the cell's beginning, or that
 * + 1 if samples below it share the position; compared with twice the sample's + 1, it says above, below, or search. A
 * base of all ones: narrower cells, `threshold` being (index / HISTO_CELLS_UNIT) << 5 | (bits of a
 * position below the narrower cell's number), or all ones: search.
 *
 * Source: a table over leading bits before a search is folklore; deciding within the cell by one packed threshold is
 * ours. Cost: one random read of 4 bytes a sample. */
#ifndef AXIS_CELLS_H
#define AXIS_CELLS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "view/half.h"

enum { HISTO_CELLS_UNIT = 16 };

typedef struct histo_cells {
    const uint32_t *entry; /* [entries]; NULL: the axis has no cells */
    uint32_t entries;
    uint8_t low;
    bool by_bits; /* else position = value * scale + offset, cut to 32 bits */
    uint8_t up;   /* by_bits: position = (bits, at least first and at most last, - first) << up */
    int32_t first, last;
    double scale, offset;
} histo_cells;

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

/* by_bits is c->by_bits, given apart so that a caller of many can ask once. Not for NaN. */
#define HISTO_DEFINE_POSITION(name, type)                                                                              \
    HISTO_INLINE uint32_t histo_position_##name(const histo_cells *c, bool by_bits, type x)                            \
    {                                                                                                                  \
        if (by_bits) {                                                                                                 \
            int32_t bits = histo_leading_bits_##name(x);                                                               \
            bits = bits > c->first ? bits : c->first;                                                                  \
            bits = bits < c->last ? bits : c->last;                                                                    \
            return (uint32_t)(bits - c->first) << c->up;                                                               \
        }                                                                                                              \
        type y = histo_linear_##name(c, x);                                                                            \
        return HISTO_CUT_##name(y);                                                                                    \
    }
HISTO_DEFINE_POSITION(f32, float)
HISTO_DEFINE_POSITION(f64, double)

/* The slot of a sample that is not below the first edge, from its position; `entry` is c->entry or a copy of it.
 * HISTO_CELLS_SEARCH: the position does not tell. */
#define HISTO_CELLS_SEARCH 0xffffffffu
HISTO_INLINE uint32_t histo_slot_in_cells(const histo_cells *c, const uint32_t *entry, uint32_t position)
{
    uint32_t within = ((uint32_t)2 << c->low) - 1, no_base = UINT32_MAX >> (c->low + 1);
    uint32_t e = entry[position >> c->low], at = (position << 1 & within) | 1;
    if (e >> (c->low + 1) == no_base && (e & within) != within)
        e = entry[((e & within) >> 5) * HISTO_CELLS_UNIT + (at >> 1 >> (e & 31))];
    uint32_t base = e >> (c->low + 1), threshold = e & within;
    return at == threshold || base == no_base ? HISTO_CELLS_SEARCH : base + (at > threshold);
}

#endif
