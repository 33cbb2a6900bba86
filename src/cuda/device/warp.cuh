/* What the lanes of a warp do together. */
#ifndef CUDA_DEVICE_WARP_CUH
#define CUDA_DEVICE_WARP_CUH

#include "cuda/device/dtype.cuh"

/* The sum over all lanes, modulo 2^32, in each of them. */
HISTO_IN_KERNEL uint32_t histo_warp_sum(uint32_t x)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(~0u, x);
#else
    for (int distance = 16; distance; distance /= 2)
        x += __shfl_xor_sync(~0u, x, distance);
    return x;
#endif
}

#endif
