/* weighted_partition, on the host: the kernels that this folder gives the strategy.
 *
 *     weighted_scatter.cu   the partition pass
 *     weighted_count.cu     counting */
#ifndef CUDA_WEIGHTED_PARTITION_H
#define CUDA_WEIGHTED_PARTITION_H

#include "cuda/strategies/weighted_partition/weighted_partition.cuh"

namespace histo::weighted_partition
{

using kernel = void (*)(const histo_cuda_work, const weighted_layout);
using scatter_kernel = void (*)(const histo_cuda_work, const weighted_layout, const histo_joint);

/* narrow: weights in the pool are of float, else of double. */
scatter_kernel kernel_of_scatter(bool narrow);
kernel kernel_of_count(bool narrow, bool squares);

} // namespace histo::weighted_partition

#endif
