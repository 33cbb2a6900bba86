/* Kernels of lane_private for f32 in rows of images. */
#include "cuda/strategies/lane_private/lane_kernels.h"

namespace histo::lane_private
{

constexpr images_row images_f32[] = {
    images_kernels<HISTO_F32, by_first_floats, by_linear, by_bits, by_any>(),
};

} // namespace histo::lane_private
