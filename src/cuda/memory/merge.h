/* Merging what several GPUs have counted. */
#ifndef CUDA_MEMORY_MERGE_H
#define CUDA_MEMORY_MERGE_H

#include "cuda/memory/accumulators.h"

/* Tests set this, so that no GPU can reach another's memory. */
extern "C" bool histo_cuda_apart;
/* Can kernels on GPU `to` use the memory of GPU `from`? */
bool histo_cuda_reaches(int to, int from);
histo_status histo_cuda_accumulators_join(histo_device_accumulators *to, histo_device_accumulators *const *others,
                                          int n);

#endif
