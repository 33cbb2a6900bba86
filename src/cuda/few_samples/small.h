/* Few samples, host side: which jobs these kernels count (small.cu), and the tables of kernels. */
#ifndef CUDA_LANE_PRIVATE_SMALL_H
#define CUDA_LANE_PRIVATE_SMALL_H

#include "cuda/few_samples/small.cuh"
#include "plan/strategy.h"

typedef void small_kernel(small_args args);

/* The kernels for a type: [0] has a counter for each slot in shared memory, [1] counts in the histogram itself with
 * touched.cuh (NULL for 8 bits). */
typedef struct small_row {
    histo_dtype dtype;
    small_kernel *kernel[2];
} small_row;

/* One row for each type of 8, 16, 32 or 64 bits. */
extern const small_row small_8[2], small_16[4], small_32[3], small_64[3];

/* Are the samples few, and contiguous in each batch entry? Then *args describes them. touched: whatever their number,
 * for the kernel that counts touched slots; it takes a single entry. */
bool histo_small_describe(const histo_job *job, bool touched, small_args *args);
histo_status histo_small_launch(const histo_job *job, small_args *args);

/* The estimated time of a problem whose samples are contiguous in each batch entry; infinite unless they are few. */
double histo_small_us(const histo_problem *problem);

/* A row of the table. */
template <histo_dtype type>
static constexpr small_row small_kernels()
{
    return {type, {small_count<type, small_dense>, small_count<type, small_touched>}};
}

#endif
