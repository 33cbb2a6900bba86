/* Columns of an array, a histogram each, on the host: see lane_columns.cuh. */
#ifndef CUDA_LANE_COLUMNS_H
#define CUDA_LANE_COLUMNS_H

#include "cuda/strategies/lane_private/lane_columns.cuh"
#include "plan/strategy.h"

namespace histo::lane_private
{

typedef struct columns_job {
    histo_cuda_work work;
    column_items columns;
    const void *kernel;
    int64_t blocks;
} columns_job;

/* Describe the job's samples; false if they are no columns, or there is no kernel for them. */
bool columns_describe(const histo_job *job, columns_job *it);
histo_status columns_launch(const histo_job *job, columns_job *it);

} // namespace histo::lane_private

#endif
