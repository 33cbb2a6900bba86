/* weighted_private: contiguous samples of f64. */
#include "cuda/strategies/weighted_private/weighted_private.h"

namespace histo::weighted_private
{

kernel kernel_of_f64(bool narrow, bool squares)
{
    return contiguous_kernels<no_table<HISTO_F64>>[narrow][squares];
}

} // namespace histo::weighted_private
