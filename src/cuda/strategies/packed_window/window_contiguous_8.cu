/* packed_window: contiguous 8-bit integers, on any axis. */
#include "cuda/strategies/packed_window/window_kernels.h"

namespace histo::packed_window
{

constexpr window_row window_8[] = {
    window_kernels<HISTO_U8>(),
    window_kernels<HISTO_I8>(),
};

} // namespace histo::packed_window
