/* Kernels of lane_private for 64-bit integers in rows of images. */
#include "cuda/strategies/lane_private/lane_kernels.h"

namespace histo::lane_private
{

constexpr images_row images_64[] = {
    images_kernels<HISTO_U64, by_pow2, by_nearest, by_linear, by_bits, by_any>(),
    images_kernels<HISTO_I64, by_pow2, by_nearest, by_linear, by_bits, by_any>(),
};

} // namespace histo::lane_private
