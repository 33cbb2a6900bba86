/* Kernels of lane_private for contiguous 64-bit samples. */
#include "cuda/strategies/lane_private/lane.h"

constexpr lane_contiguous_row lane_contiguous_64[] = {
    lane_contiguous_kernels<HISTO_U64, lane_by_pow2, lane_by_nearest, lane_by_linear, lane_by_bits, lane_by_near,
                            lane_by_any>(),
    lane_contiguous_kernels<HISTO_I64, lane_by_pow2, lane_by_nearest, lane_by_linear, lane_by_bits, lane_by_near,
                            lane_by_any>(),
    lane_contiguous_kernels<HISTO_F64, lane_by_nearest, lane_by_linear, lane_by_bits, lane_by_near, lane_by_any>(),
};
