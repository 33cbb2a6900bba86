/* The histogram object. */
#ifndef COUNTS_HIST_H
#define COUNTS_HIST_H

#include "plan/bank.h"
#include "plan/plan.h"

struct histo_hist {
    int naxes;
    histo_axis axes[HISTO_MAX_AXES]; /* owned */
    histo_weighting weighting;
    int64_t bins; /* of one batch entry */
    histo_bank bank;
    histo_plan *plan; /* the last one used by histo_hist_fill; NULL before */
};

/* histo_hist_create with checked, owned axes, which are copied. */
histo_status histo_hist_make(histo_hist **hist, int naxes, const histo_axis *axes, int64_t batch,
                             histo_weighting weighting);

/* HISTO_INVALID unless both are there and have equal axes, batch and weighting. */
histo_status histo_hist_alike(const histo_hist *a, const histo_hist *b);

#endif
