/* Checked calls of CUDA. */
#ifndef CUDA_HOST_CHECK_H
#define CUDA_HOST_CHECK_H

#include <cuda_runtime.h>

#include "base/error.h"

/* Failure injection for tests: with histo_cuda_fail_at = n > 0, the n-th call from now is skipped and returns
 * histo_cuda_fail_as. 0: off. */
extern "C" int histo_cuda_fail_at, histo_cuda_fail_as;
bool histo_cuda_injected(void);

/* HISTO_OK, or fail with a status and a message for `what` ("allocating the counts"). */
histo_status histo_cuda_check(cudaError_t error, const char *what);

/* Wraps every CUDA call that can fail by itself; gives a histo_status. */
#define HISTO_CUDA(call, what) histo_cuda_check(histo_cuda_injected() ? (cudaError_t)histo_cuda_fail_as : (call), what)

#endif
