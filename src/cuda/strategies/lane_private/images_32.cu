/* Kernels of lane_private for 32-bit samples in rows of images. */
#include "cuda/strategies/lane_private/lane.h"

constexpr lane_images_row lane_images_32[] = {
    lane_images_kernels<HISTO_U32, lane_by_pow2, lane_by_any>(),
    lane_images_kernels<HISTO_I32, lane_by_pow2, lane_by_any>(),
    lane_images_kernels<HISTO_F32, lane_by_firsts, lane_by_linear, lane_by_bits, lane_by_any>(),
};
