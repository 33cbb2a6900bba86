/* Kernels for few samples of 64 bits. */
#include "cuda/few_samples/small.h"

constexpr small_row small_64[] = {
    small_kernels<HISTO_U64>(),
    small_kernels<HISTO_I64>(),
    small_kernels<HISTO_F64>(),
};
