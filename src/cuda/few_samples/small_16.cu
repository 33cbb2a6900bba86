/* Kernels for few samples of 16 bits. */
#include "cuda/few_samples/small.h"

constexpr small_row small_16[] = {
    small_kernels<HISTO_U16>(),
    small_kernels<HISTO_I16>(),
    small_kernels<HISTO_F16>(),
    small_kernels<HISTO_BF16>(),
};
