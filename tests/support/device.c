#include "support/device.h"

#include <stdlib.h>
#include <string.h>

bool is_sanitized(void)
{
    return getenv("HISTO_TEST_EVERY") != NULL;
}

#ifdef HISTO_WITH_CUDA
#include <cuda_runtime_api.h>

const char *device_missing(void)
{
    if (histo_backend_load(NULL) != HISTO_OK) return histo_last_error();
    int count = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    cudaGetLastError();
    return error != cudaSuccess ? cudaGetErrorString(error) : count ? NULL : "there is no GPU";
}

void *device_copy(const histo_view *view, histo_view *copy)
{
    enum { KEPT = 256 };
    int64_t lowest = 0, highest = 0;
    *copy = *view;
    for (int d = 0; d < view->ndim; d++) {
        int64_t reach = (view->shape[d] - 1) * view->strides[d];
        *(reach < 0 ? &lowest : &highest) += reach;
        if (view->shape[d] == 0) return NULL;
    }
    const char *from = (const char *)view->data + lowest;
    size_t bytes = (size_t)(highest - lowest) + histo_dtype_size(view->dtype), offset = (uintptr_t)from % KEPT;
    char *memory;
    /* Kernels read whole words, parts of which may lie before or after the samples. */
    const size_t all = (offset + bytes + KEPT - 1) / KEPT * KEPT;
    if (cudaMalloc((void **)&memory, all) != cudaSuccess || cudaMemset(memory, 0, all) != cudaSuccess) return NULL;
    if (cudaMemcpy(memory + offset, from, bytes, cudaMemcpyHostToDevice) != cudaSuccess) return NULL;
    if (cudaDeviceSynchronize() != cudaSuccess) return NULL; /* cudaMemcpy may return before the bytes arrive */
    copy->data = memory + offset - lowest;
    return memory;
}

void device_free(void *memory)
{
    cudaFree(memory);
}

#else

const char *device_missing(void)
{
    return "this build has no CUDA";
}

void *device_copy(const histo_view *view, histo_view *copy)
{
    *copy = *view;
    return NULL;
}

void device_free(void *memory)
{
    (void)memory;
}

#endif
