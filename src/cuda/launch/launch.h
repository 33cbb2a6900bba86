/* Launching the kernels of strategies. */
#ifndef CUDA_LAUNCH_LAUNCH_H
#define CUDA_LAUNCH_LAUNCH_H

#include "cuda/host/kernel.h"
#include "plan/strategy.h"

/* A parameter that strategies have in common. */
static constexpr histo_param histo_blocks_param = {
    "blocks", 0, 65535, 0, "blocks of the grid; 0: as many as the device holds at once", NULL};

/* Enqueue a kernel on the job's stream. args: addresses of the arguments, as for cudaLaunchKernel. */
histo_status histo_cuda_launch(const histo_job *job, const void *kernel, dim3 grid, int threads, size_t shared,
                               void **args);

#endif
