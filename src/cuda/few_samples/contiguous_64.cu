/* Kernels for few integers of 64 bits. */
#include "cuda/few_samples/contiguous.h"

constexpr few_row few_64[] = {
    few_kernels<HISTO_U64>(),
    few_kernels<HISTO_I64>(),
};
