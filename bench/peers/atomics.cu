/* A peer on a GPU: additions in memory, one for each sample, as one would write them without a library. They follow
 * strides, masks and filters, so random problems are counted, too. */
#include <stdlib.h>
#include <string.h>

#include "bench/core/cuda.h"

/* Counts in 32 bits, and sums, of the bins alone. */
typedef struct additions {
    reference_rule rule;
    unsigned bins[HISTO_MAX_AXES];
    double scale[HISTO_MAX_AXES]; /* of equal bins; 0: search the edges */
    int64_t all;                  /* bins of a histogram */
    unsigned *counts;             /* NULL: samples are not counted */
    double *sums, *squares;       /* NULL: weights, or their squares, are not summed */
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
        if (p.counts) atomicAdd(&p.counts[counter], 1u);
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

static histo_status check(const reference_rule *rule)
{
    if (rule->samples > INT64_C(1) << 31) return histo_fail(HISTO_UNSUPPORTED, "it counts in 32 bits");
    for (int a = 0; a < rule->axes; a++)
        if (!is_aligned(&rule->view[a])) return histo_fail(HISTO_UNSUPPORTED, "it reads aligned samples");
    return HISTO_OK;
}

void bench_atomics_end(void *state)
{
    atomics *adding = (atomics *)state;
    cudaFree(adding->additions.counts);
    cudaFree(adding->additions.sums);
    cudaFree(adding->additions.squares);
    reference_release(&adding->placed);
    free(adding);
}

/* How many counters all histograms have. */
static size_t counters_of(const additions *p)
{
    return (size_t)(p->all * p->rule.batch);
}

histo_status bench_atomics_begin(const reference_rule *rule, const histo_axis *axes, void **state)
{
    histo_status status = check(rule);
    *state = NULL;
    if (status != HISTO_OK) return status;
    atomics *adding = (atomics *)calloc(1, sizeof *adding);
    if (!adding) return histo_fail_memory(sizeof *adding, "a peer");
    *state = adding;
    status = reference_place(rule, &adding->placed);
    if (status != HISTO_OK) return status;
    additions *p = &adding->additions;
    p->rule = adding->placed.rule;
    p->all = 1;
    adding->type = rule->view[0].dtype;
    for (int a = 0; a < rule->axes; a++) {
        const reference_finder *f = &p->rule.finder[a];
        p->bins[a] = (unsigned)f->bins;
        p->all *= f->bins;
        if (axes[a].kind <= HISTO_REGULAR) p->scale[a] = (double)f->bins / (f->hi - f->lo);
        if (rule->view[a].dtype != adding->type) adding->type = HISTO_DTYPE_COUNT;
    }
    TRY(cudaMalloc(&p->counts, counters_of(p) * sizeof *p->counts), "counts of a peer");
    if (rule->weighting) TRY(cudaMalloc(&p->sums, counters_of(p) * sizeof *p->sums), "sums of a peer");
    if (reference_sums_squares(rule->weighting))
        TRY(cudaMalloc(&p->squares, counters_of(p) * sizeof *p->squares), "sums of a peer");
    return HISTO_OK;
}

histo_status bench_atomics_run(void *state, void *stream)
{
#define ENTRY(constant, name, storage, compute, widen) add_each<load_##name>,
    static void (*const kernels[])(additions) = {HISTO_DTYPES(ENTRY) add_each<load_any>};
#undef ENTRY
    const atomics *adding = (const atomics *)state;
    const additions *p = &adding->additions;
    cudaStream_t on = (cudaStream_t)stream;
    if (p->counts) TRY(cudaMemsetAsync(p->counts, 0, counters_of(p) * sizeof *p->counts, on), "clearing counts");
    if (p->sums) TRY(cudaMemsetAsync(p->sums, 0, counters_of(p) * sizeof *p->sums, on), "clearing sums");
    if (p->squares) TRY(cudaMemsetAsync(p->squares, 0, counters_of(p) * sizeof *p->squares, on), "clearing sums");
    const int64_t needed = (p->rule.samples + BENCH_CUDA_THREADS - 1) / BENCH_CUDA_THREADS;
    const unsigned blocks = needed < bench_cuda_blocks() ? (unsigned)needed : bench_cuda_blocks();
    kernels[adding->type]<<<blocks, BENCH_CUDA_THREADS, 0, on>>>(*p);
    return bench_cuda_check(cudaGetLastError(), "launching atomics that follow the strides");
}

/* ---- In a race ---- */

/* Weights are summed, and no squares, which is what one would write. */
static histo_status begin(const bench_task *task, void **state)
{
    const bench_input *input = task->input;
    reference_rule rule = {.axes = bench_input_axes(input), .samples = task->count, .batch = 1};
    rule.weights = histo_view_1d(task->weights, input->weights, task->count);
    if (input->weighting) rule.weighting = HISTO_WEIGHT_FAST_SUM;
    for (int a = 0; a < rule.axes; a++) {
        const histo_axis *axis = &task->axis[a];
        const bool equal = axis->kind <= HISTO_REGULAR;
        rule.view[a] = input->axes ? task->views[a] : histo_view_1d(task->samples, input->dtype, task->count);
        rule.finder[a] = {.edges = equal ? NULL : task->edges, .bins = axis->bins};
        rule.finder[a].lo = equal ? axis->lo : task->edges[0];
        rule.finder[a].hi = equal ? axis->hi : task->edges[axis->bins];
    }
    histo_status status = bench_atomics_begin(&rule, task->axis, state);
    if (status != HISTO_OK || !rule.weighting) return status;
    additions *p = &((atomics *)*state)->additions;
    cudaFree(p->counts);
    p->counts = NULL;
    return HISTO_OK;
}

static histo_status sums_or_counts(void *state, uint64_t *result)
{
    const additions *p = &((const atomics *)state)->additions;
    const size_t bins = counters_of(p);
    if (!p->sums) return bench_cuda_fetch_counts(p->counts, bins, result);
    TRY(cudaMemcpy(result, p->sums, bins * sizeof *p->sums, cudaMemcpyDeviceToHost), "sums of a peer");
    for (size_t i = 0; i < bins; i++) {
        double sum;
        memcpy(&sum, &result[i], sizeof sum);
        result[i] = (uint64_t)(sum / BENCH_WEIGHT_UNIT);
    }
    return HISTO_OK;
}

extern "C" const bench_peer bench_global_atomics = {
    "global atomics", true, begin, bench_atomics_run, sums_or_counts, bench_atomics_end, false, false, true};
