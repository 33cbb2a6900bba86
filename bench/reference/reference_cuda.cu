/* Reference counts on a GPU, by the functions that the host uses, with a thread for each sample. */
#include "bench/core/cuda.h"

static const char tables_of[] = "memory for the reference's tables";

/* Counters in device memory, arranged as those of reference_counts. */
typedef struct counters {
    unsigned long long *counts, *masked;
    uint64_t *sums; /* reference_sum is SUM_WORDS of them; NULL without weights */
} counters;
enum { SUM_WORDS = sizeof(reference_sum) / sizeof(uint64_t), SUM_SQUARES = 2, SUM_SIZE = 4 };

static __device__ void add_fixed(uint64_t *sum, reference_fixed x)
{
    unsigned long long low = x.low;
    unsigned long long old = atomicAdd((unsigned long long *)&sum[0], low);
    atomicAdd((unsigned long long *)&sum[1], (unsigned long long)(x.high + (old + low < old)));
}

static __device__ reference_fixed sum_of_warp(reference_fixed x)
{
    for (int lane = 16; lane; lane /= 2) {
        uint64_t low = __shfl_xor_sync(~0u, (unsigned long long)x.low, lane);
        x.high += __shfl_xor_sync(~0u, (unsigned long long)x.high, lane);
        x.low += low;
        x.high += x.low < low;
    }
    return x;
}

/* together: all 32 lanes add to the same sum. */
static __device__ void add_weight(uint64_t *sum, double w, bool together)
{
    reference_fixed first = reference_fix(w, REFERENCE_WEIGHT_BITS),
                    square = reference_fix(w * w, REFERENCE_SQUARE_BITS);
    double size = fabs(w);
    if (together) {
        first = sum_of_warp(first);
        square = sum_of_warp(square);
        for (int lane = 16; lane; lane /= 2)
            size += __shfl_xor_sync(~0u, size, lane);
        if (threadIdx.x % 32) return;
    }
    add_fixed(sum, first);
    add_fixed(sum + SUM_SQUARES, square);
    atomicAdd((double *)(sum + SUM_SIZE), size);
}

/* One addition for all lanes of a warp with the same slot. */
static __global__ void count_kernel(const __grid_constant__ reference_rule rule, const counters c)
{
    const int64_t stride = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i - threadIdx.x % 32 < rule.samples; i += stride) {
        unsigned lanes = __ballot_sync(~0u, i < rule.samples);
        if (i >= rule.samples) continue;
        const reference_row row = reference_row_at(&rule, i);
        const long long place = reference_place_of(&rule, &row, i);
        unsigned equal = __match_any_sync(lanes, place);
        if (threadIdx.x % 32 == __ffs(equal) - 1)
            atomicAdd(place < 0 ? &c.masked[-1 - place] : &c.counts[place], (unsigned long long)__popc(equal));
        if (place >= 0 && c.sums)
            add_weight(c.sums + place * SUM_WORDS, reference_value(rule.weights.dtype, row.weights), equal == ~0u);
    }
}

histo_status reference_place(const reference_rule *rule, reference_placed *placed)
{
    histo_status status = HISTO_OK;
    *placed = {};
    placed->rule = *rule;
    for (int a = 0; a < rule->axes && status == HISTO_OK; a++) {
        reference_finder *f = &placed->rule.finder[a];
        void **edges = &placed->tables[2 * a], **below = edges + 1;
        status = bench_cuda_copy(f->edges, (size_t)(f->bins + 1) * sizeof *f->edges, tables_of, edges);
        if (status == HISTO_OK)
            status = bench_cuda_copy(f->below, (size_t)(f->cells + 1) * sizeof *f->below, tables_of, below);
        f->edges = (const double *)*edges;
        f->below = (const uint32_t *)*below;
    }
    return status;
}

void reference_release(reference_placed *placed)
{
    for (void *table : placed->tables)
        cudaFree(table);
}

static histo_status zeros(void **memory, size_t bytes)
{
    TRY(cudaMalloc(memory, bytes), "counting for reference");
    return bench_cuda_check(cudaMemset(*memory, 0, bytes), "clearing counts");
}

static histo_status fetch(void *host, const void *device, size_t bytes)
{
    return bench_cuda_check(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost), "counting for reference");
}

histo_status reference_count_cuda(const reference_rule *rule, reference_counts *counts)
{
    const size_t bytes = (size_t)counts->slots * sizeof *counts->counts;
    const size_t masked = (size_t)rule->batch * sizeof *counts->masked;
    const size_t sums = (size_t)counts->slots * sizeof *counts->sums;
    reference_placed placed;
    counters c = {};
    histo_status status = reference_place(rule, &placed);
    if (status == HISTO_OK) status = zeros((void **)&c.counts, bytes);
    if (status == HISTO_OK) status = zeros((void **)&c.masked, masked);
    if (status == HISTO_OK && counts->sums) status = zeros((void **)&c.sums, sums);
    if (status == HISTO_OK) count_kernel<<<bench_cuda_blocks(), BENCH_CUDA_THREADS>>>(placed.rule, c);
    if (status == HISTO_OK) status = fetch(counts->counts, c.counts, bytes);
    if (status == HISTO_OK) status = fetch(counts->masked, c.masked, masked);
    if (status == HISTO_OK && counts->sums) status = fetch(counts->sums, c.sums, sums);
    cudaFree(c.counts);
    cudaFree(c.masked);
    cudaFree(c.sums);
    reference_release(&placed);
    return status;
}
