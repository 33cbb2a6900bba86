/* Equalization: values from cumulative counts, for host and device. */
#ifndef TABLE_SHARES_H
#define TABLE_SHARES_H

#include "base/host_device.h"

typedef struct histo_equalizing {
    int64_t bins;
    double lo, hi;
    bool whole; /* round to whole numbers */
    bool lines; /* values at edges */
    histo_equalize_rule rule;
    double clip;
} histo_equalizing;

/* Constants of a histogram from which the values of all its bins are computed. */
typedef struct histo_totals {
    uint64_t n;     /* the sum of the counts */
    int64_t first;  /* the lowest occupied bin */
    uint64_t least; /* its count */
    /* Zuiderveld, "Contrast limited adaptive histogram equalization", Graphics Gems IV (1994), as cv::CLAHE clips and
     * redistributes: the excess above `most` is clipped and distributed equally over all bins, and the remainder one by
     * one to bins in equal steps. */
    uint64_t most, each, rest;
    int64_t step;
    float scale;    /* the factor for sums where computed in float */
    double per_all; /* 1 over the total of all shares, rounded */
} histo_totals;

/* Set the clip limit, and the scale, from n and least. */
HISTO_INLINE void histo_totals_limit(histo_totals *of, const histo_equalizing *by)
{
    of->scale = by->clip > 0 ? (float)(by->hi - by->lo) / (float)of->n : 255.0F / (float)(of->n - of->least);
    of->per_all = 1 / (double)(by->rule == HISTO_EQUALIZE_CDF ? of->n : of->n - of->least);
    const double limit = by->clip * (double)of->n / (double)by->bins;
    of->most = !(by->clip > 0) || limit >= (double)of->n ? UINT64_MAX : limit < 1 ? 1 : (uint64_t)limit;
    of->each = of->rest = 0;
    of->step = 1;
}

/* Redistribute the clipped excess. */
HISTO_INLINE void histo_totals_spread(histo_totals *of, const histo_equalizing *by, uint64_t cut)
{
    const uint32_t bins = (uint32_t)by->bins; /* at most 2^30 */
    of->each = cut >> 32 ? cut / bins : (uint32_t)cut / bins;
    of->rest = cut - of->each * bins;
    of->step = of->rest && by->bins / (int64_t)of->rest > 1 ? by->bins / (int64_t)of->rest : 1;
}

/* The clipped part of a count. */
HISTO_INLINE uint64_t histo_cut_of(const histo_totals *of, uint64_t count)
{
    return count > of->most ? count - of->most : 0;
}

/* A count after clipping and equal redistribution. */
HISTO_INLINE uint64_t histo_limited(const histo_totals *of, uint64_t count)
{
    return count - histo_cut_of(of, count) + of->each;
}

/* Whether a bin gets one sample of the remainder. */
HISTO_INLINE bool histo_gets_more(const histo_totals *of, int64_t bin)
{
    if (!of->rest) return false;
    const uint32_t step = (uint32_t)of->step, at = (uint32_t)bin / step; /* bins: at most 2^30 */
    return at * step == (uint32_t)bin && at < of->rest;
}

/* Round half to even, inline where processors have no instruction for it. */
HISTO_INLINE double histo_rounded_if(bool whole, double value)
{
    if (!whole) return value;
    return value >= 0 && value < 0x1p51 ? value + 0x1p52 - 0x1p52 : rint(value);
}

/* lo + share * (hi - lo), for the share part / all; computed exactly, half to even, if whole numbers are wanted.
 * per_all: 1 / all, rounded */
HISTO_INLINE double histo_at_share(const histo_equalizing *by, uint64_t part, uint64_t all, double per_all)
{
    if (!by->whole) return by->lo + (by->hi - by->lo) * ((double)part / (double)all);
    __extension__ typedef unsigned __int128 product;
    const uint64_t span = (uint64_t)fabs(by->hi - by->lo);
    uint64_t quotient, rest;
    if ((part | span) >> 32 || all >> 62) {
        const product scaled = (product)part * span;
        quotient = (uint64_t)(scaled / all);
        rest = (uint64_t)(scaled - (product)quotient * all);
    } else { /* a quotient below 2^32, of which doubles give the next whole number at most */
        const uint64_t scaled = part * span;
        quotient = (uint64_t)((double)scaled * per_all);
        rest = scaled - quotient * all;
        if (rest >> 63) {
            quotient--;
            rest += all;
        } else if (rest >= all) {
            quotient++;
            rest -= all;
        }
    }
    quotient += rest > all - rest || (rest == all - rest && quotient % 2 == 1);
    return by->hi < by->lo ? by->lo - (double)quotient : by->lo + (double)quotient;
}

/* Equal steps. */
HISTO_INLINE double histo_ramp_at(const histo_equalizing *by, int64_t bin)
{
    const double at = by->bins > 1 ? by->lo + (by->hi - by->lo) * (double)bin / (double)(by->bins - 1) : by->lo;
    return histo_rounded_if(by->whole, at);
}

/* sum: the cumulative count up to the bin; more than one bin is occupied */
HISTO_INLINE double histo_by_minimum(const histo_equalizing *by, const histo_totals *of, int64_t bin, uint64_t sum)
{
    if (bin < of->first) return by->lo;
    if (of->least == of->n) return histo_ramp_at(by, bin);
    if (bin == of->first) return by->lo;
    if (by->bins != 256 || by->lo != 0 || by->hi != 255)
        return histo_at_share(by, sum - of->least, of->n - of->least, of->per_all);
    /* As cv::equalizeHist computes it: the sum times a scale, both float. */
    return rint((double)((float)(sum - of->least) * of->scale));
}

/* The value of a bin, or of its upper edge. sum: the cumulative count up to the bin, clipped and redistributed. */
HISTO_INLINE double histo_equalized(const histo_equalizing *by, const histo_totals *of, int64_t bin, uint64_t sum)
{
    if (by->lines) {
        const double share = of->n ? (double)sum / (double)of->n : (double)(bin + 1) / (double)by->bins;
        return by->lo + (by->hi - by->lo) * share;
    }
    if (of->n == 0) return histo_ramp_at(by, bin);
    if (by->clip > 0) return histo_rounded_if(by->whole, by->lo + (double)((float)sum * of->scale));
    return by->rule == HISTO_EQUALIZE_CDF ? histo_at_share(by, sum, of->n, of->per_all)
                                          : histo_by_minimum(by, of, bin, sum);
}

#endif
