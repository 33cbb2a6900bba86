/* Accumulators: made, brought together, cleared, freed. */
#ifndef PLAN_BANK_H
#define PLAN_BANK_H

#include "plan/problem.h"

/* All zero. On failure there is nothing to free. */
histo_status histo_bank_make(histo_bank *bank, int64_t slots, const histo_hist_options *kind);
void histo_bank_free(histo_bank *bank);
/* All zero, on the devices too. */
void histo_bank_clear(histo_bank *bank);
/* Add what devices counted, so that host memory holds everything, and settle sparse counts: first, before anybody reads
 * the bank. Costs nothing where that was done. */
histo_status histo_bank_gather(const histo_bank *bank);
/* Counts of samples that mask or filter leave out are in sparse lists too, on their way to the histogram: those of
 * batch entry b in slot batch * slots + b. Add such a list to the bank's sparse counts; it then belongs to the bank,
 * and on failure it does not, and nothing has changed. */
histo_status histo_bank_add(const histo_bank *bank, histo_list list);

/* Wait until devices have counted. */
histo_status histo_bank_wait(const histo_bank *bank);

#endif
