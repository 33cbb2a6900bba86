/* Launching kernels. */
#ifndef CUDA_LAUNCH_LAUNCH_H
#define CUDA_LAUNCH_LAUNCH_H

#include "cuda/host/check.h"
#include "plan/strategy.h"

/* How many blocks of this many threads and bytes of dynamic shared memory are resident on the device, registers
 * permitting. */
int64_t histo_cuda_resident(histo_device device, int threads, size_t shared);

/* Enqueue a kernel on the job's stream. args: addresses of the arguments, as for cudaLaunchKernel. */
histo_status histo_cuda_launch(const histo_job *job, const void *kernel, dim3 grid, int threads, size_t shared,
                               void **args);

/* Enqueue a kernel, in clusters of so many blocks, that may start before the one in front of it has finished, and waits
 * for that before it uses memory (device/dependent.cuh). */
histo_status histo_cuda_launch_early(histo_device device, const void *kernel, dim3 grid, int threads, unsigned cluster,
                                     size_t shared, void **args, cudaStream_t stream);

#endif
