/* Pairs of a slot and its count, in place of counters. */
#ifndef CUDA_MEMORY_SPARSE_H
#define CUDA_MEMORY_SPARSE_H

#include "cuda/host/check.h"
#include "plan/accumulators.h"

/* The pairs of a sparse histogram on the device: n pairs of slot and count in the first arrays; the second arrays are
 * for sorting. Samples left out use slots after all others, as in histo_accumulators_add. */
typedef struct histo_cuda_sparse {
    int64_t n, capacity;
    unsigned long long *slots[2], *counts[2]; /* [capacity] */
    void *memory;                             /* the workspace of CUB */
    size_t bytes;
} histo_cuda_sparse;

typedef struct histo_cuda_accumulators histo_cuda_accumulators;

/* Add the pairs to the host's and clear them; on failure they stay. Waits for the stream. */
histo_status histo_cuda_sparse_gather(histo_cuda_accumulators *accumulators, const histo_accumulators *to,
                                      cudaStream_t stream);

/* Make room for n more pairs, in a list of at most `most` pairs if these fit into that; what does not fit goes to the
 * host's. */
histo_status histo_cuda_sparse_reserve(histo_cuda_accumulators *accumulators, const histo_accumulators *home, int64_t n,
                                       int64_t most, cudaStream_t stream);
/* How many bits the largest slot of a batch has, the batch entry included. */
int histo_cuda_sparse_bits(int64_t batch, int64_t slots);
/* Bring a number from the device. Waits for the stream. */
histo_status histo_cuda_read_number(const unsigned long long *there, cudaStream_t stream, int64_t *number);
void histo_cuda_sparse_free(histo_cuda_sparse *sparse);

#endif
