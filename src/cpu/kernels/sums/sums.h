/* Per-thread sums of weights in double, each next to the count of its samples: one vector per slot, so that a sample
 * takes one load, one addition and one store. */
#ifndef CPU_SUMS_H
#define CPU_SUMS_H

#include <stdbool.h>
#include <stdint.h>

#include "plan/strategy.h"

enum {
    HISTO_SUM_W,
    HISTO_SUM_COUNT, /* exact up to 2^53 */
    HISTO_SUM_W2,
    HISTO_MAX_COPIES = 4,
};

/* Each slot has several adjacent copies, because additions to the same one wait for each other. */
typedef struct histo_sums {
    double *at;  /* aligned to 64 bytes */
    int copies;  /* 1 or HISTO_MAX_COPIES */
    int numbers; /* numbers in a copy: 2, or 4 with the sum of w^2 and an unused one */
} histo_sums;

/* The weights of samples in 2, 4 or 8 lanes, floats or doubles: the weight of sample i is lane[l][i], or lane[0][i *
 * step + l] if step is not 0. */
enum { HISTO_MAX_COLUMNS = 8 };
typedef struct histo_weight_lanes {
    const void *lane[HISTO_MAX_COLUMNS];
    int64_t step;
    bool floats;
} histo_weight_lanes;

/* sums[slots[i]][l] += the weight of sample i in lane l; squared: in each slot, these are followed by as many sums of
 * w^2. */
typedef void histo_add_columns_fn(double *sums, int lanes, bool squared, const uint32_t *slots,
                                  const histo_weight_lanes *weights, int n);

/* Whether weights are added directly from memory. The kernel then prefetches them itself, a line at a time: as many
 * prefetches at once as histo_block_slots issues would wait for each other. */
static inline bool histo_weights_in_place(const histo_problem *p)
{
    if (!histo_is_fast(p->weighting) || p->weights == HISTO_ABSENT) return false;
    return p->dtypes[p->weights] == HISTO_F32 || p->dtypes[p->weights] == HISTO_F64;
}

#endif
