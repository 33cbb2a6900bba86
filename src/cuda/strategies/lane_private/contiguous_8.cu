/* Kernels of lane_private for contiguous 8-bit samples, on architectures that pixels.cu is not made for, and of ragged
 * segments. */
#include "cuda/strategies/lane_private/lane.h"

constexpr lane_contiguous_row lane_contiguous_8[] = {
    lane_contiguous_kernels<HISTO_U8, lane_by_value>(),
    lane_contiguous_kernels<HISTO_I8, lane_by_value>(),
};
