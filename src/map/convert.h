/* Values as samples of a dtype: rounded half to even, integers clamped; any NaN as the positive quiet one without a
 * payload, since processors differ in these, and as 0 in integers. */
#ifndef MAP_CONVERT_H
#define MAP_CONVERT_H

#include <histo/histo.h>

/* out[i] = values[i], contiguous. */
void histo_convert_values(const double *values, int64_t n, histo_dtype dtype, void *out);

#endif
