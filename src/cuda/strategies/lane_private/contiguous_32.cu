/* Kernels of lane_private for contiguous 32-bit samples. */
#include "cuda/strategies/lane_private/lane.h"

constexpr lane_contiguous_row lane_contiguous_32[] = {
    lane_contiguous_kernels<HISTO_U32, lane_by_pow2, lane_by_nearest, lane_by_linear, lane_by_bits, lane_by_any>(),
    lane_contiguous_kernels<HISTO_I32, lane_by_pow2, lane_by_nearest, lane_by_linear, lane_by_bits, lane_by_any>(),
    lane_contiguous_kernels<HISTO_F32, lane_by_nearest, lane_by_firsts, lane_by_linear, lane_by_bits, lane_by_any>(),
};
