/* Values as samples of a dtype: rounded half to even, integers clamped, NaN in integers 0. */
#ifndef MAP_PUT_H
#define MAP_PUT_H

#include <histo/histo.h>

/* out[i] = values[i], contiguous. */
void histo_put_values(const double *values, int64_t n, histo_dtype dtype, void *out);

#endif
