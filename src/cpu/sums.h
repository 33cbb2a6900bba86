/* A thread's own sums of weights in double, each beside the count of its samples: one vector a slot, so that a sample
 * is one load, one addition and one store. */
#ifndef CPU_SUMS_H
#define CPU_SUMS_H

#include <stdbool.h>
#include <stdint.h>

#include "plan/strategy.h"

enum {
    HISTO_SUM_W,
    HISTO_SUM_COUNT, /* exact to 2^53 */
    HISTO_SUM_W2,
    HISTO_MAX_COPIES = 4,
};

/* Of each slot some copies, one behind the other: additions to one wait for each other. */
typedef struct histo_sums {
    double *at;  /* aligned to 64 bytes */
    int copies;  /* a power of two, HISTO_MAX_COPIES or fewer */
    int numbers; /* of a copy: 2, or 4 with sums of w^2 and one that is unused */
} histo_sums;

/* Add the weights of n samples, floats or doubles, to the sums of their slots. Compiled once for each level of the
 * instruction set (sums.c). */
typedef void histo_add_weights_fn(const histo_sums *sums, const uint32_t *slots, const void *weights, bool floats,
                                  int n);
histo_add_weights_fn histo_add_weights_baseline, histo_add_weights_avx2, histo_add_weights_avx512;

/* Are weights added as they lie in memory? histo_add_weights_fn asks for what lies ahead of them then, a line at a
 * time: as many at once as histo_block_slots asks for would wait for each other. */
bool histo_adds_as_they_are(const histo_problem *problem);

/* Of the level that this CPU has. */
histo_add_weights_fn *histo_add_weights_usable(void);

#endif
