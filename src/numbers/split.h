/* How histograms are split into classes. */
#ifndef NUMBERS_SPLIT_H
#define NUMBERS_SPLIT_H

#include "numbers/occupied.h"

/* Otsu's thresholds: last[classes - 1] of at least `classes` occupied bins, of batch entry `entry`. */
histo_status histo_split_otsu(const histo_axis *axis, const histo_levels *levels, int classes, int64_t entry,
                              int64_t *last, histo_pace *pace);

#endif
