/* Few samples of any layout, on the host: which jobs the kernels count, and their launch. */
#ifndef CUDA_FEW_SAMPLES_ANY_LAYOUT_H
#define CUDA_FEW_SAMPLES_ANY_LAYOUT_H

#include "plan/strategy.h"

typedef struct histo_few_any_layout {
    const void *kernel;
    int threads;
    int64_t blocks;
    size_t shared, bytes;    /* of arguments */
    uint64_t arguments[512]; /* few::arguments of the class, or of general.cuh */
} histo_few_any_layout;

/* Are the samples few, and is there a kernel for them, compiled for their class or in advance (general.cuh)? Then *few
 * describes them. */
bool histo_few_any_layout_describe(const histo_job *job, histo_few_any_layout *few);
histo_status histo_few_any_layout_launch(const histo_job *job, histo_few_any_layout *few);

/* The estimated time, however skewed the samples are; infinite unless they are few. */
double histo_few_any_layout_us(const histo_problem *problem);

#endif
