/* The colour scale of a heat map. */
#ifndef CLI_SCALE_H
#define CLI_SCALE_H

#include <stdint.h>

#include "options/settings.h"

/* The wanted scale or, if that is auto, the first of linear, square root and logarithmic on which the median of the n
 * positive values is distinguishable from zero. */
count_scale scale_suited(count_scale wanted, const double *values, int64_t n);

/* "logarithmic", "square root", or "" if linear. */
const char *scale_name(count_scale scale);

#endif
