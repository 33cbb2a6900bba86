/* A few samples of contiguous arrays, counted directly into the caller's array of bins, without a histogram: nothing is
 * made, kept or copied. */
#ifndef COUNTS_COUNT_ARRAYS_H
#define COUNTS_COUNT_ARRAYS_H

#include <histo/histo.h>

/* histo_count for the counts or sums of all samples of contiguous arrays in host memory, if there are few samples, or
 * few compared with the bins. Returns false, and writes nothing, for everything else and for invalid arguments: those
 * are left to a histogram, which also reports errors. */
bool histo_count_arrays(int naxes, const histo_axis *axes, const histo_view *views, const histo_fill_options *fill,
                        void *out, int64_t size, histo_tally *tally, const histo_count_options *options);

#endif
