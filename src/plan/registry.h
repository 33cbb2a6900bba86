/* Where the strategies of the CUDA backend come from: it is linked in, or loaded. */
#ifndef PLAN_REGISTRY_H
#define PLAN_REGISTRY_H

#include "plan/strategy.h"

/* The strategies of all rows in their order, NULL for those of the CPU; NULL as long as the backend is not loaded. */
const histo_strategy *const *histo_cuda_strategies(void);

/* The strategies of all rows, in the backend itself. */
extern const histo_strategy *const histo_cuda_rows[];

/* Are they the same row? Rows have two addresses: after the backend has been loaded, there is a second table. */
static inline bool histo_row_is(const histo_row *row, const histo_row *other)
{
    return row->backend == other->backend && row->name == other->name;
}

#endif
