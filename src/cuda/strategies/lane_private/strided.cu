/* Kernels of lane_private for several axes, and for samples of any layout. */
#include "cuda/strategies/lane_private/lane.h"
#include "cuda/strategies/lane_private/strided.cuh"

const void *lane_joint_kernel(histo_joint_reader id)
{
    return histo_kernel_by_reader(histo_joint_readers(), id, [](auto reader) {
        return (const void *)lane_count_joint<decltype(reader), lane_slot_counter>;
    });
}

const void *lane_any_kernel(void)
{
    return (const void *)lane_count_any<histo_any_layout, lane_slot_counter>;
}
