/* Checked calls of CUDA, for C and C++. */
#ifndef BENCH_CUDA_CHECK_H
#define BENCH_CUDA_CHECK_H

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif
#include "base/error.h"
#ifdef __cplusplus
}
#endif

/* HISTO_OK, or the status and message for a failure of `what`. */
static inline histo_status bench_cuda_check(cudaError_t error, const char *what)
{
    if (error == cudaSuccess) return HISTO_OK;
    cudaGetLastError();
    return histo_fail(error == cudaErrorMemoryAllocation ? HISTO_NO_MEMORY : HISTO_DEVICE, "%s: %s", what,
                      cudaGetErrorString(error));
}

/* Return from the function if a call of CUDA fails. */
#define TRY(call, what)                                                                                                \
    do {                                                                                                               \
        histo_status tried = bench_cuda_check(call, what);                                                             \
        if (tried != HISTO_OK) return tried;                                                                           \
    } while (0)

#endif
