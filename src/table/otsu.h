/* Otsu's threshold, compared exactly, for host and device. */
#ifndef TABLE_OTSU_H
#define TABLE_OTSU_H

#include "base/wide.h"

/* A split into n0 samples below and n1 above. The distance of the class means, times all counts, is |n S0 - n0 S|; the
 * variance between classes grows with its square over n0 n1. A sample's value is its bin number, below 2^31, so all of
 * these stay below 2^512. */
typedef struct histo_otsu_split {
    wide distance, counts;
    double criterion; /* within 2^-48 of the exact one */
} histo_otsu_split;

/* n0, s0: counts and sum of the samples below; n, s: of all */
HISTO_INLINE histo_otsu_split histo_otsu_split_of(uint64_t n0, wide_word_pair s0, uint64_t n, wide_word_pair s)
{
    histo_otsu_split split;
    split.counts = wide_multiply(wide_of(n0), wide_of(n - n0));
    split.distance = wide_distance(wide_multiply(wide_of(n), wide_of(s0)), wide_multiply(wide_of(n0), wide_of(s)));
    const double d = wide_to_double(split.distance);
    split.criterion = d / wide_to_double(split.counts) * d;
    return split;
}

HISTO_INLINE bool histo_otsu_is_larger(const histo_otsu_split *a, const histo_otsu_split *b)
{
    if (a->criterion > b->criterion * (1 + 0x1p-40)) return true;
    if (a->criterion < b->criterion * (1 - 0x1p-40)) return false;
    return wide_compare(wide_multiply(wide_multiply(a->distance, a->distance), b->counts),
                        wide_multiply(wide_multiply(b->distance, b->distance), a->counts)) > 0;
}

#endif
