/* Accumulators: made, brought together, cleared, freed. */
#ifndef PLAN_BANK_H
#define PLAN_BANK_H

#include "plan/problem.h"

/* All zero. On failure there is nothing to free. */
histo_status histo_bank_make(histo_bank *bank, int64_t batch, int64_t slots, histo_weighting weighting);
void histo_bank_free(histo_bank *bank);
/* All zero, on the devices too. */
void histo_bank_clear(histo_bank *bank);
/* Add what devices counted, so that host memory holds everything: first, before anybody reads the bank. Costs nothing
 * where no device counted. */
histo_status histo_bank_gather(const histo_bank *bank);
/* Wait until devices have counted. */
histo_status histo_bank_wait(const histo_bank *bank);

#endif
