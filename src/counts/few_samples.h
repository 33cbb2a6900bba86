/* Counts a few samples in host memory without a plan, which would take longer to make than the samples take to
 * count. */
#ifndef COUNTS_FEW_SAMPLES_H
#define COUNTS_FEW_SAMPLES_H

#include "plan/plan.h"

/* A histogram's record of its fills without a plan. */
typedef struct histo_unplanned {
    int64_t spent; /* how long all of them took, in samples: what a plan would have saved */
    bool noted;    /* the last fill was one of them, and is described by the members below */
    bool strided, apart;
    int64_t samples;
    int operands, weights, mask, where;
    histo_dtype stored[HISTO_MAX_OPERANDS]; /* dtypes of the operands' views */
} histo_unplanned;

/* Whether there are so few samples that they are counted without a plan, and no option requests one. spent: as in
 * histo_unplanned. */
bool histo_has_few_samples(const histo_problem *problem, const histo_axis *axes, int64_t spent);

/* Count a few samples. The problem is bound to the operands, and borrows the edges of the axes, which are owned. */
histo_status histo_count_few_samples(histo_problem *problem, const histo_axis *axes, histo_accumulators *accumulators,
                                     const histo_view *const *operands, const histo_fill_options *fill);

/* Record a fill without a plan. */
void histo_unplanned_note(histo_unplanned *unplanned, const histo_problem *problem);

/* Make the plan that describes the last fill. */
histo_status histo_unplanned_plan(const histo_unplanned *unplanned, int naxes, const histo_axis *axes,
                                  const histo_hist_options *kind, histo_plan **plan);

#endif
