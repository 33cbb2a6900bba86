/* sequential: the papers' listing, one sample after another, with the exact edge rule and nothing clever. It is the
 * oracle that every other strategy is compared with, so it shares nothing with them except the lookup of one sample
 * and, where samples are not in memory, their computation.
 *
 * Source: the idea of Hardavellas, Histograms, and of Podlozhnyuk 2007, listing 1, for anything that can be counted.
 * Bytes: each sample once. Wins only on a handful of samples. */
#include "axis/filter.h"
#include "base/threads/monitor.h"
#include "cpu/backend/backend.h"
#include "cpu/samples/block.h"
#include "cpu/strategies/weights.h"
#include "view/dtype.h"
#include "view/gather.h"

static const char *unsupported_reason(const histo_problem *problem)
{
    (void)problem;
    return NULL;
}

static double cost_us(const histo_problem *problem, int threads)
{
    (void)threads;
    double weight_us = problem->weighting == HISTO_UNWEIGHTED ? 0 : 0.03;
    return 0.1 + (double)problem->samples * (0.03 * problem->naxes + weight_us);
}

/* Whether the sample at these addresses passes the mask and the range filter. */
static bool is_kept(const histo_job *job, const char *const *at)
{
    const histo_problem *p = job->problem;
    uint8_t kept = 1;
    if (p->mask != HISTO_ABSENT) histo_keep_nonzero(p->dtypes[p->mask], at[p->mask], 0, 1, &kept);
    if (p->where != HISTO_ABSENT)
        histo_keep_inside(p->dtypes[p->where], at[p->where], 0, 1, job->where_lo, job->where_hi, &kept);
    return kept;
}

/* Fetch one sample of each operand at these addresses, in its plain dtype. */
static void fetch(const histo_job *job, const char *const *from, uint64_t *room, const char **at)
{
    for (int o = 0; o < job->problem->operands; o++) {
        if (histo_dtype_is_records(job->problem->stored[o]))
            histo_job_make_numbers(job, o, (char *)&room[o], from[o], 0, 1);
        else
            histo_fetch((char *)&room[o], from[o], 0, job->problem->stored[o], job->bits, 1);
        at[o] = (const char *)&room[o];
    }
}

static void count(const histo_job *job, int64_t batch, const char *const *at)
{
    const histo_problem *p = job->problem;
    const histo_accumulators *accumulators = job->accumulators;
    if (!is_kept(job, at)) {
        accumulators->masked[batch]++;
        return;
    }
    int64_t slot = batch * p->slots;
    for (int a = 0; a < p->naxes; a++)
        slot += (int64_t)p->slot_strides[a] * histo_lookup_slot(&p->lookups[a], p->sampled[a], at[a]);
    accumulators->counts[slot]++;
    if (p->weighting != HISTO_UNWEIGHTED) histo_weights_add(job, slot, at);
}

/* Samples that are not in memory come in blocks. */
static void count_computed(const histo_job *job, int index, int threads)
{
    (void)index;
    (void)threads;
    _Alignas(64) char gathered[HISTO_MAX_AXES * HISTO_BLOCK * sizeof(double)];
    const histo_problem *p = job->problem;
    histo_blocks blocks;
    histo_block block;
    histo_blocks_start(&blocks, job, 0, 1, gathered);
    while (histo_blocks_next(&blocks, &block))
        for (int i = 0; i < block.n; i++) {
            const char *at[HISTO_MAX_AXES];
            for (int a = 0; a < p->naxes; a++)
                at[a] = (const char *)block.at[a] + (size_t)i * histo_dtype_size(p->sampled[a]);
            count(job, block.batch, at);
        }
}

static void count_in_memory(const histo_job *job, int index, int threads)
{
    const histo_problem *p = job->problem;
    (void)index;
    (void)threads;
    histo_walk walk;
    histo_run run;
    histo_pool_work *const work = histo_pool_stoppable();
    histo_walk_start(&walk, &job->iter, job->begin, job->end, HISTO_BLOCK);
    while (!histo_pool_stops(work, HISTO_MUCH_WORK, job->end - job->begin - walk.left, job->end - job->begin) &&
           histo_walk_next(&walk, &run)) {
        for (int64_t i = 0; i < run.n; i++) {
            uint64_t room[HISTO_MAX_OPERANDS];
            const char *fetched[HISTO_MAX_OPERANDS];
            if (!p->plain) fetch(job, run.at, room, fetched);
            count(job, run.batch, p->plain ? run.at : fetched);
            for (int o = 0; o < p->operands; o++)
                run.at[o] += job->iter.strides[o][job->iter.ndim - 1];
        }
    }
}

/* A single thread, which the monitor may stop. */
static histo_status launch(const histo_job *job)
{
    if (histo_is_computed(job->problem)) return histo_run_ranges(job, 1, count_computed);
    const histo_status status = histo_weights_reserve(job);
    return status == HISTO_OK ? histo_run_ranges(job, 1, count_in_memory) : status;
}

const histo_strategy histo_cpu_sequential = {HISTO_STRATEGY_FUNCTIONS, .ragged = true, .computed = true};
