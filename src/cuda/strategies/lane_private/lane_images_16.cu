/* Kernels of lane_private for 16-bit samples in rows of images. */
#include "cuda/strategies/lane_private/lane_kernels.h"

namespace histo::lane_private
{

constexpr images_row images_16[] = {
    images_kernels<HISTO_U16, by_pow2, by_fixed_point, by_any>(),
    images_kernels<HISTO_I16, by_pow2, by_fixed_point, by_any>(),
    images_kernels<HISTO_F16, by_any>(),
    images_kernels<HISTO_BF16, by_any>(),
};

} // namespace histo::lane_private
