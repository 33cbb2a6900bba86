/* Accumulators in host memory: made, cleared, freed. */
#ifndef PLAN_BANK_H
#define PLAN_BANK_H

#include "plan/problem.h"

/* All zero. On failure there is nothing to free. */
histo_status histo_bank_make(histo_bank *bank, int64_t batch, int64_t slots, histo_weighting weighting);
void histo_bank_free(histo_bank *bank);
void histo_bank_clear(histo_bank *bank);

#endif
