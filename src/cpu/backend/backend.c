/* The CPU backend. */
#define _DEFAULT_SOURCE
#include "cpu/backend/backend.h"

#include <pthread.h>
#include <stdio.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/system.h"
#include "base/threads/cpus.h"
#include "base/threads/pool.h"
#include "base/threads/threads.h"
#include "cpu/backend/features.h"
#include "plan/accumulators.h"

static const char *unavailable(void)
{
    return NULL;
}

static char word[160];

/* A single word for CPU model and instruction set: "AMD-EPYC-9654/avx512". */
static void make_word(void)
{
    char line[256], model[128] = "cpu";
    FILE *info = histo_open_to_read("/proc/cpuinfo");
    while (info && fgets(line, sizeof line, info))
        if (sscanf(line, "model name : %127[^\n]", model) == 1) break;
    if (info) fclose(info);
    for (char *c = model; *c; c++)
        if ((unsigned char)*c <= ' ') *c = '-';
    snprintf(word, sizeof word, "%.100s/%s", model, histo_isa_name(histo_isa_usable()));
}

static const char *device_name(histo_device device)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)device;
    pthread_once(&once, make_word);
    return word;
}

static void describe(histo_text *text)
{
    histo_text_add(text, "cpu: %d of its CPUs usable, %d thread%s by default, instructions: %s\n", histo_cpus_usable(),
                   histo_threads(), histo_threads() == 1 ? "" : "s", histo_isa_name(histo_isa_usable()));
}

static void unprepare(void *at)
{
    histo_cpu_prepared *prepared = at;
    for (int a = 0; a < HISTO_MAX_AXES; a++)
        histo_spans_free(&prepared->spans[a]);
    histo_free(prepared);
}

/* Make spans for the axes that need them; *out is NULL if none does. */
static histo_status prepare(const histo_problem *problem, void **out)
{
    histo_cpu_prepared *prepared = NULL;
    histo_status status = HISTO_OK;
    for (int a = 0; a < problem->naxes && status == HISTO_OK; a++) {
        const histo_lookup *lookup = &problem->lookups[a];
        if (lookup->kind == HISTO_UNIFORM || lookup->table) continue;
        if (!prepared) prepared = histo_calloc(1, sizeof *prepared);
        status = prepared ? histo_spans_make(&prepared->spans[a], lookup, problem->off[a], problem->samples)
                          : histo_fail_memory(sizeof *prepared, "the spans of axes");
    }
    if (status == HISTO_OK)
        *out = prepared;
    else if (prepared)
        unprepare(prepared);
    return status;
}

typedef struct ranges {
    const histo_job *job;
    int threads;
    void (*count)(const histo_job *job, int index, int threads);
} ranges;

static void count_range(void *context, int index)
{
    const ranges *all = context;
    all->count(all->job, index, all->threads);
}

histo_status histo_run_ranges(const histo_job *job, int threads,
                              void (*count)(const histo_job *job, int index, int threads))
{
    return histo_pool_run_long("counting", threads, count_range, &(ranges){job, threads, count});
}

void *histo_cpu_allocate(size_t bytes)
{
    const size_t huge = (size_t)2 << 20;
    if (bytes < 2 * huge) return histo_malloc_aligned(64, bytes);
    bytes = (bytes + huge - 1) / huge * huge;
    void *memory = histo_malloc_aligned(huge, bytes);
    if (memory) histo_advise_huge_pages(memory, bytes);
    return memory;
}

/* List the nonzero counters in order, followed by the masked samples, in the form that histo_accumulators_add takes. */
static histo_status list_of(const histo_accumulators *counters, histo_list *list)
{
    const int64_t slots = counters->batch * counters->slots;
    int64_t most = counters->batch;
    for (int64_t i = 0; i < slots; i++)
        most += counters->counts[i] != 0;
    *list = (histo_list){0, histo_malloc((size_t)most * sizeof(histo_entry))};
    if (!list->entries)
        return histo_fail_memory((size_t)most * sizeof(histo_entry), "the occupied slots of a sparse histogram");
    for (int64_t i = 0; i < slots; i++)
        if (counters->counts[i]) list->entries[list->n++] = (histo_entry){(uint64_t)i, counters->counts[i]};
    for (int64_t b = 0; b < counters->batch; b++)
        if (counters->masked[b]) list->entries[list->n++] = (histo_entry){(uint64_t)(slots + b), counters->masked[b]};
    return HISTO_OK;
}

static void add_lists(const histo_sparse *lists, uint64_t *counts)
{
    for (int l = 0; l < lists->lists; l++)
        for (int64_t i = 0; i < lists->list[l].n; i++)
            counts[lists->list[l].entries[i].slot] += lists->list[l].entries[i].count;
}

/* Fill a sparse histogram with a strategy that uses dense counters, which exist for this fill only. The old counts are
 * added to them, so that the result is one list without duplicates. */
static histo_status launch_for_list(const histo_strategy *strategy, const histo_job *job)
{
    const histo_problem *p = job->problem;
    histo_accumulators counters;
    histo_status status = histo_accumulators_make(
        &counters, p->slots,
        &(histo_hist_options){.batch = p->batch, .weighting = p->weighting, .storage = HISTO_DENSE});
    if (status != HISTO_OK) return status;
    histo_job counted = *job;
    histo_list list = {0};
    counted.accumulators = &counters;
    status = strategy->launch(&counted);
    if (status == HISTO_OK) add_lists(job->accumulators->sparse, counters.counts);
    if (status == HISTO_OK) status = list_of(&counters, &list);
    if (status == HISTO_OK) {
        histo_sparse_clear(job->accumulators->sparse);
        status = histo_accumulators_add(job->accumulators, list); /* the lists are empty: cannot fail */
    }
    histo_accumulators_free(&counters);
    return status;
}

/* The workspace is kept from the first piece of a fill to the last, so that no later piece can run out of memory. */
static histo_status run(const histo_strategy *strategy, histo_job *job)
{
    size_t bytes = histo_strategy_workspace(strategy, job->problem, job->threads, job->params);
    bytes = (bytes + 63) / 64 * 64;
    if (bytes && !job->workspace) {
        job->workspace = histo_cpu_allocate(bytes);
        if (!job->workspace) return histo_fail_memory(bytes, "the workspace of a fill");
    }
    bool lists = job->problem->storage == HISTO_SPARSE && !strategy->sparse;
    histo_status status = lists ? launch_for_list(strategy, job) : strategy->launch(job);
    if (status != HISTO_OK || job->end == histo_strided_iter_samples(&job->iter)) {
        histo_free(job->workspace);
        job->workspace = NULL;
    }
    return status;
}

const histo_backend histo_backend_cpu = {.name = "cpu",
                                         .unavailable = unavailable,
                                         .threads = histo_threads_for,
                                         .device_name = device_name,
                                         .describe = describe,
                                         .run = run,
                                         .prepare = prepare,
                                         .unprepare = unprepare};
