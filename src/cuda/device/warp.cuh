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

/* The sum over this lane and all before it. */
HISTO_IN_KERNEL uint32_t histo_warp_running_sum(uint32_t x)
{
    const uint32_t lane = threadIdx.x % 32;
#pragma unroll
    for (uint32_t distance = 1; distance < 32; distance *= 2) {
        const uint32_t before = __shfl_up_sync(~0u, x, distance);
        if (lane >= distance) x += before;
    }
    return x;
}

#endif
