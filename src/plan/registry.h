/* Where the strategies of the CUDA backend come from: it is linked in, or loaded. */
#ifndef PLAN_REGISTRY_H
#define PLAN_REGISTRY_H

#include "plan/strategy.h"

/* The strategies of all rows in order, NULL for CPU ones; NULL until the backend is loaded. */
const histo_strategy *const *histo_cuda_strategies(void);

/* The same array, inside the backend. */
extern const histo_strategy *const histo_cuda_rows[];

/* Whether both are the same row. Rows have two addresses: after the backend has been loaded, there is a second
 * table. */
static inline bool histo_row_is(const histo_row *row, const histo_row *other)
{
    return row->backend == other->backend && row->name == other->name;
}

#endif
