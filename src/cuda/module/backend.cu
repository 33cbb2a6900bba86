/* The CUDA backend. */
#include <string.h>

#include "base/memory.h"
#include "cuda/host/check.h"
#include "cuda/host/device.h"
#include "cuda/jit/records.h"
#include "cuda/jit/specialised.h"
#include "cuda/launch/prepared.h"
#include "cuda/launch/work_of_job.h"
#include "cuda/maps/cuda_map.h"
#include "cuda/memory/accumulators.h"
#include "cuda/memory/allocate.h"
#include "cuda/memory/merge.h"
#include "cuda/memory/read.h"
#include "cuda/memory/stream_order.h"
#include "cuda/nodes/nodes.h"
#include "cuda/scan/extremes.h"
#include "cuda/scan/probe.h"
#include "cuda/transfer/several_gpus.h"
#include "cuda/transfer/staged.h"
#include "plan/accumulators.h"

/* The number of threads of a kernel is not a plan's choice. */
static int threads(int wanted)
{
    (void)wanted;
    return 1;
}

static const char *device_name(histo_device device)
{
    return histo_cuda_device_of(device)->word;
}

/* Where GPUs reach each other's memory, merging what they have counted is fast. */
static void describe_reach(histo_text *text)
{
    const int n = histo_cuda_devices();
    int reached = 0;
    for (int to = 0; to < n; to++)
        for (int from = 0; from < n; from++)
            reached += to != from && histo_cuda_reaches(to, from);
    const bool all = reached == n * (n - 1);
    histo_text_add(text, "cuda: %s of the GPUs reach each other's memory%s\n",
                   all       ? "all"
                   : reached ? "some"
                             : "none",
                   all ? "" : "; what the others have counted is merged through host memory");
}

static void describe(histo_text *text)
{
    for (int d = 0; d < histo_cuda_devices(); d++) {
        const histo_cuda_device *it = histo_cuda_device_of(HISTO_DEVICE_CUDA(d));
        histo_text_add(text, "cuda:%d: %s, compute capability %d.%d, %d multiprocessors, %.0f GiB\n", d, it->name,
                       it->major, it->minor, it->multiprocessors, (double)it->memory / (1 << 30));
    }
    if (histo_cuda_devices() > 1) describe_reach(text);
}

static bool capturing(void *stream)
{
    return histo_cuda_is_captured((cudaStream_t)stream);
}

/* ---- Plans ---- */

static size_t edges_bytes(const histo_lookup *lookup)
{
    if (lookup->kind == HISTO_SEARCH_WHOLE)
        return sizeof *lookup->thresholds + (size_t)lookup->thresholds->n * sizeof *lookup->thresholds->at;
    return lookup->edges ? ((size_t)lookup->bins + 1) * sizeof(double) : 0;
}

static size_t table_bytes(const histo_lookup *lookup, histo_dtype dtype)
{
    return lookup->table ? sizeof(uint32_t) << (8 * histo_dtype_size(dtype)) : 0;
}

static size_t cells_bytes(const histo_lookup *lookup)
{
    return lookup->cells.entry ? lookup->cells.words * sizeof(uint32_t) : 0;
}

/* Copy `bytes` bytes to the device, if any, and advance `at`. Waits for the copy: cudaMemcpy from pageable memory may
 * return early, and a fill's stream need not wait for the stream that it uses. */
static histo_status upload(char **at, const void *from, size_t bytes, const void **there)
{
    *there = NULL;
    if (!bytes) return HISTO_OK;
    *there = *at;
    *at += bytes;
    histo_status status = HISTO_CUDA(
        cudaMemcpyAsync((void *)*there, from, bytes, cudaMemcpyHostToDevice, cudaStreamPerThread), "copying edges");
    return status == HISTO_OK ? HISTO_CUDA(cudaStreamSynchronize(cudaStreamPerThread), "copying edges") : status;
}

/* Thresholds, and behind them their keys. */
static histo_status upload_thresholds(char **at, const histo_edge_keys *from, const void **there)
{
    const histo_edge_keys its = {(const uint64_t *)(*at + sizeof its), from->n};
    const void *keys;
    histo_status status = upload(at, &its, sizeof its, there);
    return status == HISTO_OK ? upload(at, from->at, (size_t)its.n * sizeof *its.at, &keys) : status;
}

static void unprepare(void *memory)
{
    histo_cuda_prepared *prepared = (histo_cuda_prepared *)memory;
    histo_cuda_release(prepared->memory); /* waits for kernels that read it */
    histo_cuda_specialised_free(prepared);
    histo_free(prepared);
}

static histo_status prepare(const histo_problem *problem, void **out)
{
    histo_cuda_prepared *prepared = (histo_cuda_prepared *)histo_calloc(1, sizeof *prepared);
    if (!prepared) return histo_fail_memory(sizeof *prepared, "a plan");
    int before;
    histo_status status = histo_cuda_enter(problem->device, &before);
    if (status != HISTO_OK) {
        histo_free(prepared);
        return status;
    }
    size_t bytes = 0;
    for (int a = 0; a < problem->naxes; a++)
        bytes += edges_bytes(&problem->lookups[a]) + table_bytes(&problem->lookups[a], problem->sampled[a]) +
                 cells_bytes(&problem->lookups[a]);
    if (bytes) status = histo_cuda_allocate(&prepared->memory, bytes, "edges");
    prepared->context = histo_cuda_context();
    prepared->expects_compiled = histo_cuda_expects_compiled(problem);
    /* Edges first: they need 8-byte alignment. */
    char *at = (char *)prepared->memory;
    for (int a = 0; a < problem->naxes; a++) {
        const histo_lookup *l = &problem->lookups[a];
        prepared->lookups[a] = *l;
        const void **there = (const void **)&prepared->lookups[a].edges;
        if (status == HISTO_OK)
            status = l->kind == HISTO_SEARCH_WHOLE ? upload_thresholds(&at, l->thresholds, there)
                                                   : upload(&at, l->edges, edges_bytes(l), there);
    }
    for (int a = 0; a < problem->naxes && status == HISTO_OK; a++) {
        const histo_lookup *l = &problem->lookups[a];
        histo_lookup *there = &prepared->lookups[a];
        status = upload(&at, l->table, table_bytes(l, problem->sampled[a]), (const void **)&there->table);
        if (status == HISTO_OK)
            status = upload(&at, l->cells.entry, cells_bytes(l), (const void **)&there->cells.entry);
    }
    if (status == HISTO_OK)
        *out = prepared;
    else
        unprepare(prepared);
    histo_cuda_leave(before);
    return status;
}

/* ---- Fills ---- */

static bool is_direct(const histo_job *job, const void *memory)
{
    bool pinned;
    return histo_cuda_is_direct(memory, job->problem->device, &pinned);
}

/* Read what the fill has counted, unless its strategy has done so: the accumulators hold all counts. */
static histo_status read_at_once(const histo_job *job, const histo_cuda_accumulators *accumulators, cudaStream_t stream)
{
    if (!job->reading || job->reading->done) return HISTO_OK;
    histo_reading r = *job->reading;
    r.grid.stride[0] = accumulators->counters;
    const histo_status status = histo_cuda_read_there(accumulators, &r, stream);
    job->reading->done = status == HISTO_OK;
    return status;
}

/* Enqueue the counting. From here on, a failure leaves part of the samples counted. */
static histo_status count(const histo_strategy *strategy, histo_job *job, histo_cuda_accumulators *accumulators,
                          bool captured)
{
    bool direct[HISTO_MAX_OPERANDS], pinned[HISTO_MAX_OPERANDS], all_direct = true, none_direct = !job->resident;
    for (int o = 0; o < job->iter.operands && !job->resident; o++) {
        direct[o] = histo_cuda_reads(job, o, &pinned[o]);
        all_direct &= direct[o];
        none_direct &= !direct[o];
    }
    if (!all_direct && !job->problem->plain)
        return histo_fail(HISTO_UNSUPPORTED,
                          "records, swapped samples and masks of bits must be in the memory of GPU %d",
                          job->problem->device - HISTO_DEVICE_CUDA(0));
    if (!all_direct) job->reading = NULL; /* counted in parts */
    cudaStream_t stream = (cudaStream_t)job->stream;
    if (none_direct && !stream) stream = accumulators->stream;
    job->stream = stream;
    accumulators->dirty = true;
    histo_status status = histo_cuda_order_begin(&accumulators->order, stream, captured);
    if (status != HISTO_OK) return status;
    if (job->replace) histo_accumulators_clear_others(job->accumulators, &accumulators->base);
    if (job->replace && !(all_direct && strategy->replaces && strategy->replaces(job))) {
        job->replace = false;
        status = histo_cuda_accumulators_zero(accumulators, stream);
    }
    if (status == HISTO_OK)
        status = histo_cuda_accumulators_reserve(accumulators, (uint64_t)(job->end - job->begin), stream);
    if (status == HISTO_OK && job->iter.offsets && !is_direct(job, job->iter.offsets))
        status = histo_cuda_accumulators_offsets(accumulators, job, stream);
    if (status == HISTO_OK)
        status = all_direct                        ? strategy->launch(job)
                 : histo_is_computed(job->problem) ? histo_cuda_run_staged_pairs(strategy, job)
                                                   : histo_cuda_run_staged(strategy, job, direct, pinned);
    if (status == HISTO_OK) status = read_at_once(job, accumulators, stream);
    if (status == HISTO_OK) status = histo_cuda_order_end(&accumulators->order, stream);
    if (status != HISTO_OK) accumulators->broken = "a fill failed halfway";
    return status;
}

/* Reject what a graph cannot do, before anything has happened. */
static histo_status check_captured(const histo_job *job, size_t workspace)
{
    const histo_cuda_accumulators *accumulators = NULL;
    for (const histo_device_accumulators *it = job->accumulators->on_devices; it; it = it->next)
        if (it->backend == &histo_backend_cuda && it->device == job->problem->device)
            accumulators = (const histo_cuda_accumulators *)it;
    bool direct = !job->iter.offsets || is_direct(job, job->iter.offsets), pinned;
    for (int o = 0; o < job->iter.operands && !job->resident; o++)
        direct = direct && histo_cuda_reads(job, o, &pinned);
    if (!direct) return histo_fail(HISTO_UNSUPPORTED, "samples in host memory cannot be counted in a graph");
    if (job->problem->weighting == HISTO_WEIGHT_REPRODUCIBLE)
        return histo_fail(HISTO_UNSUPPORTED, "reproducible sums cannot be filled in a graph");
    if (job->problem->storage == HISTO_SPARSE)
        return histo_fail(HISTO_UNSUPPORTED, "sparse histograms cannot be filled in a graph");
    if (job->replace && !histo_accumulators_home(job->accumulators))
        return histo_fail(HISTO_UNSUPPORTED, "a graph can replace only what one GPU alone has counted");
    if (!accumulators || accumulators->workspace_bytes < workspace)
        return histo_fail(HISTO_UNSUPPORTED, "fill the histogram once before its fills are captured into a graph");
    return HISTO_OK;
}

static histo_status run(const histo_strategy *strategy, histo_job *job)
{
    int before;
    const histo_cuda_prepared *prepared = (const histo_cuda_prepared *)job->prepared;
    histo_status status = prepared && prepared->memory
                              ? histo_cuda_enter_context(job->problem->device, prepared->context, &before)
                              : histo_cuda_enter(job->problem->device, &before);
    if (status != HISTO_OK) return status;
    histo_cuda_accumulators *accumulators = NULL;
    size_t workspace = histo_strategy_workspace(strategy, job->problem, job->threads, job->params);
    const bool captured = histo_cuda_is_captured((cudaStream_t)job->stream);
    if (captured) status = check_captured(job, workspace);
    if (status == HISTO_OK && job->problem->records) status = histo_cuda_records_check(job);
    if (status == HISTO_OK) status = histo_cuda_accumulators_of(job, &accumulators);
    if (status == HISTO_OK) status = histo_cuda_accumulators_check(accumulators);
    if (status == HISTO_OK) status = histo_cuda_accumulators_workspace(accumulators, workspace);
    if (status == HISTO_OK) {
        job->device_accumulators = &accumulators->base;
        job->workspace = accumulators->workspace;
        status = count(strategy, job, accumulators, captured);
    }
    histo_cuda_leave(before);
    return status;
}

extern "C" const histo_backend histo_backend_cuda = {"cuda",
                                                     histo_cuda_unavailable,
                                                     threads,
                                                     device_name,
                                                     describe,
                                                     run,
                                                     histo_cuda_devices,
                                                     histo_cuda_locate,
                                                     prepare,
                                                     unprepare,
                                                     histo_cuda_accumulators_gather,
                                                     histo_cuda_accumulators_read,
                                                     histo_cuda_accumulators_join,
                                                     histo_cuda_accumulators_are_empty,
                                                     histo_cuda_run_shared,
                                                     histo_cuda_send,
                                                     capturing,
                                                     histo_cuda_accumulators_clear,
                                                     histo_cuda_accumulators_free,
                                                     histo_cuda_accumulators_wait,
                                                     histo_cuda_awake,
                                                     histo_cuda_pinned,
                                                     histo_cuda_speed,
                                                     histo_cuda_probe,
                                                     histo_cuda_extremes,
                                                     histo_cuda_specialised_explain,
                                                     &histo_cuda_maps,
                                                     &histo_cuda_nodes,
                                                     histo_cuda_sequence_begin,
                                                     histo_cuda_sequence_end};
