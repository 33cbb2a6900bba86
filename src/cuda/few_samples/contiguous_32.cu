/* Kernels for few integers of 32 bits. */
#include "cuda/few_samples/contiguous.h"

constexpr few_row few_32[] = {
    few_kernels<HISTO_U32>(),
    few_kernels<HISTO_I32>(),
};
