/* packed_window: contiguous 32-bit integers, on any axis. */
#include "cuda/strategies/packed_window/window_kernels.h"

namespace histo::packed_window
{

constexpr window_row window_32[] = {
    window_kernels<HISTO_U32>(),
    window_kernels<HISTO_I32>(),
};

} // namespace histo::packed_window
