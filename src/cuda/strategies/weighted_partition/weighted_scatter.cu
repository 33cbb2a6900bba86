/* weighted_partition: the partition pass for samples and weights of any layout. */
#include "cuda/strategies/weighted_partition/weighted_partition.h"
#include "cuda/strategies/weighted_partition/weighted_scatter.cuh"

namespace histo::weighted_partition
{

scatter_kernel kernel_of_scatter(bool narrow)
{
    using any = one_by_one<histo_any_weighted>;
    return narrow ? scatter<any, float> : scatter<any, double>;
}

} // namespace histo::weighted_partition
