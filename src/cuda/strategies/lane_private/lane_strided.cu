/* Kernels of lane_private for several axes, and for samples of any layout. */
#include "cuda/strategies/lane_private/lane_kernels.h"
#include "cuda/strategies/lane_private/lane_strided.cuh"

namespace histo::lane_private
{

const void *joint_kernel(histo_joint_reader id)
{
    return histo_kernel_by_reader(histo_joint_readers(), id, [](auto reader) {
        return (const void *)count_joint<decltype(reader), slot_counter>;
    });
}

const void *any_kernel(void)
{
    return (const void *)count_any<histo_any_layout, slot_counter>;
}

} // namespace histo::lane_private
