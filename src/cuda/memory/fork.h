/* Work on several streams in place of one. */
#ifndef CUDA_MEMORY_FORK_H
#define CUDA_MEMORY_FORK_H

#include "cuda/memory/accumulators.h"

/* Between these two, work may be enqueued on streams[0 … branches - 1]; streams[0] is `stream`. Every successful begin
 * needs an end, even after a failure. */
histo_status histo_cuda_fork_begin(histo_cuda_accumulators *accumulators, cudaStream_t stream, int branches,
                                   cudaStream_t *streams);
histo_status histo_cuda_fork_end(histo_cuda_accumulators *accumulators, cudaStream_t stream, int branches);
/* alive: its context still exists. */
void histo_cuda_fork_free(histo_cuda_fork *fork, bool alive);

#endif
