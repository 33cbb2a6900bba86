/* The histogram object. */
#ifndef COUNTS_HIST_H
#define COUNTS_HIST_H

#include "plan/accumulators.h"
#include "plan/plan.h"

struct histo_hist {
    int naxes;
    histo_axis axes[HISTO_MAX_AXES]; /* owned */
    histo_weighting weighting;
    int64_t bins; /* of one batch entry */
    histo_accumulators accumulators;
    histo_plan *plan; /* the last one used by histo_hist_fill; NULL before */
};

/* What a histogram was created as. */
histo_hist_options histo_hist_kind(const histo_hist *hist);

/* histo_hist_create with checked, owned axes, which are copied. kind: nothing left to defaults. */
histo_status histo_hist_make(histo_hist **hist, int naxes, const histo_axis *axes, const histo_hist_options *kind);

/* HISTO_INVALID unless both are there and have equal axes, batch, weighting and storage. */
histo_status histo_hist_alike(const histo_hist *a, const histo_hist *b);

#endif
