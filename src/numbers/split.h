/* How histograms are split into classes. */
#ifndef NUMBERS_SPLIT_H
#define NUMBERS_SPLIT_H

#include "numbers/occupied.h"

/* Otsu's thresholds: last[classes - 1] of at least `classes` occupied bins. */
histo_status histo_split_otsu(const histo_axis *axis, const histo_levels *levels, int classes, int64_t *last);

#endif
