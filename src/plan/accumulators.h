/* Accumulators: made, brought together, cleared, freed. */
#ifndef PLAN_ACCUMULATORS_H
#define PLAN_ACCUMULATORS_H

#include "plan/problem.h"

/* All zero. On failure there is nothing to free. */
histo_status histo_accumulators_make(histo_accumulators *accumulators, int64_t slots, const histo_hist_options *kind);
void histo_accumulators_free(histo_accumulators *accumulators);
/* All zero, on the devices too. */
void histo_accumulators_clear(histo_accumulators *accumulators);
/* Add what devices counted, so that host memory holds everything, and settle sparse counts: first, before anybody reads
 * the accumulators. Costs nothing where that was done. */
histo_status histo_accumulators_gather(const histo_accumulators *accumulators);
/* Counts of samples that mask or filter leave out are in sparse lists too, on their way to the histogram: those of
 * batch entry b in slot batch * slots + b. Add such a list to the accumulators's sparse counts; it then belongs to the
 * accumulators, and on failure it does not, and nothing has changed. */
histo_status histo_accumulators_add(const histo_accumulators *accumulators, histo_list list);

/* Wait until devices have counted. */
histo_status histo_accumulators_wait(const histo_accumulators *accumulators);

#endif
