/* The smallest and largest of contiguous samples. */
#ifndef CPU_EXTREMES_H
#define CPU_EXTREMES_H

#include <histo/histo.h>

/* Add n aligned samples to the extremes of others of the same dtype: minimum, maximum and numbers of samples. Zeros are
 * stored as positive. */
typedef void histo_add_extremes_fn(histo_dtype dtype, const void *samples, int64_t n, histo_extremes *extremes);

enum { HISTO_COLUMNS = 1024, HISTO_COLUMN_ROWS = 1 << 15 };

/* Add each column of a table to extremes[columns]; at most HISTO_COLUMNS columns and HISTO_COLUMN_ROWS rows, which are
 * contiguous and `pitch` bytes apart. */
typedef void histo_add_column_extremes_fn(histo_dtype dtype, const void *table, int64_t pitch, int rows, int columns,
                                          histo_extremes *extremes);

#endif
