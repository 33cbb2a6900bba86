/* partition: the partition pass for samples of several axes. */
#include "cuda/strategies/partition/partition.h"

namespace histo::partition
{

scatter_kernel scatter_kernel_of_columns(histo_joint_reader reader)
{
    switch (reader) {
    case histo_read_columns:
        return kernel_by<histo_columns_reader>;
    case histo_read_f32x2:
        return kernel_by<histo_f32x2_reader>;
    case histo_read_u32x2:
        return kernel_by<histo_u32x2_reader>;
    case histo_read_u16x2:
        return kernel_by<histo_u16x2_reader>;
    default:
        return kernel_by<histo_pixels_reader>;
    }
}

} // namespace histo::partition
