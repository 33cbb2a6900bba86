/* Kernels of lane_private for contiguous 16-bit samples. */
#include "cuda/strategies/lane_private/lane_kernels.h"

namespace histo::lane_private
{

constexpr contiguous_row contiguous_16[] = {
    contiguous_kernels<HISTO_U16, by_pow2, by_fixed_point, by_any>(),
    contiguous_kernels<HISTO_I16, by_pow2, by_fixed_point, by_any>(),
    contiguous_kernels<HISTO_F16, by_any>(),
    contiguous_kernels<HISTO_BF16, by_any>(),
};

} // namespace histo::lane_private
