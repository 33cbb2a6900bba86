/* Kernels of lane_private for contiguous 64-bit integers. */
#include "cuda/strategies/lane_private/lane_kernels.h"

namespace histo::lane_private
{

constexpr contiguous_row contiguous_64[] = {
    contiguous_kernels<HISTO_U64, by_pow2, by_nearest, by_linear, by_bits, by_near, by_any>(),
    contiguous_kernels<HISTO_I64, by_pow2, by_nearest, by_linear, by_bits, by_near, by_any>(),
};

} // namespace histo::lane_private
