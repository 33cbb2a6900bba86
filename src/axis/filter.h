/* Masks and range filters on strided samples of any dtype. */
#ifndef AXIS_FILTER_H
#define AXIS_FILTER_H

#include <histo/histo.h>
#include <stdbool.h>

#include "base/error.h"
#include "base/threads/threads.h"

/* HISTO_INVALID for an empty range, a negative mask offset, and options without the view they apply to. */
histo_status histo_filter_check(const histo_fill_options *options);

/* Whether there is nothing to check: all options but weights, stream, threads and replace have their defaults. */
static inline bool histo_fill_is_plain(const histo_fill_options *o)
{
    return !o->mask && !o->where && !o->offsets && !o->functions && !o->rows && !o->weight_count &&
           histo_threads_possible(o->threads) && o->mask_offset == 0 && o->where_lo == 0 && o->where_hi == 0 &&
           histo_are_zero(o->reserved, sizeof o->reserved);
}

/* Clear keep[i] where sample i of n, `stride` bytes apart, is zero. A NaN is not zero. */
void histo_keep_nonzero(histo_dtype dtype, const char *at, int64_t stride, int64_t n, uint8_t *keep);

/* Clear keep[i] unless lo <= sample i <= hi, by value. */
void histo_keep_inside(histo_dtype dtype, const char *at, int64_t stride, int64_t n, double lo, double hi,
                       uint8_t *keep);

/* Convert n contiguous, aligned samples to double; 64-bit integers are rounded to nearest. */
void histo_widen(histo_dtype dtype, const void *samples, int64_t n, double *widened);

#endif
