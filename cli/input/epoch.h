/* Times from numbers. */
#ifndef CLI_EPOCH_H
#define CLI_EPOCH_H

#include <histo/histo.h>
#include <stdbool.h>

/* Write the times that the samples of a two-dimensional view are, so many units a second since 1970, to `out`,
 * contiguously, as microseconds: to the nearest, but of nanoseconds those before. NaN stays, and is what samples become
 * where `valid` (NULL: everywhere; or without data) is 0. False, with the first
 * sample that is beyond the year 9999, or before the year 0. */
bool epoch_times(const histo_view *samples, const histo_view *valid, int64_t per_second, double *out, double *beyond);

#endif
