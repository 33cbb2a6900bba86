/* packed_window: contiguous 64-bit integers, on any axis. */
#include "cuda/strategies/packed_window/window_kernels.h"

namespace histo::packed_window
{

constexpr window_row window_64[] = {
    window_kernels<HISTO_U64>(),
    window_kernels<HISTO_I64>(),
};

} // namespace histo::packed_window
