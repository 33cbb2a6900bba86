/* How histograms are split into classes. */
#ifndef NUMBERS_SPLIT_H
#define NUMBERS_SPLIT_H

#include "numbers/occupied.h"

/* Otsu's thresholds: last[classes - 1], for at least `classes` occupied bins of batch entry `entry`. */
histo_status histo_split_otsu(const histo_axis *axis, const histo_levels *levels, int classes, int64_t entry,
                              int64_t *last, histo_pace *pace);

/* The counts of the lowest levels, and the sums of their samples relative to the mean of all, so that squares lose few
 * digits. */
typedef struct histo_level_sums {
    uint64_t n;
    double s;
} histo_level_sums;

/* Whether this many levels are few enough for Otsu's method. */
bool histo_split_sums_fit(int64_t levels, int classes);
/* Otsu's classes from upto[levels + 1], the sums over the first 0, 1, … levels, each with more samples than the one
 * before: class c has levels up to ends[c] - 1, for ends[classes - 1]. */
histo_status histo_split_sums(const histo_level_sums *upto, int64_t levels, int classes, int64_t *ends,
                              histo_pace *pace);

#endif
