/* Columns of an array, a histogram each, on the host: see columns.cuh. */
#ifndef CUDA_LANE_PRIVATE_COLUMNS_H
#define CUDA_LANE_PRIVATE_COLUMNS_H

#include "cuda/strategies/lane_private/columns.cuh"
#include "plan/strategy.h"

typedef struct lane_columns_job {
    histo_cuda_work work;
    lane_columns columns;
    const void *kernel;
    int64_t blocks;
} lane_columns_job;

/* Describe the job's samples; false if they are no columns, or there is no kernel for them. */
bool lane_columns_describe(const histo_job *job, lane_columns_job *it);
histo_status lane_columns_launch(const histo_job *job, lane_columns_job *it);

#endif
