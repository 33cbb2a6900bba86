/* Kernels of lane_private for 64-bit samples in rows of images. */
#include "cuda/strategies/lane_private/lane.h"

constexpr lane_images_row lane_images_64[] = {
    lane_images_kernels<HISTO_U64, lane_by_pow2, lane_by_nearest, lane_by_linear, lane_by_bits, lane_by_any>(),
    lane_images_kernels<HISTO_I64, lane_by_pow2, lane_by_nearest, lane_by_linear, lane_by_bits, lane_by_any>(),
    lane_images_kernels<HISTO_F64, lane_by_nearest, lane_by_linear, lane_by_bits, lane_by_any>(),
};
