/* Kernels of lane_private for f64 in rows of images. */
#include "cuda/strategies/lane_private/lane_kernels.h"

namespace histo::lane_private
{

constexpr images_row images_f64[] = {
    images_kernels<HISTO_F64, by_nearest, by_linear, by_bits, by_any>(),
};

} // namespace histo::lane_private
