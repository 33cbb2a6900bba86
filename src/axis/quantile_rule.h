/* Which sorted samples NumPy's quantile rules select. What devices need is inline. */
#ifndef AXIS_QUANTILE_RULE_H
#define AXIS_QUANTILE_RULE_H

#include "base/host_device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A position among the sorted samples 0 … n-1: the fraction `share` of the way from sample `below` to the next. */
typedef struct histo_fractional_rank {
    double below, share;
} histo_fractional_rank;

/* HISTO_INVALID for an unknown rule, or if a quantile of q[n] is not in 0 … 1. */
histo_status histo_quantile_check(histo_quantile_rule rule, int n, const double *q);

/* n is at least 1. */
histo_fractional_rank histo_quantile_place(histo_quantile_rule rule, double n, double q);

/* The position by a continuous rule, clamped to the first and last sample. */
HISTO_INLINE histo_fractional_rank histo_place_between(double n, double index)
{
    histo_fractional_rank place = {index < 0 ? 0 : n - 1, 0};
    if (index < 0 || index >= n - 1) return place;
    place.below = floor(index);
    place.share = index - place.below;
    return place;
}

/* HISTO_QUANTILE_LINEAR */
HISTO_INLINE histo_fractional_rank histo_place_linear(double n, double q)
{
    return histo_place_between(n, (n - 1) * q);
}

/* The index of the sample `below`, or of its successor, among n samples. */
HISTO_INLINE uint64_t histo_place_rank(double below, uint64_t n)
{
    const uint64_t rank = below >= 0x1p64 ? UINT64_MAX : (uint64_t)below;
    return rank > n - 1 ? n - 1 : rank; /* n was rounded up to a double */
}

/* Sample i of the `count` samples spread over a bin. */
HISTO_INLINE double histo_spread_sample(double lower, double upper, uint64_t i, uint64_t count)
{
    const double share = ((double)i + 0.5) / (double)count;
    return lower * (1 - share) + upper * share;
}

/* The value `share` of the way from a to b, whose distance is finite. */
HISTO_INLINE double histo_quantile_between(double a, double b, double distance, double share)
{
    return share < 0.5 ? a + distance * share : b - distance * (1 - share);
}

/* As histo_quantile_between for any a and b, and as NumPy computes it, except that an infinite neighbour always
 * counts. */
HISTO_INLINE double histo_quantile_beside(double a, double b, double share)
{
    if (share == 0 || a == b) return a;
    if (isinf(a)) return isinf(b) && share >= 0.5 ? b : a;
    if (isinf(b)) return b;
    const double distance = b - a;
    return isinf(distance) ? a * (1 - share) + b * share : histo_quantile_between(a, b, distance, share);
}

#ifdef __cplusplus
}
#endif

#endif
