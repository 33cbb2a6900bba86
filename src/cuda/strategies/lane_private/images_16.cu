/* Kernels of lane_private for 16-bit samples in rows of images. */
#include "cuda/strategies/lane_private/lane.h"

constexpr lane_images_row lane_images_16[] = {
    lane_images_kernels<HISTO_U16, lane_by_pow2, lane_by_fixed, lane_by_any>(),
    lane_images_kernels<HISTO_I16, lane_by_pow2, lane_by_fixed, lane_by_any>(),
    lane_images_kernels<HISTO_F16, lane_by_any>(),
    lane_images_kernels<HISTO_BF16, lane_by_any>(),
};
