/* weighted_private: contiguous samples of the commonest integers. */
#include "cuda/strategies/weighted_private/weighted_private.h"

namespace histo::weighted_private
{

kernel kernel_of_integers(histo_dtype dtype, bool narrow, bool squares)
{
    switch (dtype) {
    case HISTO_U8:
        return contiguous_kernels<no_table<HISTO_U8>>[narrow][squares];
    case HISTO_U16:
        return contiguous_kernels<no_table<HISTO_U16>>[narrow][squares];
    case HISTO_U32:
        return contiguous_kernels<no_table<HISTO_U32>>[narrow][squares];
    case HISTO_I32:
        return contiguous_kernels<no_table<HISTO_I32>>[narrow][squares];
    default:
        return NULL;
    }
}

} // namespace histo::weighted_private
