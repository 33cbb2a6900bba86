/* Timing the candidates of a plan. */
#ifndef PLAN_MEASURE_H
#define PLAN_MEASURE_H

#include "plan/plan.h"

enum { HISTO_HOPELESS = 20 }; /* a candidate predicted this many times slower than the best is not tried */

/* Time the candidates of every available target and store the results in `us`. Candidates that are not tried get a
 * reason. vary: also other parameters of each target's best. */
histo_status histo_plan_measure(histo_plan *plan, const histo_view *const *operands, const histo_fill_options *fill,
                                bool vary);

/* Find faster parameters for the plan's strategy. */
histo_status histo_plan_vary(histo_plan *plan, const histo_view *const *operands, const histo_fill_options *fill);

/* The candidate of a target with the smallest `us`; NULL if there is none. */
histo_candidate *histo_plan_cheapest(histo_plan *plan, int target);

/* Time a fill by the plan as it is. */
histo_status histo_plan_time(histo_plan *plan, const histo_view *const *operands, const histo_fill_options *fill,
                             double *us);

#endif
