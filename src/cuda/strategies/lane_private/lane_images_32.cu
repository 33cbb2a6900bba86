/* Kernels of lane_private for 32-bit samples in rows of images. */
#include "cuda/strategies/lane_private/lane_kernels.h"

namespace histo::lane_private
{

constexpr images_row images_32[] = {
    images_kernels<HISTO_U32, by_pow2, by_any>(),
    images_kernels<HISTO_I32, by_pow2, by_any>(),
    images_kernels<HISTO_F32, by_first_floats, by_linear, by_bits, by_any>(),
};

} // namespace histo::lane_private
