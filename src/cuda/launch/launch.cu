#include "cuda/launch/launch.h"

#include "cuda/host/device.h"
#include "cuda/memory/accumulators.h"

histo_status histo_cuda_launch(const histo_job *job, const void *kernel, dim3 grid, int threads, size_t shared,
                               void **args)
{
    histo_cuda_accumulators *accumulators = histo_cuda_accumulators_in(job);
    histo_status status = HISTO_OK;
    if (shared > HISTO_CUDA_FREE_SHARED && !(accumulators && accumulators->large_kernel == kernel)) {
        /* Always the maximum, so that threads which launch it with different sizes agree. */
        status = histo_cuda_allow_shared(kernel, histo_cuda_device_of(job->problem->device)->shared_block);
        if (accumulators) accumulators->large_kernel = status == HISTO_OK ? kernel : NULL;
    }
    if (status != HISTO_OK) return status;
    return HISTO_CUDA(cudaLaunchKernel(kernel, grid, dim3((unsigned)threads), args, shared, (cudaStream_t)job->stream),
                      "launching a kernel");
}
