/* What tests of fills on a GPU share: histograms of BINS bins from 0 to 1, samples for them, and fills by a strategy.
 */
#ifndef TESTS_GPU_FILLS_H
#define TESTS_GPU_FILLS_H

#include "support/device.h"

enum { BINS = 300, SLOTS = BINS + 3 };

histo_hist *make_unit_hist(int64_t batch, histo_weighting weighting);
float *make_unit_floats(uint64_t seed, int64_t n);

/* Fill by a strategy ("cpu/sequential", "cuda/…"). */
void fill_by(histo_hist *h, const char *strategy, const histo_view *views, const histo_fill_options *options);

#endif
