/* Kernels for few samples of 32 bits. */
#include "cuda/few_samples/small.h"

constexpr small_row small_32[] = {
    small_kernels<HISTO_U32>(),
    small_kernels<HISTO_I32>(),
    small_kernels<HISTO_F32>(),
};
