/* Kernels of lane_private for contiguous 8-bit samples, on architectures that byte_pixels.cu is not made for, and of
 * ragged segments. */
#include "cuda/strategies/lane_private/lane_kernels.h"

namespace histo::lane_private
{

constexpr contiguous_row contiguous_8[] = {
    contiguous_kernels<HISTO_U8, by_value>(),
    contiguous_kernels<HISTO_I8, by_value>(),
};

} // namespace histo::lane_private
