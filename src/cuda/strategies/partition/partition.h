/* partition, on the host: the kernels that this folder gives the strategy.
 *
 *     partition_scatter.cu, partition_scatter_columns.cu
 *                                      the partition pass: samples to chunks, a range's in each
 *     partition_count.cu               counting and the merge */
#ifndef CUDA_PARTITION_H
#define CUDA_PARTITION_H

#include "cuda/launch/several_axes.h"
#include "cuda/strategies/partition/partition_scatter.cuh"

namespace histo::partition
{

/* Kernels that scatter a window's samples, and samples of a thread and step. */
struct scatter_kernel {
    void (*scatter)(const histo_cuda_work, const partition_layout, const histo_joint);
    uint32_t samples;
    bool is_slow; /* it reads samples one by one */
};

template <class READER>
constexpr scatter_kernel kernel_by = {scatter<READER>, READER::PER_STEP, false};

scatter_kernel scatter_kernel_of(const histo_cuda_work *work);
scatter_kernel scatter_kernel_of_columns(histo_joint_reader reader);

const void *kernel_of_count(void);
const void *kernel_of_merge(void);

} // namespace histo::partition

#endif
