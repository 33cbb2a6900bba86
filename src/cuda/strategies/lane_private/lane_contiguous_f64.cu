/* Kernels of lane_private for contiguous f64. */
#include "cuda/strategies/lane_private/lane_kernels.h"

namespace histo::lane_private
{

constexpr contiguous_row contiguous_f64[] = {
    contiguous_kernels<HISTO_F64, by_nearest, by_linear, by_bits, by_near, by_any>(),
};

} // namespace histo::lane_private
