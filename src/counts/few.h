/* Few samples in host memory, counted without a plan, which takes longer to make than they take to count. */
#ifndef COUNTS_FEW_H
#define COUNTS_FEW_H

#include "plan/plan.h"

/* Fills without a plan, as a histogram remembers them. */
typedef struct histo_few {
    int64_t spent; /* on all of them, in samples: what a plan would have saved */
    bool noted;    /* the last fill was one of them: what follows describes it */
    bool strided, apart;
    int64_t samples;
    int operands, weights, mask, where;
    histo_dtype stored[HISTO_MAX_OPERANDS]; /* the operands' dtypes, as in their views */
} histo_few;

/* Are the samples so few that they are counted without a plan, and does nothing ask for one? spent: see histo_few. */
bool histo_is_few(const histo_problem *problem, const histo_axis *axes, int64_t spent);

/* Count them. problem: bound to the operands; the axes, which are owned, are borrowed. */
histo_status histo_few_run(histo_problem *problem, const histo_axis *axes, histo_accumulators *accumulators,
                           const histo_view *const *operands, const histo_fill_options *fill);

/* Remember a fill. */
void histo_few_note(histo_few *few, const histo_problem *problem);

/* The plan for fills like the last one. */
histo_status histo_few_plan(const histo_few *few, int naxes, const histo_axis *axes, const histo_hist_options *kind,
                            histo_plan **plan);

#endif
