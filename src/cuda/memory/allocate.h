/* Taking GPU memory and giving it back. */
#ifndef CUDA_MEMORY_ALLOCATE_H
#define CUDA_MEMORY_ALLOCATE_H

#include "cuda/host/check.h"

/* Take memory of the current device, of the application's allocator or CUDA's: *memory, NULL after a failure. No
 * enqueued work uses it. */
histo_status histo_cuda_allocate(void **memory, size_t bytes, const char *what);

/* Give it back, once no kernel uses it any more. NULL is allowed, and so is memory that went with its context. */
void histo_cuda_release(void *memory);

#endif
