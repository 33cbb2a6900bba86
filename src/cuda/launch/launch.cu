#include "cuda/launch/launch.h"

#include "cuda/host/device.h"
#include "cuda/memory/accumulators.h"

int64_t histo_cuda_resident(histo_device device, int threads, size_t shared)
{
    const histo_cuda_device *it = histo_cuda_device_of(device);
    size_t by_threads = (size_t)(it->threads_each / threads);
    size_t by_shared = it->shared_each / (shared + HISTO_CUDA_BLOCK_RESERVE);
    size_t each = by_threads < by_shared ? by_threads : by_shared;
    if (each > 32) each = 32;
    return (int64_t)(each ? each : 1) * it->multiprocessors;
}

/* Let a kernel have so much dynamic shared memory: beyond this, it needs an attribute. */
enum { FREE_SHARED = 48 << 10 };

static histo_status allow_shared(const void *kernel, size_t bytes)
{
    return HISTO_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes),
                      "asking for shared memory");
}

histo_status histo_cuda_launch(const histo_job *job, const void *kernel, dim3 grid, int threads, size_t shared,
                               void **args)
{
    histo_cuda_accumulators *accumulators = histo_cuda_accumulators_in(job);
    histo_status status = HISTO_OK;
    if (shared > FREE_SHARED && !(accumulators && accumulators->large_kernel == kernel)) {
        /* Always the maximum, so that threads which launch it with different sizes agree. */
        status = allow_shared(kernel, histo_cuda_device_of(job->problem->device)->shared_block);
        if (accumulators) accumulators->large_kernel = status == HISTO_OK ? kernel : NULL;
    }
    if (status != HISTO_OK) return status;
    return HISTO_CUDA(cudaLaunchKernel(kernel, grid, dim3((unsigned)threads), args, shared, (cudaStream_t)job->stream),
                      "launching a kernel");
}

histo_status histo_cuda_launch_early(histo_device device, const void *kernel, dim3 grid, int threads, unsigned cluster,
                                     size_t shared, void **args, cudaStream_t stream)
{
    const histo_status status = shared > FREE_SHARED ? allow_shared(kernel, shared) : HISTO_OK;
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
