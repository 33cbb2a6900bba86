/* For order statistics: which samples lie in a few ranges, and how many lie below each. */
#ifndef CPU_BRACKETS_H
#define CPU_BRACKETS_H

#include <histo/histo.h>

enum { HISTO_MAX_BRACKETS = 8 };

/* Disjoint ranges of ordered samples, in increasing order. A sample of 32 or 64 bits is ordered if its bits, as a
 * signed integer, increase with its value: -0 is below 0, NaN beyond the infinities. */
typedef struct histo_brackets {
    int count;
    int64_t low[HISTO_MAX_BRACKETS], high[HISTO_MAX_BRACKETS]; /* inclusive; if equal, samples are not copied */
    int64_t least, most;                                       /* beyond these are NaN */
} histo_brackets;

/* Numbers of samples. */
typedef struct histo_bracketed {
    uint64_t below[HISTO_MAX_BRACKETS], inside[HISTO_MAX_BRACKETS];
    uint64_t nan_below, nan_above;
} histo_bracketed;

/* Add n <= HISTO_BLOCK contiguous, aligned samples. Those in brackets are copied to `to`, which has room for all;
 * returns their number. */
typedef int histo_collect_fn(histo_dtype dtype, const void *samples, int n, const histo_brackets *brackets,
                             histo_bracketed *found, void *to);

#endif
