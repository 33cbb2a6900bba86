/* What kernels that read accumulators share. */
#ifndef CUDA_MEMORY_READ_SLOTS_H
#define CUDA_MEMORY_READ_SLOTS_H

#include "cuda/device/dependent.cuh"
#include "cuda/host/kernel.h"
#include "cuda/memory/read.h"

template <typename OUT>
static __device__ OUT as(unsigned long long count)
{
    return (OUT)count;
}

template <>
__device__ uint32_t as<uint32_t>(unsigned long long count)
{
    return histo_saturated(count);
}

template <typename OUT>
static __device__ OUT as(double sum)
{
    return (OUT)sum;
}

static __device__ int64_t slot_at(const histo_slot_grid *grid, int64_t i)
{
    int64_t slot = grid->first;
    for (int d = grid->ndim - 1; d > 0; d--) {
        const int64_t extent = grid->extent[d], next = i / extent;
        slot += (i - next * extent) * grid->stride[d];
        i = next;
    }
    return slot + i * grid->stride[0];
}

static inline histo_status histo_launch_read(const histo_cuda_accumulators *from, const void *kernel, int64_t blocks,
                                             int threads, void **args, cudaStream_t stream)
{
    return histo_cuda_launch_early(from->base.device, kernel, dim3((unsigned)blocks), threads, 1, 0, args, stream);
}

#endif
