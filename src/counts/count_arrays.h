/* Few samples of contiguous arrays, counted straight into the caller's array of bins, without a histogram: nothing is
 * made, kept or copied. */
#ifndef COUNTS_COUNT_ARRAYS_H
#define COUNTS_COUNT_ARRAYS_H

#include <histo/histo.h>

/* histo_count, for the counts or sums of all samples of contiguous arrays in host memory, if there are few samples, or
 * few compared with the bins. False, and nothing is written, for everything else and whatever is invalid: all that
 * remains to be done, and said, by a histogram. */
bool histo_count_arrays(int naxes, const histo_axis *axes, const histo_view *views, const histo_fill_options *fill,
                        void *out, int64_t size, histo_tally *tally, const histo_count_options *options);

#endif
