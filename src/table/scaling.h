/* Back projection: counts scaled to a range, and ratios of shares, for host and device. */
#ifndef TABLE_SCALING_H
#define TABLE_SCALING_H

#include "base/host_device.h"

typedef struct histo_scaling {
    float scale, shift;
    double lo;
    bool flat;  /* all counts are equal */
    bool whole; /* round values half to even, as in a u8 image */
} histo_scaling;

/* As cv::normalize scales with NORM_MINMAX: in float, with one rounding of each product and sum. */
HISTO_INLINE histo_scaling histo_scaling_of(uint64_t least, uint64_t most, double lo, double hi)
{
    const bool shares = lo == 0 && hi == 1; /* the default, which is not rounded */
    histo_scaling s = {0, 0, lo, most <= least, !shares && rint(lo) == lo && rint(hi) == hi};
    if (s.flat) return s;
    s.scale = (float)((hi - lo) * (1 / (double)(most - least)));
    s.shift = (float)lo - (float)((double)least * (double)s.scale);
    return s;
}

HISTO_INLINE double histo_scaled(const histo_scaling *s, uint64_t count)
{
    const double value = s->flat ? s->lo : (double)fmaf((float)count, s->scale, s->shift);
    return s->whole ? rint(value) : value;
}

/* The square root of the ratio of two shares, from counts or sums of weights; 0 unless both are above 0. scale: the
 * total of `against` over that of the other */
HISTO_INLINE double histo_share_ratio(double sum, double against, double scale)
{
    return against > 0 && sum > 0 ? sqrt(sum / against * scale) : 0;
}

#endif
