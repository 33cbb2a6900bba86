/* weighted_partition: the partition pass for samples and weights of any layout. */
#include "cuda/weighted_partition/layout.h"
#include "cuda/weighted_partition/scatter.cuh"

namespace histo::weighted_partition
{

kernel kernel_of_scatter(bool narrow)
{
    return narrow ? scatter<histo_any_weighted, float> : scatter<histo_any_weighted, double>;
}

} // namespace histo::weighted_partition
