/* Kernels of lane_private for contiguous 16-bit samples. */
#include "cuda/strategies/lane_private/lane.h"

constexpr lane_contiguous_row lane_contiguous_16[] = {
    lane_contiguous_kernels<HISTO_U16, lane_by_pow2, lane_by_fixed, lane_by_any>(),
    lane_contiguous_kernels<HISTO_I16, lane_by_pow2, lane_by_fixed, lane_by_any>(),
    lane_contiguous_kernels<HISTO_F16, lane_by_any>(),
    lane_contiguous_kernels<HISTO_BF16, lane_by_any>(),
};
