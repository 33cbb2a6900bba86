/* byte_counters: each thread counts slots in a table of one-byte counters; a counter that wraps carries 256 to the
 * histogram. The tables of several threads are added up when all samples are counted, by slots: additions to counters
 * that two threads share take several nanoseconds each. The table takes a quarter of the memory of 32-bit counters, so
 * many more slots fit a fast cache. Few distinct values and equal neighbours do not slow it down (byte_table.c).
 *
 * Source: Ross 2014, 5.2, packed counters, for a CPU.
 * Bytes: each sample once, and a byte for each slot and thread at the end. Wins where 32-bit counters of all slots do
 * not fit the L1 cache; where they do, privatized has no carries to handle. */
#include <math.h>
#include <string.h>

#include "cpu/backend/backend.h"
#include "cpu/backend/costs.h"
#include "cpu/kernels/kernels.h"
#include "cpu/samples/block.h"
#include "cpu/samples/pipeline.h"

enum {
    SAMPLES_A_THREAD = 1 << 16, /* fewer samples do not repay waking a thread */
    TOGETHER = 64,              /* counters that are added, or skipped, together */
};
static const size_t MAX_TABLE_BYTES = (size_t)256 << 20; /* for the tables of all threads together */

static const char *unsupported_reason(const histo_problem *p)
{
    return p->weighting == HISTO_UNWEIGHTED ? NULL : "keeps counts, not weights";
}

/* The size of a thread's table. */
static size_t entries_of(const histo_problem *p)
{
    return (size_t)p->slots;
}

static size_t rounded(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

static int useful_threads(const histo_problem *p, int threads)
{
    int64_t useful = p->samples / SAMPLES_A_THREAD + 1, most = (int64_t)(MAX_TABLE_BYTES / entries_of(p));
    if (useful > most) useful = most ? most : 1;
    return threads < useful ? threads : (int)useful;
}

/* Whether tables are added up after all samples are counted. Those of a batch are reused for its next histogram. */
static bool adds_later(const histo_problem *p, int threads)
{
    return threads > 1 && p->batch == 1;
}

/* Adding a table to a histogram: a look at each counter, and additions of groups that are not all zero, or of the
 * counters that other threads add to as well. */
static double table_us(const histo_problem *p, bool alone)
{
    const double shared_us = 6e-3;
    const double slots = (double)p->slots, groups = slots / TOGETHER, of_entry = (double)p->samples / (double)p->batch;
    if (!alone) return 0.05 + slots * (0.05e-3 + (1 - exp(-of_entry / slots)) * shared_us);
    const double all_bytes = slots * sizeof(uint64_t) * (double)p->batch;
    const double group_us = all_bytes <= 1 << 20 ? 0.006 : all_bytes <= 8 << 20 ? 0.009 : 0.03;
    const double slot_us = slots <= 1 << 19 ? 0.05e-3 : 0.15e-3; /* large tables are new pages in each fill */
    return 0.09 + slots * slot_us + groups * (1 - exp(-of_entry / groups)) * group_us;
}

static double cost_us(const histo_problem *p, int threads)
{
    int used = useful_threads(p, threads);
    size_t entries = entries_of(p);
    double count_ns = entries <= 1 << 15   ? 0.3
                      : entries <= 1 << 17 ? 0.36
                      : entries <= 1 << 20 ? 0.46
                      : entries <= 1 << 22 ? 0.7
                                           : 3;
    const double sample_ns = histo_gather_ns(p) + histo_pipelined_slots_ns(p) + count_ns;
    const bool later = adds_later(p, used);
    const double tables = p->batch > used ? (double)p->batch : used;
    return 0.3 + (used - 1) * 5 * (1 + later) +
           ((double)p->samples * sample_ns * 1e-3 + tables * table_us(p, used == 1 || later)) / used;
}

static size_t per_thread(const histo_problem *p)
{
    return rounded(histo_blocks_bytes(p) + HISTO_PIPELINE_BYTES + entries_of(p));
}

static size_t workspace(const histo_problem *p, int threads, const int64_t *params)
{
    (void)params;
    return (size_t)useful_threads(p, threads) * per_thread(p);
}

/* Per-thread state. */
typedef struct local {
    const histo_job *job;
    uint8_t *table;
    histo_pipeline pipeline;
    int64_t batch;
    bool alone; /* no other thread adds to the histogram */
    bool used;  /* the table or the pipeline has contents; else the table is not cleared yet */
} local;

static void add(const local *me, size_t slot, uint64_t count)
{
    const histo_accumulators *accumulators = me->job->accumulators;
    histo_add_count(&accumulators->counts[(size_t)(me->batch * accumulators->slots) + slot], count, me->alone);
}

static void carry(const void *to, size_t slot)
{
    add(to, slot, HISTO_CARRY);
}

/* Add n counters to counts that no other thread adds to now. */
static void add_counters(uint64_t *restrict counts, const uint8_t *restrict table, size_t n)
{
    size_t s = 0;
    for (; s + TOGETHER <= n; s += TOGETHER) {
        const uint8_t *some = table + s;
        uint8_t any = 0;
        for (int i = 0; i < TOGETHER; i++)
            any |= some[i];
        for (int i = 0; any && i < TOGETHER; i++)
            counts[s + (size_t)i] += some[i];
    }
    for (; s < n; s++)
        counts[s] += table[s];
}

/* Add the table to the histogram. */
static void add_table(local *me)
{
    if (!me->used) return;
    me->used = false;
    histo_pipeline_flush(&me->pipeline);
    const histo_accumulators *accumulators = me->job->accumulators;
    const size_t slots = (size_t)accumulators->slots;
    if (me->alone) add_counters(accumulators->counts + me->batch * accumulators->slots, me->table, slots);
    for (size_t s = 0; !me->alone && s < slots; s++)
        if (me->table[s]) add(me, s, me->table[s]);
}

static uint8_t *table_of(const histo_job *job, int index)
{
    const histo_problem *p = job->problem;
    return (uint8_t *)job->workspace + (size_t)index * per_thread(p) + histo_blocks_bytes(p) + HISTO_PIPELINE_BYTES;
}

/* Add a range of the slots of all threads' tables, all of which are in use, to the histogram. */
static void add_tables(const histo_job *job, int index, int threads)
{
    const size_t slots = (size_t)job->accumulators->slots, groups = slots / TOGETHER;
    const size_t begin = groups * (size_t)index / (size_t)threads * TOGETHER;
    const size_t end = index + 1 < threads ? groups * (size_t)(index + 1) / (size_t)threads * TOGETHER : slots;
    for (int t = 0; t < threads; t++)
        add_counters(job->accumulators->counts + begin, table_of(job, t) + begin, end - begin);
}

static void count_block(local *me, histo_block *block)
{
    int n = block->n;
    if (histo_block_is_constant(me->job, block)) {
        uint32_t slot;
        block->n = 1;
        histo_block_slots(me->job, block, &slot);
        add(me, slot, (uint64_t)n);
        return;
    }
    if (!me->used) memset(me->table, 0, entries_of(me->job->problem));
    me->used = true;
    histo_block piece;
    for (int i = 0; histo_block_piece(me->job->problem, block, i, &piece); i += HISTO_PIECE)
        histo_pipeline_push(&me->pipeline, &piece, NULL);
}

static void count_range(const histo_job *job, int index, int threads)
{
    const histo_problem *p = job->problem;
    char *gathered = (char *)job->workspace + (size_t)index * per_thread(p);
    char *room = gathered + histo_blocks_bytes(p);
    local me = {.job = job, .table = table_of(job, index), .alone = threads == 1, .used = adds_later(p, threads)};
    if (me.used) memset(me.table, 0, entries_of(p));
    me.pipeline = histo_pipeline_start(job, room, histo_cpu_kernels_usable()->count_slots, me.table, carry, &me);
    histo_blocks blocks;
    histo_block block;
    histo_blocks_start(&blocks, job, index, threads, gathered);
    while (histo_blocks_next(&blocks, &block)) {
        if (block.batch != me.batch) add_table(&me);
        me.batch = block.batch;
        histo_block_add_masked(job, &block, me.alone);
        count_block(&me, &block);
    }
    if (adds_later(p, threads))
        histo_pipeline_flush(&me.pipeline);
    else
        add_table(&me);
}

static histo_status launch(const histo_job *job)
{
    const int threads = useful_threads(job->problem, job->threads);
    const histo_status status = histo_run_ranges(job, threads, count_range);
    if (status != HISTO_OK || !adds_later(job->problem, threads)) return status;
    return histo_run_ranges(job, threads, add_tables);
}

const histo_strategy histo_cpu_byte_counters = {HISTO_STRATEGY_FUNCTIONS, .workspace = workspace, .ragged = true,
                                                .computed = true};
