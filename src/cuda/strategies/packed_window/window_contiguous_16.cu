/* packed_window: contiguous 16-bit integers, on any axis. */
#include "cuda/strategies/packed_window/window_kernels.h"

namespace histo::packed_window
{

constexpr window_row window_16[] = {
    window_kernels<HISTO_U16>(),
    window_kernels<HISTO_I16>(),
};

} // namespace histo::packed_window
