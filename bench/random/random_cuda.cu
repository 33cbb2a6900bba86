/* Random problems on a GPU: their samples, made by the functions that the host uses, with a thread for each. */
#include "bench/core/cuda.h"

extern "C" {
#include "bench/random/random_sample.h"
}

static __global__ void make_kernel(const __grid_constant__ sample_making m)
{
    const int64_t stride = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < m.sampler.count; i += stride)
        making_store(&m, i);
}

static histo_status make(const sample_making *m)
{
    sample_making on_gpu = *m;
    static const char what[] = "memory for tables of a random problem";
    void *edges = NULL, *ranks = NULL;
    histo_status status =
        bench_cuda_copy(m->sampler.edges, (size_t)m->sampler.edge_count * sizeof(double), what, &edges);
    if (status == HISTO_OK) status = bench_cuda_copy(m->sampler.ranks, SAMPLER_RANKS * sizeof(double), what, &ranks);
    if (status == HISTO_OK) {
        on_gpu.sampler.edges = (const double *)edges;
        on_gpu.sampler.ranks = (const double *)ranks;
        make_kernel<<<bench_cuda_blocks(), BENCH_CUDA_THREADS>>>(on_gpu);
        status = bench_cuda_check(cudaDeviceSynchronize(), "making the samples");
    }
    cudaFree(edges);
    cudaFree(ranks);
    return status;
}

extern "C" const random_device bench_random_cuda = {make, bench_atomics_begin, bench_atomics_run, bench_atomics_end};
