/* weighted_partition: the partition pass for samples and weights of any layout. */
#include "cuda/strategies/weighted_partition/weighted_partition.h"
#include "cuda/strategies/weighted_partition/weighted_scatter.cuh"

namespace histo::weighted_partition
{

scatter_kernel kernel_of_scatter(bool narrow)
{
    return narrow ? scatter<any_layout, float> : scatter<any_layout, double>;
}

} // namespace histo::weighted_partition
