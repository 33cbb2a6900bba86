/* Kernels for few samples of 16 bits. */
#include "cuda/few_samples/contiguous.h"

constexpr few_row few_16[] = {
    few_kernels<HISTO_U16>(),
    few_kernels<HISTO_I16>(),
    few_kernels<HISTO_F16>(),
    few_kernels<HISTO_BF16>(),
};
