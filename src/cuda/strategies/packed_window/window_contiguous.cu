/* packed_window: the kernel for contiguous samples of a dtype, on any axis. */
#include "cuda/strategies/packed_window/window_kernels.h"

#include "view/dtype.h"

namespace histo::packed_window
{

static const window_row *rows_of(histo_dtype dtype)
{
    switch (dtype) {
    case HISTO_F16:
    case HISTO_BF16:
        return window_halves;
    case HISTO_F32:
        return window_f32;
    case HISTO_F64:
        return window_f64;
    default:
        break;
    }
    const size_t size = histo_dtype_size(dtype);
    return size == 1 ? window_8 : size == 2 ? window_16 : size == 4 ? window_32 : window_64;
}

const void *kernel_of_dtype(int dtype, int bits)
{
    const window_row *row = rows_of((histo_dtype)dtype);
    while ((int)row->dtype != dtype)
        row++;
    return (const void *)row->kernel[bits == 16];
}

} // namespace histo::packed_window
