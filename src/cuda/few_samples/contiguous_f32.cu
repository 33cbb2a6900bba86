/* Kernels for few samples of f32. */
#include "cuda/few_samples/contiguous.h"

constexpr few_row few_f32[] = {
    few_kernels<HISTO_F32>(),
};
