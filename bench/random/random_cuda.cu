/* Random problems on a GPU: making and counting samples by the functions that the host uses, with a thread for each
 * sample; and a peer of plain atomic additions. */
#include <stdlib.h>
#include <string.h>

#include "bench/core/cuda.h"

extern "C" {
#include "bench/random/random_device.h"
}

/* A copy in device memory of an array of the host; NULL stays NULL. */
typedef struct uploaded {
    void *memory;
} uploaded;

static histo_status upload(const void *host, size_t bytes, uploaded *copy)
{
    copy->memory = NULL;
    if (!host) return HISTO_OK;
    TRY(cudaMalloc(&copy->memory, bytes), "memory for tables of a random problem");
    return bench_cuda_check(bench_cuda_upload(copy->memory, host, bytes), "copying to the GPU");
}

static histo_status allocate(size_t bytes, const void **placed)
{
    void *memory = NULL;
    TRY(cudaMalloc(&memory, bytes), "memory for the samples: ask for fewer");
    *placed = memory;
    return HISTO_OK;
}

/* ---- Samples ---- */

static __global__ void make_kernel(const __grid_constant__ making m)
{
    const int64_t stride = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < m.sampler.count; i += stride)
        making_store(&m, i);
}

static histo_status make(const making *m)
{
    making there = *m;
    uploaded edges = {}, ranks = {};
    histo_status status = upload(m->sampler.edges, (size_t)m->sampler.edge_count * sizeof(double), &edges);
    if (status == HISTO_OK) status = upload(m->sampler.ranks, SAMPLER_RANKS * sizeof(double), &ranks);
    if (status == HISTO_OK) {
        there.sampler.edges = (const double *)edges.memory;
        there.sampler.ranks = (const double *)ranks.memory;
        make_kernel<<<bench_cuda_blocks(), BENCH_CUDA_THREADS>>>(there);
        status = bench_cuda_check(cudaDeviceSynchronize(), "making the samples");
    }
    cudaFree(edges.memory);
    cudaFree(ranks.memory);
    return status;
}

/* ---- Counts ---- */

/* As counts in host memory. */
typedef struct counters {
    unsigned long long *counts, *masked;
    uint64_t *sums; /* problem_sum is SUM_WORDS of them; NULL without weights */
} counters;
enum { SUM_WORDS = sizeof(problem_sum) / sizeof(uint64_t), SUM_SQUARES = 2, SUM_SIZE = 4 };

static __device__ void add_fixed(uint64_t *sum, problem_fixed x)
{
    unsigned long long low = x.low;
    unsigned long long old = atomicAdd((unsigned long long *)&sum[0], low);
    atomicAdd((unsigned long long *)&sum[1], (unsigned long long)(x.high + (old + low < old)));
}

static __device__ problem_fixed sum_of_warp(problem_fixed x)
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
    problem_fixed first = problem_fix(w, PROBLEM_WEIGHT_BITS), square = problem_fix(w * w, PROBLEM_SQUARE_BITS);
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
static __global__ void count_kernel(const __grid_constant__ problem_rule rule, const counters c)
{
    const int64_t stride = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i - threadIdx.x % 32 < rule.samples; i += stride) {
        unsigned lanes = __ballot_sync(~0u, i < rule.samples);
        if (i >= rule.samples) continue;
        const problem_row row = problem_row_at(&rule, i);
        const long long place = problem_place_of(&rule, &row, i);
        unsigned equal = __match_any_sync(lanes, place);
        if (threadIdx.x % 32 == __ffs(equal) - 1)
            atomicAdd(place < 0 ? &c.masked[-1 - place] : &c.counts[place], (unsigned long long)__popc(equal));
        if (place >= 0 && c.sums)
            add_weight(c.sums + place * SUM_WORDS, problem_value(rule.weights.dtype, row.weights), equal == ~0u);
    }
}

/* What follows from the counts. */
typedef struct survey {
    unsigned long long bins, flow, under[HISTO_MAX_AXES], over[HISTO_MAX_AXES], nan[HISTO_MAX_AXES];
    unsigned long long occupied, sectors;
} survey;

static __device__ void survey_slot(const problem_rule *rule, int64_t slot, unsigned long long count, survey *all)
{
    problem_flow flow[HISTO_MAX_AXES];
    if (problem_flows(rule, slot % rule->slots, flow)) {
        atomicAdd(&all->bins, count);
        return;
    }
    atomicAdd(&all->flow, count);
    for (int a = 0; a < rule->axes; a++) {
        if (flow[a] == PROBLEM_UNDER) atomicAdd(&all->under[a], count);
        if (flow[a] == PROBLEM_OVER) atomicAdd(&all->over[a], count);
        if (flow[a] == PROBLEM_NAN) atomicAdd(&all->nan[a], count);
    }
}

/* A thread for each sector of 32 bytes. */
static __global__ void survey_kernel(const __grid_constant__ problem_rule rule, const unsigned long long *counts,
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

/* The rule with its tables in device memory. */
typedef struct placed_rule {
    problem_rule rule;
    uploaded tables[2 * HISTO_MAX_AXES];
} placed_rule;

static histo_status place_rule(const problem_rule *rule, placed_rule *placed)
{
    histo_status status = HISTO_OK;
    *placed = {};
    placed->rule = *rule;
    for (int a = 0; a < rule->axes && status == HISTO_OK; a++) {
        problem_finder *f = &placed->rule.finder[a];
        uploaded *edges = &placed->tables[2 * a], *below = edges + 1;
        status = upload(f->edges, (size_t)(f->bins + 1) * sizeof *f->edges, edges);
        if (status == HISTO_OK) status = upload(f->below, (size_t)(f->cells + 1) * sizeof *f->below, below);
        f->edges = (const double *)edges->memory;
        f->below = (const uint32_t *)below->memory;
    }
    return status;
}

static void release_rule(placed_rule *placed)
{
    for (uploaded &table : placed->tables)
        cudaFree(table.memory);
}

static histo_status zeros(void **memory, size_t bytes)
{
    TRY(cudaMalloc(memory, bytes), "counting a random problem plainly");
    return bench_cuda_check(cudaMemset(*memory, 0, bytes), "clearing counts");
}

static histo_status fetch(void *host, const void *device, size_t bytes)
{
    return bench_cuda_check(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost),
                            "counting a random problem plainly");
}

static histo_status run_count(const problem_rule *rule, const counters *c, survey *there, problem_counts *counts)
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

static histo_status count(const problem_rule *rule, problem_counts *counts)
{
    const size_t slots = (size_t)counts->slots;
    placed_rule placed;
    counters c = {};
    survey *there = NULL;
    histo_status status = place_rule(rule, &placed);
    if (status == HISTO_OK) status = zeros((void **)&c.counts, slots * sizeof *c.counts);
    if (status == HISTO_OK) status = zeros((void **)&c.masked, (size_t)rule->batch * sizeof *c.masked);
    if (status == HISTO_OK && counts->sums) status = zeros((void **)&c.sums, slots * sizeof *counts->sums);
    if (status == HISTO_OK) status = zeros((void **)&there, sizeof *there);
    if (status == HISTO_OK) status = run_count(&placed.rule, &c, there, counts);
    cudaFree(c.counts);
    cudaFree(c.masked);
    cudaFree(c.sums);
    cudaFree(there);
    release_rule(&placed);
    return status;
}

/* ---- A peer: atomic additions that follow the strides ---- */

/* Counts in 32 bits, and sums, of the bins alone. */
typedef struct plain {
    problem_rule rule;
    unsigned bins[HISTO_MAX_AXES];
    double scale[HISTO_MAX_AXES]; /* of equal bins; 0: search the edges */
    int64_t all;                  /* bins of a histogram */
    unsigned *counts;
    double *sums, *squares; /* NULL without */
} plain;

typedef struct atomics {
    plain plain;
    placed_rule placed;
    histo_dtype type; /* of all axes; HISTO_DTYPE_COUNT: they differ */
} atomics;

#define LOAD(constant, name, storage, compute, widen)                                                                  \
    struct load_##name {                                                                                               \
        static __device__ double at(histo_dtype, const char *p) { return (double)widen(*(const storage *)p); }         \
    };
HISTO_DTYPES(LOAD)
#undef LOAD

struct load_any {
    static __device__ double at(histo_dtype type, const char *p)
    {
        switch (type) {
#define CASE(constant, name, storage, compute, widen)                                                                  \
    case constant:                                                                                                     \
        return load_##name::at(type, p);
            HISTO_DTYPES(CASE)
#undef CASE
        default:
            return 0;
        }
    }
};

/* Bytes from the first sample of a view. */
static __device__ int64_t reach(const histo_view *view, const unsigned *at)
{
    int64_t bytes = 0;
    for (int d = 0; d < view->ndim; d++)
        bytes += at[d] * view->strides[d];
    return bytes;
}

static __device__ double load_other(const histo_view *view, const unsigned *at)
{
    return load_any::at(view->dtype, (const char *)view->data + reach(view, at));
}

/* -1 outside. */
static __device__ int64_t find_bin(const plain *p, int a, double x)
{
    const problem_finder *f = &p->rule.finder[a];
    if (!(x >= f->lo && x < f->hi)) return -1;
    if (p->scale[a] > 0) {
        unsigned bin = (unsigned)((x - f->lo) * p->scale[a]);
        return bin < p->bins[a] ? bin : p->bins[a] - 1;
    }
    unsigned bin = 0;
    for (unsigned left = p->bins[a]; left > 1; left -= left / 2)
        if (x >= f->edges[bin + left / 2]) bin += left / 2;
    return bin;
}

template <typename load>
static __global__ void add_plainly(const __grid_constant__ plain p)
{
    const problem_rule *rule = &p.rule;
    const unsigned n = (unsigned)rule->samples, stride = gridDim.x * blockDim.x;
    const int ndim = rule->view[0].ndim;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        unsigned at[3], rest = i;
        for (int d = ndim - 1; d > 0; d--) {
            unsigned length = (unsigned)rule->view[0].shape[d];
            at[d] = rest % length;
            rest /= length;
        }
        at[0] = rest;
        if (rule->masked && load_other(&rule->mask, at) == 0) continue;
        if (rule->filtered) {
            double x = load_other(&rule->where, at);
            if (!(x >= rule->where_lo && x <= rule->where_hi)) continue;
        }
        int64_t counter = 0;
        for (int a = 0; a < rule->axes && counter >= 0; a++) {
            const histo_view *view = &rule->view[a];
            int64_t bin = find_bin(&p, a, load::at(view->dtype, (const char *)view->data + reach(view, at)));
            counter = bin < 0 ? -1 : counter * p.bins[a] + bin;
        }
        if (counter < 0) continue;
        counter += p.all * (rule->offsets ? problem_batch_of(rule, i) : rule->view[0].batch_ndim ? at[0] : 0);
        atomicAdd(&p.counts[counter], 1u);
        if (!p.sums) continue;
        double w = load_other(&rule->weights, at);
        atomicAdd(&p.sums[counter], w);
        if (p.squares) atomicAdd(&p.squares[counter], w * w);
    }
}

static bool is_aligned(const histo_view *view)
{
    const int64_t size = (int64_t)histo_dtype_size(view->dtype);
    bool aligned = (uintptr_t)view->data % size == 0;
    for (int d = 0; d < view->ndim; d++)
        aligned = aligned && view->strides[d] % size == 0;
    return aligned;
}

static histo_status check_atomics(const problem_data *data)
{
    const random_problem *p = data->problem;
    problem_fill fill;
    problem_fill_make(data, false, &fill);
    if (p->storage == HISTO_SPARSE || p->samples > INT64_C(1) << 31)
        return histo_fail(HISTO_UNSUPPORTED, "it needs memory for every slot, and counts in 32 bits");
    for (int a = 0; a < p->axes; a++)
        if (!is_aligned(&fill.samples[a])) return histo_fail(HISTO_UNSUPPORTED, "it reads aligned samples");
    return HISTO_OK;
}

static void atomics_end(void *state)
{
    atomics *it = (atomics *)state;
    cudaFree(it->plain.counts);
    cudaFree(it->plain.sums);
    cudaFree(it->plain.squares);
    release_rule(&it->placed);
    free(it);
}

/* Counters of all histograms. */
static size_t counters_of(const plain *p)
{
    return (size_t)(p->all * p->rule.batch);
}

static histo_status prepare_plain(const problem_data *data, atomics *it)
{
    const random_problem *problem = data->problem;
    const bool squares = problem->weighting == HISTO_WEIGHT_FAST || problem->weighting == HISTO_WEIGHT_REPRODUCIBLE;
    plain *p = &it->plain;
    p->rule = it->placed.rule;
    p->all = 1;
    it->type = problem->axis[0].type;
    for (int a = 0; a < problem->axes; a++) {
        const problem_finder *f = &p->rule.finder[a];
        p->bins[a] = (unsigned)f->bins;
        p->all *= f->bins;
        if (problem->axis[a].kind <= HISTO_REGULAR) p->scale[a] = (double)f->bins / (f->hi - f->lo);
        if (problem->axis[a].type != it->type) it->type = HISTO_DTYPE_COUNT;
    }
    TRY(cudaMalloc(&p->counts, counters_of(p) * sizeof *p->counts), "counts of a peer");
    if (problem->weighting) TRY(cudaMalloc(&p->sums, counters_of(p) * sizeof *p->sums), "sums of a peer");
    if (squares) TRY(cudaMalloc(&p->squares, counters_of(p) * sizeof *p->squares), "sums of a peer");
    return HISTO_OK;
}

static histo_status atomics_begin(const problem_data *data, void **state)
{
    *state = NULL;
    histo_status status = check_atomics(data);
    if (status != HISTO_OK) return status;
    atomics *it = (atomics *)calloc(1, sizeof *it);
    if (!it) return histo_fail_memory(sizeof *it, "a peer");
    *state = it;
    problem_rule rule;
    status = problem_rule_make(data, false, &rule);
    if (status == HISTO_OK) status = place_rule(&rule, &it->placed);
    problem_rule_free(&rule);
    return status == HISTO_OK ? prepare_plain(data, it) : status;
}

static histo_status atomics_run(void *state, void *stream)
{
#define ENTRY(constant, name, storage, compute, widen) add_plainly<load_##name>,
    static void (*const kernels[])(plain) = {HISTO_DTYPES(ENTRY) add_plainly<load_any>};
#undef ENTRY
    const atomics *it = (const atomics *)state;
    const plain *p = &it->plain;
    cudaStream_t on = (cudaStream_t)stream;
    TRY(cudaMemsetAsync(p->counts, 0, counters_of(p) * sizeof *p->counts, on), "clearing counts");
    if (p->sums) TRY(cudaMemsetAsync(p->sums, 0, counters_of(p) * sizeof *p->sums, on), "clearing sums");
    if (p->squares) TRY(cudaMemsetAsync(p->squares, 0, counters_of(p) * sizeof *p->squares, on), "clearing sums");
    const int64_t needed = (p->rule.samples + BENCH_CUDA_THREADS - 1) / BENCH_CUDA_THREADS;
    const unsigned blocks = needed < bench_cuda_blocks() ? (unsigned)needed : bench_cuda_blocks();
    kernels[it->type]<<<blocks, BENCH_CUDA_THREADS, 0, on>>>(*p);
    return bench_cuda_check(cudaGetLastError(), "launching atomics that follow the strides");
}

extern "C" const random_device bench_random_cuda = {allocate, make, count, atomics_begin, atomics_run, atomics_end};
