/* Counts calls that allocate, wait or copy, which planned fills and graphs must not make. The linker redirects them
 * here (CMakeLists.txt). */
#ifndef TESTS_FORBIDDEN_H
#define TESTS_FORBIDDEN_H

#include <cuda_runtime_api.h>

static int forbidden_calls;
#define FORBID(name, parameters, arguments)                                                                            \
    cudaError_t __real_##name parameters;                                                                              \
    cudaError_t __wrap_##name parameters;                                                                              \
    cudaError_t __wrap_##name parameters                                                                               \
    {                                                                                                                  \
        __atomic_fetch_add(&forbidden_calls, 1, __ATOMIC_RELAXED);                                                     \
        return __real_##name arguments;                                                                                \
    }
FORBID(cudaMalloc, (void **memory, size_t bytes), (memory, bytes))
FORBID(cudaHostAlloc, (void **memory, size_t bytes, unsigned flags), (memory, bytes, flags))
FORBID(cudaFree, (void *memory), (memory))
FORBID(cudaMemcpy, (void *to, const void *from, size_t n, enum cudaMemcpyKind kind), (to, from, n, kind))
FORBID(cudaMemcpyAsync, (void *to, const void *from, size_t n, enum cudaMemcpyKind kind, cudaStream_t stream),
       (to, from, n, kind, stream))
FORBID(cudaStreamSynchronize, (cudaStream_t stream), (stream))
FORBID(cudaEventSynchronize, (cudaEvent_t event), (event))
FORBID(cudaDeviceSynchronize, (void), ())

#endif
