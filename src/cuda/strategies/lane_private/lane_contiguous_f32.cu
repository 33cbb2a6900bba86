/* Kernels of lane_private for contiguous f32. */
#include "cuda/strategies/lane_private/lane_kernels.h"

namespace histo::lane_private
{

constexpr contiguous_row contiguous_f32[] = {
    contiguous_kernels<HISTO_F32, by_nearest, by_first_floats, by_linear, by_bits, by_any>(),
};

} // namespace histo::lane_private
