/* Reference counts on a GPU, by the functions that the host uses, with a thread for each sample. */
#include "bench/reference/reference_cuda.h"

static const char tables_of[] = "memory for the reference's tables";

/* As counts in host memory. */
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

/* What follows from the counts. */
typedef struct survey {
    unsigned long long bins, flow, under[HISTO_MAX_AXES], over[HISTO_MAX_AXES], nan[HISTO_MAX_AXES];
    unsigned long long occupied, sectors;
} survey;

static __device__ void survey_slot(const reference_rule *rule, int64_t slot, unsigned long long count, survey *all)
{
    reference_flow flow[HISTO_MAX_AXES];
    if (reference_flows(rule, slot % rule->slots, flow)) {
        atomicAdd(&all->bins, count);
        return;
    }
    atomicAdd(&all->flow, count);
    for (int a = 0; a < rule->axes; a++) {
        if (flow[a] == REFERENCE_UNDER) atomicAdd(&all->under[a], count);
        if (flow[a] == REFERENCE_OVER) atomicAdd(&all->over[a], count);
        if (flow[a] == REFERENCE_NAN) atomicAdd(&all->nan[a], count);
    }
}

/* A thread for each sector of 32 bytes. */
static __global__ void survey_kernel(const __grid_constant__ reference_rule rule, const unsigned long long *counts,
                                     survey *result)
{
    enum { SECTOR = 4, WORDS = sizeof(survey) / sizeof(unsigned long long) };
    __shared__ survey all;
    for (int word = threadIdx.x; word < WORDS; word += blockDim.x)
        ((unsigned long long *)&all)[word] = 0;
    __syncthreads();
    const int64_t slots = rule.slots * rule.batch, stride = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i * SECTOR < slots; i += stride) {
        unsigned long long occupied = 0;
        for (int64_t slot = i * SECTOR; slot < (i + 1) * SECTOR && slot < slots; slot++) {
            if (!counts[slot]) continue;
            occupied++;
            survey_slot(&rule, slot, counts[slot], &all);
        }
        if (!occupied) continue;
        atomicAdd(&all.occupied, occupied);
        atomicAdd(&all.sectors, 1ull);
    }
    __syncthreads();
    for (int word = threadIdx.x; word < WORDS; word += blockDim.x)
        atomicAdd(&((unsigned long long *)result)[word], ((unsigned long long *)&all)[word]);
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

static histo_status run_count(const reference_rule *rule, const counters *c, survey *there, reference_counts *counts)
{
    const size_t slots = (size_t)counts->slots;
    survey all;
    count_kernel<<<bench_cuda_blocks(), BENCH_CUDA_THREADS>>>(*rule, *c);
    survey_kernel<<<bench_cuda_blocks(), BENCH_CUDA_THREADS>>>(*rule, c->counts, there);
    histo_status status = fetch(counts->counts, c->counts, slots * sizeof *c->counts);
    if (status == HISTO_OK) status = fetch(counts->masked, c->masked, (size_t)rule->batch * sizeof *c->masked);
    if (status == HISTO_OK && c->sums) status = fetch(counts->sums, c->sums, slots * sizeof *counts->sums);
    if (status == HISTO_OK) status = fetch(&all, there, sizeof all);
    if (status != HISTO_OK) return status;
    histo_tally *tally = &counts->tally;
    tally->samples = (uint64_t)rule->samples;
    for (int64_t b = 0; b < rule->batch; b++)
        tally->masked += counts->masked[b];
    tally->bins = all.bins;
    tally->flow = all.flow;
    for (int a = 0; a < HISTO_MAX_AXES; a++) {
        tally->under[a] = all.under[a];
        tally->over[a] = all.over[a];
        tally->nan[a] = all.nan[a];
    }
    counts->occupied = (int64_t)all.occupied;
    counts->sectors = (int64_t)all.sectors;
    return HISTO_OK;
}

histo_status reference_count_cuda(const reference_rule *rule, reference_counts *counts)
{
    const size_t slots = (size_t)counts->slots;
    reference_placed placed;
    counters c = {};
    survey *there = NULL;
    histo_status status = reference_place(rule, &placed);
    if (status == HISTO_OK) status = zeros((void **)&c.counts, slots * sizeof *c.counts);
    if (status == HISTO_OK) status = zeros((void **)&c.masked, (size_t)rule->batch * sizeof *c.masked);
    if (status == HISTO_OK && counts->sums) status = zeros((void **)&c.sums, slots * sizeof *counts->sums);
    if (status == HISTO_OK) status = zeros((void **)&there, sizeof *there);
    if (status == HISTO_OK) status = run_count(&placed.rule, &c, there, counts);
    cudaFree(c.counts);
    cudaFree(c.masked);
    cudaFree(c.sums);
    cudaFree(there);
    reference_release(&placed);
    return status;
}
