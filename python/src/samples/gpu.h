/* The CUDA backend, which is a distribution of its own, and what of NVIDIA's driver is needed beside it. */
#ifndef PYTHON_GPU_H
#define PYTHON_GPU_H

#include <stdbool.h>

/* Load the backend of the package histo_cuda, if that is installed. 0, or -1 with an exception if it cannot be loaded;
 * without the package the library says what is missing. */
int gpu_load(void);

/* Wait for all work on a cudaStream_t of the GPU that has this address in its memory. -1 with an exception. */
int gpu_wait(const void *address, void *stream);

/* Whether a cudaStream_t is being captured into a graph. */
bool gpu_captures(void *stream);

#endif
