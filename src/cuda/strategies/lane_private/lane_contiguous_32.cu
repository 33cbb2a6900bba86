/* Kernels of lane_private for contiguous 32-bit integers. */
#include "cuda/strategies/lane_private/lane_kernels.h"

namespace histo::lane_private
{

constexpr contiguous_row contiguous_32[] = {
    contiguous_kernels<HISTO_U32, by_pow2, by_nearest, by_linear, by_bits, by_any>(),
    contiguous_kernels<HISTO_I32, by_pow2, by_nearest, by_linear, by_bits, by_any>(),
};

} // namespace histo::lane_private
