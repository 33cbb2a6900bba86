/* Histograms whose axis grows with the samples, for samples that arrive one after the other and are not stored. Bins
 * are a power of two wide and begin at multiples of their width, so that neighbours merge into wider ones exactly. */
#ifndef CLI_GROWING_H
#define CLI_GROWING_H

#include <histo/histo.h>
#include <stdbool.h>

#include "base/fault.h"

/* The first axis, which has these samples: as narrow as doubles allow, because bins are only merged. */
histo_axis growing_axis(double min, double max);

/* Replace *hist, of one axis, by one that has what it has and room for min … max. A range that no double spans stays.
 */
int growing_fit(histo_hist **hist, double min, double max, fault *f);

/* Whether all samples are whole numbers. Of floats, only doubles in rows are looked at, as those of text. */
bool growing_is_whole(const histo_view *samples);

/* The bins [*begin, *end) that are occupied: false if none is. */
bool growing_occupied(const histo_hist *hist, int64_t *begin, int64_t *end);

/* A copy with the bins [begin, end) merged into at most `most`; of whole numbers, none is narrower than 1. */
int growing_copy(const histo_hist *hist, int64_t begin, int64_t end, int64_t most, bool whole, histo_hist **copy,
                 fault *f);

#endif
