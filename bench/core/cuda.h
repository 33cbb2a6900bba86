/* What the CUDA files of the benchmark share. */
#ifndef BENCH_CUDA_H
#define BENCH_CUDA_H

#include <cuda_runtime.h>

#include "bench/core/cuda_check.h"

extern "C" {
#include "bench/core/device.h"
#include "bench/peers/peer.h"
#include "view/dtype.h"
}

/* Copy to the device and wait until every stream sees it. */
static inline cudaError_t bench_cuda_upload(void *to, const void *from, size_t bytes)
{
    cudaError_t error = cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice);
    return error == cudaSuccess ? cudaDeviceSynchronize() : error;
}

/* A copy in device memory of an array of the host, to be freed also after a failure; NULL stays NULL. what: the message
 * if memory runs out. */
static inline histo_status bench_cuda_copy(const void *host, size_t bytes, const char *what, void **copy)
{
    *copy = NULL;
    if (!host) return HISTO_OK;
    TRY(cudaMalloc(copy, bytes), what);
    return bench_cuda_check(bench_cuda_upload(*copy, host, bytes), "copying to the GPU");
}

/* Enough blocks of BENCH_CUDA_THREADS to fill the GPU. */
enum { BENCH_CUDA_THREADS = 256 };
unsigned bench_cuda_blocks(void);

extern "C" const bench_peer bench_global_atomics, bench_cub_histogram, bench_cub_runs, bench_cub_sort, bench_npp;
extern "C" const struct random_device bench_random_cuda;

#endif
