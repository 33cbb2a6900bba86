/* packed_window: contiguous f64, on any axis. */
#include "cuda/strategies/packed_window/window_kernels.h"

namespace histo::packed_window
{

constexpr window_row window_f64[] = {
    window_kernels<HISTO_F64>(),
};

} // namespace histo::packed_window
