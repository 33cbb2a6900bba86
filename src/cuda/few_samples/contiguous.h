/* Few contiguous samples, on the host: the launch, and the tables of kernels. */
#ifndef CUDA_FEW_SAMPLES_CONTIGUOUS_H
#define CUDA_FEW_SAMPLES_CONTIGUOUS_H

#include "cuda/few_samples/contiguous.cuh"
#include "plan/strategy.h"

typedef void few_kernel(few_args args);

/* The kernels for a type: [0] has a counter for each slot in shared memory, [1] counts in the histogram itself with
 * touched.cuh (NULL for 8 bits). */
typedef struct few_row {
    histo_dtype dtype;
    few_kernel *kernel[2];
} few_row;

/* One row for each type of 8, 16, 32 or 64 bits. Those of f32 and f64 are in files of their own: CUDA loads all kernels
 * of a file at the first launch of one. */
extern const few_row few_8[2], few_16[4], few_32[2], few_64[2], few_f32[1], few_f64[1];

/* Are the samples few, and contiguous in each batch entry? Then *args describes them. touched: whatever their number,
 * for the kernel that counts touched slots; it takes a single entry. */
bool histo_few_contiguous_describe(const histo_job *job, bool touched, few_args *args);
histo_status histo_few_contiguous_launch(const histo_job *job, few_args *args);

/* The estimated time of a problem whose samples are contiguous in each batch entry; infinite unless they are few. */
double histo_few_contiguous_us(const histo_problem *problem);

/* A row of the table. */
template <histo_dtype type>
static constexpr few_row few_kernels()
{
    return {type, {few_count<type, few_dense>, few_count<type, few_touched>}};
}

#endif
