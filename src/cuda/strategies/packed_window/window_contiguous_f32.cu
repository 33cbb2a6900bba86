/* packed_window: contiguous f32, on any axis. */
#include "cuda/strategies/packed_window/window_kernels.h"

namespace histo::packed_window
{

constexpr window_row window_f32[] = {
    window_kernels<HISTO_F32>(),
};

} // namespace histo::packed_window
