/* Random problems on a GPU: making samples by the functions that the host uses, with a thread for each; and a peer that
 * adds each sample in memory. */
#include <stdlib.h>
#include <string.h>

#include "bench/reference/reference_cuda.h"

extern "C" {
#include "bench/random/random_check.h"
#include "bench/random/random_device.h"
}

static histo_status allocate(size_t bytes, const void **placed)
{
    void *memory = NULL;
    TRY(cudaMalloc(&memory, bytes), "memory for the samples: ask for fewer");
    *placed = memory;
    return HISTO_OK;
}

/* ---- Samples ---- */

static __global__ void make_kernel(const __grid_constant__ sample_making m)
{
    const int64_t stride = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < m.sampler.count; i += stride)
        making_store(&m, i);
}

static histo_status make(const sample_making *m)
{
    sample_making there = *m;
    static const char what[] = "memory for tables of a random problem";
    void *edges = NULL, *ranks = NULL;
    histo_status status =
        bench_cuda_copy(m->sampler.edges, (size_t)m->sampler.edge_count * sizeof(double), what, &edges);
    if (status == HISTO_OK) status = bench_cuda_copy(m->sampler.ranks, SAMPLER_RANKS * sizeof(double), what, &ranks);
    if (status == HISTO_OK) {
        there.sampler.edges = (const double *)edges;
        there.sampler.ranks = (const double *)ranks;
        make_kernel<<<bench_cuda_blocks(), BENCH_CUDA_THREADS>>>(there);
        status = bench_cuda_check(cudaDeviceSynchronize(), "making the samples");
    }
    cudaFree(edges);
    cudaFree(ranks);
    return status;
}

/* ---- A peer: atomic additions that follow the strides ---- */

/* Counts in 32 bits, and sums, of the bins alone. */
typedef struct additions {
    reference_rule rule;
    unsigned bins[HISTO_MAX_AXES];
    double scale[HISTO_MAX_AXES]; /* of equal bins; 0: search the edges */
    int64_t all;                  /* bins of a histogram */
    unsigned *counts;
    double *sums, *squares; /* NULL without */
} additions;

typedef struct atomics {
    additions additions;
    reference_placed placed;
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
static __device__ int64_t find_bin(const additions *p, int a, double x)
{
    const reference_finder *f = &p->rule.finder[a];
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
static __global__ void add_each(const __grid_constant__ additions p)
{
    const reference_rule *rule = &p.rule;
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
        counter += p.all * (rule->offsets ? reference_batch_of(rule, i) : rule->view[0].batch_ndim ? at[0] : 0);
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
    atomics *adding = (atomics *)state;
    cudaFree(adding->additions.counts);
    cudaFree(adding->additions.sums);
    cudaFree(adding->additions.squares);
    reference_release(&adding->placed);
    free(adding);
}

/* Counters of all histograms. */
static size_t counters_of(const additions *p)
{
    return (size_t)(p->all * p->rule.batch);
}

static histo_status prepare(const problem_data *data, atomics *adding)
{
    const random_problem *problem = data->problem;
    const bool squares = problem->weighting == HISTO_WEIGHT_FAST || problem->weighting == HISTO_WEIGHT_REPRODUCIBLE;
    additions *p = &adding->additions;
    p->rule = adding->placed.rule;
    p->all = 1;
    adding->type = problem->axis[0].type;
    for (int a = 0; a < problem->axes; a++) {
        const reference_finder *f = &p->rule.finder[a];
        p->bins[a] = (unsigned)f->bins;
        p->all *= f->bins;
        if (problem->axis[a].kind <= HISTO_REGULAR) p->scale[a] = (double)f->bins / (f->hi - f->lo);
        if (problem->axis[a].type != adding->type) adding->type = HISTO_DTYPE_COUNT;
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
    atomics *adding = (atomics *)calloc(1, sizeof *adding);
    if (!adding) return histo_fail_memory(sizeof *adding, "a peer");
    *state = adding;
    reference_rule rule;
    status = problem_rule_make(data, false, &rule);
    if (status == HISTO_OK) status = reference_place(&rule, &adding->placed);
    problem_rule_free(&rule);
    return status == HISTO_OK ? prepare(data, adding) : status;
}

static histo_status atomics_run(void *state, void *stream)
{
#define ENTRY(constant, name, storage, compute, widen) add_each<load_##name>,
    static void (*const kernels[])(additions) = {HISTO_DTYPES(ENTRY) add_each<load_any>};
#undef ENTRY
    const atomics *adding = (const atomics *)state;
    const additions *p = &adding->additions;
    cudaStream_t on = (cudaStream_t)stream;
    TRY(cudaMemsetAsync(p->counts, 0, counters_of(p) * sizeof *p->counts, on), "clearing counts");
    if (p->sums) TRY(cudaMemsetAsync(p->sums, 0, counters_of(p) * sizeof *p->sums, on), "clearing sums");
    if (p->squares) TRY(cudaMemsetAsync(p->squares, 0, counters_of(p) * sizeof *p->squares, on), "clearing sums");
    const int64_t needed = (p->rule.samples + BENCH_CUDA_THREADS - 1) / BENCH_CUDA_THREADS;
    const unsigned blocks = needed < bench_cuda_blocks() ? (unsigned)needed : bench_cuda_blocks();
    kernels[adding->type]<<<blocks, BENCH_CUDA_THREADS, 0, on>>>(*p);
    return bench_cuda_check(cudaGetLastError(), "launching atomics that follow the strides");
}

extern "C" const random_device bench_random_cuda = {allocate, make, atomics_begin, atomics_run, atomics_end};
