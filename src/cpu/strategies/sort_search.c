/* sort_search: sorts a chunk of samples, then searches for the end of each bin's samples; the distance is the count.
 *
 * Source: Milic et al. 2013, III.C, with one change: instead of searching for every edge, the search goes from one
 * occupied slot to the next, so empty bins cost nothing.
 * Bytes: each sample once, and the chunk again for each level of the sort. Loses to counting wherever counters fit;
 * indifferent to the number of bins and to skew. libc does the sorting. */
#include <stdlib.h>
#include <string.h>

#include "cpu/backend/backend.h"
#include "cpu/samples/block.h"
#include "view/dtype.h"

enum { CHUNK = 1 << 15, SAMPLES_A_THREAD = 1 << 15 };

static const char *unsupported_reason(const histo_problem *problem)
{
    if (problem->naxes != 1) return "sorts one axis, not several";
    if (problem->weighting != HISTO_UNWEIGHTED) return "keeps counts, not weights";
    if (problem->lookups[0].kind == HISTO_SEARCH_WHOLE) return "compares with edges that are doubles";
    return NULL;
}

static double cost_us(const histo_problem *problem, int threads)
{
    return 2 + (double)problem->samples * 0.1 / threads;
}

/* A thread's workspace: gathered operands, and the keys of a chunk. */
static size_t per_thread(const histo_problem *problem)
{
    return histo_blocks_bytes(problem) + CHUNK * sizeof(uint64_t);
}

static size_t workspace(const histo_problem *problem, int threads, const int64_t *params)
{
    (void)params;
    return (size_t)threads * per_thread(problem);
}

#define NAME(function) function##_f64
#define TYPE double
#include "cpu/strategies/sort_search_template.h"

#define NAME(function) function##_i64
#define TYPE int64_t
#include "cpu/strategies/sort_search_template.h"

#define NAME(function) function##_u64
#define TYPE uint64_t
#include "cpu/strategies/sort_search_template.h"

static void sort_and_count(const histo_job *job, int64_t batch, void *keys, int64_t n)
{
    const histo_lookup *lookup = &job->problem->lookups[0];
    uint64_t *counts = job->accumulators->counts + batch * job->accumulators->slots;
    const histo_dtype dtype = job->problem->dtypes[0];
    if (dtype == HISTO_U64)
        count_u64(lookup, keys, n, counts);
    else if (dtype == HISTO_I64)
        count_i64(lookup, keys, n, counts);
    else
        count_f64(lookup, keys, n, counts);
}

/* Append the samples of a block to `keys`, widened; returns how many. NaN does not sort and is counted immediately. */
static int64_t append(const histo_job *job, const histo_block *block, void *keys, int64_t filled)
{
    const histo_problem *p = job->problem;
    const histo_accumulators *accumulators = job->accumulators;
    int64_t start = filled, nan = 0;
#define CASE(constant, name, storage, compute, widen)                                                                  \
    case constant:                                                                                                     \
        for (int i = 0; i < block->n; i++) {                                                                           \
            compute x = (compute)widen(((const storage *)block->at[0])[i]);                                            \
            nan += x != x;                                                                                             \
            if (x == x) ((compute *)keys)[filled++] = x;                                                               \
        }                                                                                                              \
        break;
    HISTO_SWITCH_DTYPE(p->dtypes[0], CASE)
#undef CASE
    histo_add_count(&accumulators->counts[block->batch * accumulators->slots + p->slots - 1], (uint64_t)nan, false);
    histo_block_add_masked(job, block, false);
    return filled - start;
}

static void count_range(const histo_job *job, int index, int threads)
{
    char *mine = (char *)job->workspace + (size_t)index * per_thread(job->problem);
    void *keys = mine + histo_blocks_bytes(job->problem);
    int64_t filled = 0, batch = 0;
    histo_blocks blocks;
    histo_block block;
    histo_blocks_start(&blocks, job, index, threads, mine);
    while (histo_blocks_next(&blocks, &block)) {
        if (block.batch != batch || filled > CHUNK - HISTO_BLOCK) {
            sort_and_count(job, batch, keys, filled);
            filled = 0;
        }
        batch = block.batch;
        filled += append(job, &block, keys, filled);
    }
    sort_and_count(job, batch, keys, filled);
}

static histo_status launch(const histo_job *job)
{
    int64_t useful = (job->end - job->begin) / SAMPLES_A_THREAD + 1;
    return histo_run_ranges(job, job->threads < useful ? job->threads : (int)useful, count_range);
}

const histo_strategy histo_cpu_sort_search = {HISTO_STRATEGY_FUNCTIONS, .workspace = workspace, .ragged = true};
