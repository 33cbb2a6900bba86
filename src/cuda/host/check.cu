/* Checked calls: the status and message of each failure, and injected failures for tests. */
#include "cuda/host/check.h"

extern "C" {
int histo_cuda_fail_at = 0, histo_cuda_fail_as = cudaErrorMemoryAllocation;
}

bool histo_cuda_injected(void)
{
    if (__atomic_load_n(&histo_cuda_fail_at, __ATOMIC_RELAXED) == 0) return false;
    return __atomic_fetch_sub(&histo_cuda_fail_at, 1, __ATOMIC_RELAXED) == 1;
}

histo_status histo_cuda_check(cudaError_t error, const char *what)
{
    if (error == cudaSuccess) return HISTO_OK;
    /* Clear the error, so that no later check reports it. A sticky error has ended the process's use of the GPU. */
    cudaGetLastError();
    bool lost = cudaPeekAtLastError() != cudaSuccess;
    int ordinal = -1;
    cudaGetDevice(&ordinal);
    if (error == cudaErrorMemoryAllocation)
        return histo_fail(HISTO_NO_MEMORY, "GPU %d is out of memory for %s: fewer bins or smaller batches need less",
                          ordinal, what);
    return histo_fail(HISTO_DEVICE, "GPU %d failed at %s (%s): %s", ordinal, what, cudaGetErrorString(error),
                      lost ? "this process cannot use it any more; reset the histogram to go on with the CPU"
                           : "reset the histogram to use it again");
}
