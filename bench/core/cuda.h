/* What the CUDA files of the benchmark share. */
#ifndef BENCH_CUDA_H
#define BENCH_CUDA_H

#include <cuda_runtime.h>

#include "bench/core/cuda_check.h"

extern "C" {
#include "bench/core/device.h"
#include "bench/peers/peer.h"
#include "bench/reference/reference.h"
#include "view/dtype.h"
}

/* Copy to the device, or from it, and wait until every stream sees it. */
static inline cudaError_t bench_cuda_move(void *to, const void *from, size_t bytes)
{
    cudaError_t error = cudaMemcpy(to, from, bytes, cudaMemcpyDefault);
    return error == cudaSuccess ? cudaDeviceSynchronize() : error;
}

/* A copy in device memory of an array of the host, to be freed also after a failure; NULL stays NULL. what: the message
 * if memory runs out. */
static inline histo_status bench_cuda_copy(const void *host, size_t bytes, const char *what, void **copy)
{
    *copy = NULL;
    if (!host) return HISTO_OK;
    TRY(cudaMalloc(copy, bytes), what);
    return bench_cuda_check(bench_cuda_move(*copy, host, bytes), "copying to the GPU");
}

/* Enough blocks of BENCH_CUDA_THREADS to fill the GPU. */
enum { BENCH_CUDA_THREADS = 256 };
unsigned bench_cuda_blocks(void);

/* The reference's rule with its tables in device memory. */
typedef struct reference_placed {
    reference_rule rule;
    void *tables[2 * HISTO_MAX_AXES];
} reference_placed;

/* Release it also after a failure. */
histo_status reference_place(const reference_rule *rule, reference_placed *placed);
void reference_release(reference_placed *placed);

/* The reference_device of a GPU. */
histo_status reference_count_cuda(const reference_rule *rule, reference_counts *counts);

/* The counts of a peer, which counts in 32 bits. */
histo_status bench_cuda_fetch_counts(const unsigned *counts, size_t bins, uint64_t *to);

/* The peer of a random_device. */
histo_status bench_atomics_begin(const reference_rule *rule, const histo_axis *axes, void **state);
histo_status bench_atomics_run(void *state, void *stream);
void bench_atomics_end(void *state);

extern "C" const bench_peer bench_global_atomics, bench_cub_histogram, bench_cub_runs, bench_cub_sort, bench_npp;
extern "C" const struct random_device bench_random_cuda;

#endif
