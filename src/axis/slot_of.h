/* Sample -> slot on one axis, for host and device, with bitwise equal results.
 *
 * An axis of n bins has n + 3 slots: 0 underflow, 1 … n the bins, n + 1 overflow, n + 2 NaN. The edges decide:
 * arithmetic on the sample only guesses a bin, and comparisons with the edges correct the guess. Every file that
 * includes this is compiled without contraction or fast-math (-ffp-contract=off, -fmad=false).
 *
 * UNIFORM  edges[i] = lo + i * step in two roundings, never stored. axis/lookup.c chooses it only where the guess is
 *          proven to be at most one bin off, so that one correction suffices.
 * SEARCH   stored edges, binary search.
 *
 * 64-bit integers are compared with the double edges by value, without rounding the integer. */
#ifndef AXIS_SLOT_OF_H
#define AXIS_SLOT_OF_H

#include "axis/cells.h"
#include "base/host_device.h"

/* Instead of a slot, for samples that have none. */
#define HISTO_NO_SLOT 0xffffffffu

/* HISTO_SEARCH_WHOLE: 64-bit integer samples on integer edges that doubles cannot represent (axis/whole.h). */
typedef enum histo_lookup_kind { HISTO_UNIFORM, HISTO_SEARCH, HISTO_SEARCH_WHOLE } histo_lookup_kind;

/* Integer edges as keys of one type; keys are unsigned and sort like the integers. The slot of an integer of this type
 * is the number of thresholds that its key reaches. Edges above all integers of the type have no threshold. */
typedef struct histo_edge_keys {
    const uint64_t *at; /* [n], non-decreasing */
    int64_t n;          /* at most bins + 1 */
} histo_edge_keys;

HISTO_INLINE uint64_t histo_key_i64(int64_t x)
{
    return (uint64_t)x ^ UINT64_C(1) << 63;
}

HISTO_INLINE uint64_t histo_key_u64(uint64_t x)
{
    return x;
}

HISTO_INLINE uint32_t histo_threshold_slot(const histo_edge_keys *t, uint64_t key)
{
    int64_t below = 0, above = t->n; /* at[below - 1] <= key < at[above], where they exist */
    while (below < above) {
        const int64_t middle = below + (above - below) / 2;
        if (key >= t->at[middle])
            below = middle + 1;
        else
            above = middle;
    }
    return (uint32_t)below;
}

/* Integers on bins of 2^shift integers each: samples are clamped to low … high, the values just outside the axis, and
 * the slot is (sample - from) >> shift, modulo 2^32. Values have the samples' dtype (32 bits for 64-bit dtypes),
 * converted to uint32_t. */
typedef struct histo_pow2 {
    bool is, closed; /* closed: samples equal to `high` are in the last bin */
    uint8_t shift;
    uint32_t low, high, from;
} histo_pow2;

/* The function of a float sample in which the axis is regular: identity, binary logarithm, or the square root of its
 * distance from the start of the axis or from 0. */
typedef enum histo_curve { HISTO_STRAIGHT, HISTO_LOGARITHM, HISTO_ROOT } histo_curve;

/* 16-bit floats on bins of equal width: the slot is x * scale + offset, in float and rounded down, clamped to 0 … bins
 * + 1, and truncated; one less for x == last, the end of a closed axis, or NaN. `is` only if that is right for every
 * value. */
typedef struct histo_affine {
    bool is;
    float scale, offset, last;
} histo_affine;

typedef struct histo_lookup {
    histo_lookup_kind kind;
    bool closed;
    int32_t bins;
    /* SEARCH and SEARCH_WHOLE, if the edges are nearly regular: the guess is off by less than this fraction of a bin,
     * else 0. A sample farther than that from the nearest edge is on the side that the guess says. */
    float near;
    double lo, hi;
    double over;               /* the first double above the axis: hi, or the next one if it is closed */
    float first_f32, over_f32; /* the smallest floats that are not below the axis, and above it */
    /* The guess in float: curve(x) * scale + offset is the fraction of the axis below x; for the square root, the curve
     * is that of x - from. If near_f32 is set, a guess, in bins, that is farther than the margin from an edge is on the
     * right side of it: the margin is less than half a bin. */
    histo_curve curve;
    float from_f32;
    float scale_f32, offset_f32;
    float margin_f32;
    bool near_f32;
    double step, per_step; /* bin width and its reciprocal, if all bins are equally wide */
    union {
        const double *edges;               /* SEARCH: bins + 1 edges */
        const histo_edge_keys *thresholds; /* SEARCH_WHOLE */
    };
    const uint32_t *table; /* 8- and 16-bit dtypes, where it pays off: the slot of every bit pattern; else NULL */
    histo_cells cells;     /* SEARCH without a table: cells over the samples' positions, if any were made */
    histo_pow2 pow2;
    histo_affine affine; /* only where there is a table */
} histo_lookup;

HISTO_INLINE bool histo_less_f64(double x, double edge)
{
    return x < edge;
}

/* Whether x < edge by value, edge not NaN: an integer is below the edge iff it is below the edge rounded up. The edge
 * is truncated to an integer, and a sample equal to that compares below if truncation lost a fraction. */
HISTO_INLINE bool histo_less_i64(int64_t x, double edge)
{
    if (edge >= 0x1p63) return true;
    if (edge <= -0x1p63) return false;
    int64_t whole = (int64_t)edge;
    return x < whole || (x == whole && (double)whole < edge);
}

HISTO_INLINE bool histo_less_u64(uint64_t x, double edge)
{
    if (edge >= 0x1p64) return true;
    if (edge <= 0) return false;
    uint64_t whole = (uint64_t)edge;
    return x < whole || (x == whole && (double)whole < edge);
}

/* Whether edge < x by value. */
HISTO_INLINE bool histo_above_f64(double x, double edge)
{
    return x > edge;
}

HISTO_INLINE bool histo_above_i64(int64_t x, double edge)
{
    if (edge >= 0x1p63) return false;
    if (edge < -0x1p63) return true;
    int64_t whole = (int64_t)edge;
    return x > whole || (x == whole && (double)whole > edge);
}

HISTO_INLINE bool histo_above_u64(uint64_t x, double edge)
{
    if (edge >= 0x1p64) return false;
    if (edge < 0) return true;
    uint64_t whole = (uint64_t)edge;
    return x > whole || (x == whole && (double)whole > edge);
}

/* One body for the three compute types. NaN fails every comparison, so `x != x` is tested first; for integers the
 * compiler removes the test. */
#define HISTO_DEFINE_SLOT_OF(name, type)                                                                               \
    HISTO_INLINE uint32_t histo_slot_##name(const histo_lookup *l, type x)                                             \
    {                                                                                                                  \
        uint32_t n = (uint32_t)l->bins;                                                                                \
        if (x != x) return n + 2;                                                                                      \
        if (histo_less_##name(x, l->lo)) return 0;                                                                     \
        if (!histo_less_##name(x, l->hi)) return l->closed && !histo_above_##name(x, l->hi) ? n : n + 1;               \
        if (l->kind == HISTO_UNIFORM) {                                                                                \
            int32_t i = (int32_t)(((double)x - l->lo) * l->per_step);                                                  \
            i = i < 0 ? 0 : i < l->bins ? i : l->bins - 1;                                                             \
            if (histo_less_##name(x, l->lo + (double)i * l->step))                                                     \
                i--;                                                                                                   \
            else if (i + 1 < l->bins && !histo_less_##name(x, l->lo + (double)(i + 1) * l->step))                      \
                i++;                                                                                                   \
            return (uint32_t)i + 1;                                                                                    \
        }                                                                                                              \
        int32_t below = 0, count = l->bins; /* edges[below] <= x < edges[below + count] */                             \
        while (count > 1) {                                                                                            \
            int32_t half = count / 2;                                                                                  \
            below = histo_less_##name(x, l->edges[below + half]) ? below : below + half;                               \
            count -= half;                                                                                             \
        }                                                                                                              \
        return (uint32_t)below + 1;                                                                                    \
    }

HISTO_DEFINE_SLOT_OF(f64, double)
HISTO_DEFINE_SLOT_OF(i64, int64_t)
HISTO_DEFINE_SLOT_OF(u64, uint64_t)

/* Whether x is above the axis. */
HISTO_INLINE bool histo_is_over_f64(const histo_lookup *l, double x)
{
    return x >= l->over;
}

HISTO_INLINE bool histo_is_over_i64(const histo_lookup *l, int64_t x)
{
    return !histo_less_i64(x, l->hi) && (!l->closed || histo_above_i64(x, l->hi));
}

HISTO_INLINE bool histo_is_over_u64(const histo_lookup *l, uint64_t x)
{
    return !histo_less_u64(x, l->hi) && (!l->closed || histo_above_u64(x, l->hi));
}

/* UNIFORM, branchless. The guess is less than half a bin off, so only the edge nearest to it must be compared with the
 * sample. Adding 1.5 * 2^52 rounds to nearest: the low bits of the sum are the integer. For samples outside the axis
 * the guess is meaningless and unused. */
#define HISTO_DEFINE_NEAREST(name, type)                                                                               \
    HISTO_INLINE uint32_t histo_nearest_##name(const histo_lookup *l, type x)                                          \
    {                                                                                                                  \
        const double round = 0x1.8p52;                                                                                 \
        int32_t n = l->bins;                                                                                           \
        double sum = ((double)x - l->lo) * l->per_step + round, nearest = sum - round;                                 \
        int64_t bits;                                                                                                  \
        memcpy(&bits, &sum, sizeof bits);                                                                              \
        int32_t slot = (int32_t)((uint32_t)bits + !histo_less_##name(x, l->lo + nearest * l->step));                   \
        slot = slot > 1 ? slot : 1;                                                                                    \
        slot = slot < n ? slot : n;                                                                                    \
        slot = histo_is_over_##name(l, x) ? n + 1 : slot;                                                              \
        slot = histo_less_##name(x, l->lo) ? 0 : slot;                                                                 \
        return (uint32_t)(x != x ? n + 2 : slot);                                                                      \
    }

HISTO_DEFINE_NEAREST(f64, double)
HISTO_DEFINE_NEAREST(i64, int64_t)
HISTO_DEFINE_NEAREST(u64, uint64_t)

#endif
