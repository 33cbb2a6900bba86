/* The smallest and largest of contiguous samples. */
#ifndef CPU_EXTREMES_H
#define CPU_EXTREMES_H

#include <histo/histo.h>

/* Add n aligned samples to what `extremes` says of some of the same dtype: its minimum, its maximum and its numbers of
 * samples. No zero is negative. */
typedef void histo_add_extremes_fn(histo_dtype dtype, const void *samples, int64_t n, histo_extremes *extremes);

#endif
