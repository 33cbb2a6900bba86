/* packed_window: contiguous f16 and bf16, on any axis. */
#include "cuda/strategies/packed_window/window_kernels.h"

namespace histo::packed_window
{

constexpr window_row window_halves[] = {
    window_kernels<HISTO_F16>(),
    window_kernels<HISTO_BF16>(),
};

} // namespace histo::packed_window
