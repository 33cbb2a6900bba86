/* Kernels of lane_private for 32-bit integers in rows of images. */
#include "cuda/strategies/lane_private/lane_kernels.h"

namespace histo::lane_private
{

constexpr images_row images_32[] = {
    images_kernels<HISTO_U32, by_pow2, by_any>(),
    images_kernels<HISTO_I32, by_pow2, by_any>(),
};

} // namespace histo::lane_private
