/* Kernels for few samples of f64. */
#include "cuda/few_samples/contiguous.h"

constexpr few_row few_f64[] = {
    few_kernels<HISTO_F64>(),
};
