/* Few samples, host side: which jobs the kernels of few.cuh count, and their launch. */
#ifndef CUDA_FEW_H
#define CUDA_FEW_H

#include "plan/strategy.h"

typedef struct histo_few {
    const void *kernel;
    int threads;
    int64_t blocks;
    size_t shared, bytes;    /* of arguments */
    uint64_t arguments[512]; /* few::arguments of the class */
} histo_few;

/* Are the samples few, and is there a kernel compiled for them? Then *few describes them. */
bool histo_cuda_few_describe(const histo_job *job, histo_few *few);
histo_status histo_cuda_few_launch(const histo_job *job, histo_few *few);

/* The estimated time, however skewed the samples are; infinite unless they are few and kernels are compiled. */
double histo_cuda_few_us(const histo_problem *problem);

#endif
