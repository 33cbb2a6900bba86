/* weighted_private: samples and weights of any layout and dtype, one by one. */
#include "cuda/strategies/weighted_private/weighted_any.cuh"
#include "cuda/strategies/weighted_private/weighted_private.h"

namespace histo::weighted_private
{

kernel kernel_of_any(bool squares)
{
    return squares ? count_any<histo_any_weighted, true, double> : count_any<histo_any_weighted, false, double>;
}

} // namespace histo::weighted_private
