/* Masks and range filters on strided samples of any dtype. */
#ifndef AXIS_FILTER_H
#define AXIS_FILTER_H

#include <histo/histo.h>

/* HISTO_INVALID for an empty range or a negative offset of the mask. */
histo_status histo_filter_check(const histo_fill_options *options);

/* Clear keep[i] where sample i of n, `stride` bytes apart, is zero. A NaN is not zero. */
void histo_keep_nonzero(histo_dtype dtype, const char *at, int64_t stride, int64_t n, uint8_t *keep);

/* Clear keep[i] unless lo <= sample i <= hi, by value. */
void histo_keep_inside(histo_dtype dtype, const char *at, int64_t stride, int64_t n, double lo, double hi,
                       uint8_t *keep);

/* Convert n contiguous, aligned samples to double; 64-bit integers are rounded to nearest. */
void histo_widen(histo_dtype dtype, const void *samples, int64_t n, double *widened);

#endif
