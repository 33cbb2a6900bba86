/* weighted_private: contiguous samples of f32, looked up as the axis has it, or by a table. */
#include "cuda/strategies/weighted_private/weighted_private.h"

namespace histo::weighted_private
{

kernel kernel_of_f32(f32_lookup lookup, bool narrow, bool squares)
{
    switch (lookup) {
    case FIRST_FLOATS:
        return kernel_of_first_floats(narrow, squares);
    case LINEAR_CELLS:
    case BIT_CELLS:
        return kernel_of_cells(lookup == BIT_CELLS, narrow, squares);
    default:
        return contiguous_kernels<no_table<HISTO_F32>>[narrow][squares];
    }
}

} // namespace histo::weighted_private
