/* weighted_partition: counting chunks. */
#include "cuda/strategies/weighted_partition/weighted_count.cuh"
#include "cuda/strategies/weighted_partition/weighted_partition.h"

namespace histo::weighted_partition
{

kernel kernel_of_count(bool narrow, bool squares)
{
    if (narrow) return squares ? count<float, true> : count<float, false>;
    return squares ? count<double, true> : count<double, false>;
}

} // namespace histo::weighted_partition
