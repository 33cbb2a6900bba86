/* Thresholds from equal bins, over a range that a few outliers do not widen. */
#ifndef NUMBERS_THRESHOLDS_H
#define NUMBERS_THRESHOLDS_H

#include <histo/histo.h>

#include "survey/samples.h"

enum { HISTO_MOST_THRESHOLD_BINS = 1 << 24 };

typedef struct histo_binned_threshold histo_binned_threshold;

/* bins 0: default. The first pass may begin at once. */
histo_status histo_binned_threshold_create(histo_binned_threshold **thresholds, histo_dtype dtype,
                                           histo_split_method method, int classes, int64_t bins);
void histo_binned_threshold_destroy(histo_binned_threshold *thresholds);
/* Add samples, those of the source. */
histo_status histo_binned_threshold_add(histo_binned_threshold *thresholds, const histo_source *source,
                                        const histo_view *samples, const histo_fill_options *options);
/* *more = whether the samples must be added again; if not, the thresholds are in keys[classes - 1]. */
histo_status histo_binned_threshold_end_pass(histo_binned_threshold *thresholds, uint64_t *keys, bool *more);

#endif
