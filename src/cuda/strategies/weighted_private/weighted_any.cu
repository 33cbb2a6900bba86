/* weighted_private: samples and weights of any layout and dtype. */
#include "cuda/strategies/weighted_private/weighted_any.cuh"
#include "cuda/strategies/weighted_private/weighted_private.h"

namespace histo::weighted_private
{

kernel kernel_of_any(bool squares)
{
    return squares ? count_any<true, double> : count_any<false, double>;
}

} // namespace histo::weighted_private
