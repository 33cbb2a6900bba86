/* Kernels on the current device. */
#ifndef CUDA_HOST_KERNEL_H
#define CUDA_HOST_KERNEL_H

#include "cuda/host/device.h"

/* How many blocks of this many threads and bytes of dynamic shared memory are resident on the device, registers
 * permitting. */
int64_t histo_cuda_resident(histo_device device, int threads, size_t shared);

/* Dynamic shared memory that every kernel may have; for more, it must be allowed so many bytes. */
enum { HISTO_CUDA_FREE_SHARED = 48 << 10 };
histo_status histo_cuda_allow_shared(const void *kernel, size_t bytes);

/* Enqueue a kernel, in clusters of so many blocks, that may start before the one in front of it has finished, and waits
 * for that before it uses memory (device/dependent.cuh). */
histo_status histo_cuda_launch_early(histo_device device, const void *kernel, dim3 grid, int threads, unsigned cluster,
                                     size_t shared, void **args, cudaStream_t stream);

#endif
