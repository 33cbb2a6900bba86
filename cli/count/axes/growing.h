/* Histograms whose axis grows with the samples, for samples that arrive one by one and are not stored. Bins are a power
 * of two wide and begin at multiples of their width, so that neighbours merge exactly into wider ones. */
#ifndef CLI_GROWING_H
#define CLI_GROWING_H

#include <histo/histo.h>
#include <stdbool.h>

#include "base/fault.h"

/* The first axis, which contains these samples: as narrow as doubles allow, because bins are only ever merged. */
histo_axis growing_axis(double min, double max);

/* Replace *hist, with one axis, by one with the same contents and room for min … max. Does nothing for a range that
 * doubles cannot span. */
int growing_fit(histo_hist **hist, double min, double max, fault *f);

/* Whether all samples are integers. Of floats, only doubles in rows are examined, as text has them. */
bool growing_is_whole(const histo_view *samples);

/* The range [*begin, *end) of occupied bins: false if there are none. */
bool growing_occupied(const histo_hist *hist, int64_t *begin, int64_t *end);

/* A copy with the bins [begin, end) merged into at most `most`; for integers, none narrower than 1. */
int growing_copy(const histo_hist *hist, int64_t begin, int64_t end, int64_t most, bool whole, histo_hist **copy,
                 fault *f);

#endif
