/* Numbers as slices of exact sums (exact.h), for host and device. */
#ifndef SUM_SLICES_H
#define SUM_SLICES_H

#include "base/host_device.h"

enum {
    HISTO_EXACT_UNIT = 34,    /* the window of units; window 0 has units of 2^-1088, below every double */
    HISTO_EXACT_WINDOWS = 69, /* 2^1024 is the lowest bit of window 66; the rest is room for carries */
};

/* Whether infinities and NaN were added to a slot. */
enum { HISTO_EXACT_POSITIVE_INFINITY = 1, HISTO_EXACT_NEGATIVE_INFINITY = 2, HISTO_EXACT_NAN = 4 };

/* A number as up to three slices, the lowest of them in `window`. */
typedef struct histo_exact_slices {
    int window;
    bool negative;
    uint32_t slice[3];
} histo_exact_slices;

/* bits: of a finite double. Its last significand bit is bit exponent + 13 above 2^-1088; a subnormal's is that of
 * exponent 1. */
HISTO_INLINE histo_exact_slices histo_exact_cut_f64(uint64_t bits)
{
    int exponent = (int)(bits >> 52 & 0x7ff);
    uint64_t significand = bits & ((UINT64_C(1) << 52) - 1);
    if (exponent)
        significand |= UINT64_C(1) << 52;
    else
        exponent = 1;
    int shift = (exponent + 13) & 31;
    uint64_t upper = significand >> (32 - shift);
    histo_exact_slices cut = {(exponent + 13) >> 5, bits >> 63 != 0, {0, 0, 0}};
    cut.slice[0] = (uint32_t)(significand << shift);
    cut.slice[1] = (uint32_t)upper;
    cut.slice[2] = (uint32_t)(upper >> 32);
    return cut;
}

HISTO_INLINE histo_exact_slices histo_exact_cut_u64(uint64_t magnitude, bool negative)
{
    histo_exact_slices cut = {HISTO_EXACT_UNIT, negative, {0, 0, 0}};
    cut.slice[0] = (uint32_t)magnitude;
    cut.slice[1] = (uint32_t)(magnitude >> 32);
    return cut;
}

HISTO_INLINE histo_exact_slices histo_exact_cut_i64(int64_t w)
{
    return histo_exact_cut_u64(w < 0 ? 0 - (uint64_t)w : (uint64_t)w, w < 0);
}

HISTO_INLINE uint64_t histo_exact_bits(double w)
{
    uint64_t bits;
    memcpy(&bits, &w, sizeof bits);
    return bits;
}

HISTO_INLINE bool histo_exact_is_special(uint64_t bits)
{
    return (bits >> 52 & 0x7ff) == 0x7ff;
}

#endif
