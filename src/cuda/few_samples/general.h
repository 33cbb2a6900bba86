/* Few samples by kernels that are compiled in advance, on the host: the table of them. */
#ifndef CUDA_FEW_SAMPLES_GENERAL_H
#define CUDA_FEW_SAMPLES_GENERAL_H

#include "plan/problem.h"

/* A step of samples; several steps; several steps, with counters in shared memory. */
typedef enum histo_few_kind { HISTO_FEW_ONE_STEP, HISTO_FEW_MANY, HISTO_FEW_DENSE } histo_few_kind;

typedef struct histo_few_kernel {
    const void *kernel;
    int samples; /* of a thread in a step */
} histo_few_kernel;

/* few::simple for the look-ups of an axis; kernel is NULL if there is none. several: samples of a thread, if that pays
 * off. */
histo_few_kernel histo_few_simple(const histo_lookup *lookup, histo_dtype dtype, histo_few_kind kind, bool several);

/* few::anything; is_odd: with ODD. */
histo_few_kernel histo_few_any(histo_weighting weighting, histo_few_kind kind, bool several, bool is_odd);

#endif
