/* Reading accumulators. */
#ifndef CUDA_MEMORY_READ_H
#define CUDA_MEMORY_READ_H

#include "cuda/memory/accumulators.h"

/* Enqueue a read into memory of the device. The stride of the batch is that of counters. */
histo_status histo_cuda_read_there(const histo_cuda_accumulators *from, const histo_reading *reading,
                                   cudaStream_t stream);
/* … of running sums (read_cumulative.cu). */
histo_status histo_cuda_read_cumulative(const histo_cuda_accumulators *from, const histo_reading *reading,
                                        cudaStream_t stream);
/* Read into host memory, not cumulatively, and wait. */
histo_status histo_cuda_read_here(const histo_cuda_accumulators *from, const histo_reading *reading,
                                  cudaStream_t stream);
/* What is done with elements that come to the host piece by piece. */
typedef struct histo_cuda_taker {
    /* Called by the calling thread: `before` a piece is taken, while no thread takes anything, and `after` that.
     * `after` may enqueue work on the stream, behind the copy of the piece. NULL: there is nothing to do. */
    histo_status (*before)(void *context, int64_t first, int64_t n, const void *elements);
    /* Called by several threads, for parts of a piece. */
    void (*take)(void *context, int64_t first, int64_t n, const void *elements);
    histo_status (*after)(void *context, int64_t first, int64_t n);
    void *context;
} histo_cuda_taker;

/* Bring n elements of an array of the accumulators to the host, and wait until they are there. */
histo_status histo_cuda_bring(const histo_cuda_accumulators *from, const void *array, size_t size, int64_t n,
                              cudaStream_t stream, const histo_cuda_taker *taker);
/* The words that cumulative reads need after so many counters. */
size_t histo_cuda_scan_words(int64_t counters);

#endif
