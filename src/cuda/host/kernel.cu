#include "cuda/host/kernel.h"

int64_t histo_cuda_resident(histo_device device, int threads, size_t shared)
{
    const histo_cuda_device *it = histo_cuda_device_of(device);
    size_t by_threads = (size_t)(it->threads_each / threads);
    size_t by_shared = it->shared_each / (shared + HISTO_CUDA_BLOCK_RESERVE);
    size_t each = by_threads < by_shared ? by_threads : by_shared;
    if (each > 32) each = 32;
    return (int64_t)(each ? each : 1) * it->multiprocessors;
}

histo_status histo_cuda_allow_shared(const void *kernel, size_t bytes)
{
    return HISTO_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes),
                      "asking for shared memory");
}

histo_status histo_cuda_launch_early(histo_device device, const void *kernel, dim3 grid, int threads, unsigned cluster,
                                     size_t shared, void **args, cudaStream_t stream)
{
    const histo_status status = shared > HISTO_CUDA_FREE_SHARED ? histo_cuda_allow_shared(kernel, shared) : HISTO_OK;
    if (status != HISTO_OK) return status;
    cudaLaunchAttribute attributes[2] = {};
    attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[0].val.programmaticStreamSerializationAllowed = 1;
    attributes[1].id = cudaLaunchAttributeClusterDimension;
    attributes[1].val.clusterDim.x = cluster;
    attributes[1].val.clusterDim.y = attributes[1].val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = dim3((unsigned)threads);
    config.dynamicSmemBytes = shared;
    config.stream = stream;
    config.attrs = attributes;
    config.numAttrs = histo_cuda_device_of(device)->major < 9 ? 0 : cluster > 1 ? 2 : 1;
    return HISTO_CUDA(cudaLaunchKernelExC(&config, kernel, args), "launching a kernel");
}
