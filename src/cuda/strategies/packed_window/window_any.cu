/* packed_window: samples of any layout, mask and filter included, and of several axes. */
#include "cuda/strategies/packed_window/packed_window.h"
#include "cuda/strategies/packed_window/window_any.cuh"

namespace histo::packed_window
{

template <class READER>
static const void *kernel(int bits)
{
    return bits == 16 ? (const void *)count_read<READER, 16> : (const void *)count_read<READER, 8>;
}

const void *kernel_of_any(int bits)
{
    return kernel<unjoined<histo_any_layout>>(bits);
}

const void *kernel_of_joint(histo_joint_reader reader, int bits)
{
    return histo_kernel_by_reader(histo_joint_readers(), reader, [=](auto of) { return kernel<decltype(of)>(bits); });
}

} // namespace histo::packed_window
