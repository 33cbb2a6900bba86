/* Few samples, on the host: which jobs these kernels count (small.cu), and the tables of the kernels. */
#ifndef CUDA_LANE_PRIVATE_SMALL_H
#define CUDA_LANE_PRIVATE_SMALL_H

#include "cuda/cuda.h"
#include "cuda/lane_private/small.cuh"

typedef void small_kernel(small_args args);

/* The kernels for a type: with a counter for each slot in shared memory, and for each touched slot (NULL for 8 bits).
 */
typedef struct small_row {
    histo_dtype dtype;
    small_kernel *kernel[2];
} small_row;

/* A row for each type of so many bits. */
extern const small_row small_8[2], small_16[4], small_32[3], small_64[3];

/* Are the samples few, and contiguous in each entry? Then *args describes them. touched: count by touched slots; only
 * a single entry. */
bool histo_small_describe(const histo_job *job, bool touched, small_args *args);
histo_status histo_small_launch(const histo_job *job, small_args *args);

/* The estimated time of a problem whose samples are contiguous in each entry, infinite unless they are few. */
double histo_small_us(const histo_problem *problem);

/* A row of the table. */
template <histo_dtype type>
static constexpr small_row small_kernels()
{
    return {type, {small_count<type, small_dense>, small_count<type, small_touched>}};
}

#endif
