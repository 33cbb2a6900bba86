/* The kernels for few samples of any layout, types and axes. */
#include "cuda/few_samples/general.cuh"
#include "cuda/few_samples/general.h"

using namespace histo::few;

template <bool ODD>
static histo_few_kernel kernel_of(histo_weighting weighting, histo_few_kind kind, bool several)
{
    enum { TWO = 2 /* more take too many registers */ };
    using direct = anything<DIRECT_THREADS, 1, ODD>;
    switch (weighting) {
    case HISTO_WEIGHT_FAST:
        return {(const void *)count_weighted<direct, false, true>, 1};
    case HISTO_WEIGHT_FAST_SUM:
        return {(const void *)count_weighted<direct, false, false>, 1};
    case HISTO_WEIGHT_REPRODUCIBLE:
        return {(const void *)count_weighted<direct, true, true>, 1};
    case HISTO_WEIGHT_REPRODUCIBLE_SUM:
        return {(const void *)count_weighted<direct, true, false>, 1};
    default:
        break;
    }
    switch (kind) {
    case HISTO_FEW_MANY:
        return {(const void *)count_many<anything<DIRECT_THREADS, TWO, ODD>>, TWO};
    case HISTO_FEW_DENSE:
        if (several) return {(const void *)count_dense<anything<DENSE_THREADS, TWO, ODD>>, TWO};
        return {(const void *)count_dense<anything<DENSE_THREADS, 1, ODD>>, 1};
    default:
        return {(const void *)count<direct>, 1};
    }
}

histo_few_kernel histo_few_any(histo_weighting weighting, histo_few_kind kind, bool several, bool is_odd)
{
    return is_odd ? kernel_of<true>(weighting, kind, several) : kernel_of<false>(weighting, kind, several);
}
