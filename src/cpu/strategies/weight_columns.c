/* weight_columns: several weights of each sample, one in each entry of a batch whose entries all have the same samples.
 * A sample's slot is found once for up to eight weights, and the sums of a slot are one vector, so that a sample takes
 * one addition.
 *
 * Each thread keeps the sums of all slots for eight entries at a time, and the counts once. Samples are taken in blocks
 * of at most 2048. Weights that are floats or doubles, and not filtered, are used where they are, if those of an entry
 * or those of a sample are contiguous.
 *
 * Bytes: the samples once for eight weights, and the weights. Wins for fast sums of two weights and more; loses where
 * the entries have different samples, which are then counted entry by entry. */
#include <pthread.h>
#include <string.h>

#include "base/threads/pool.h"
#include "base/threads/share.h"
#include "cpu/backend/costs.h"
#include "cpu/kernels/kernels.h"
#include "cpu/samples/block.h"
#include "cpu/strategies/weights.h"
#include "view/dtype.h"

enum {
    SAMPLES_A_THREAD = 1 << 16, /* fewer samples do not repay waking a thread */
    SAMPLES_A_FLUSH = 1 << 30,  /* 32-bit counters cannot wrap */
};
static const size_t MAX_TABLE_BYTES = (size_t)256 << 20; /* for the tables of all threads together */

typedef struct layout {
    int threads;
    int lanes;                                     /* lanes in the vectors of sums: HISTO_MAX_COLUMNS at most */
    bool squared;                                  /* there are sums of w^2, too */
    size_t gathered, slots, weights, counts, sums; /* size in bytes of each part of a thread's workspace */
    size_t per_thread;
} layout;

static size_t rounded(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

static layout layout_of(const histo_problem *p, int threads)
{
    layout l = {.lanes = 2, .squared = histo_has_squares(p->weighting)};
    while (l.lanes < HISTO_MAX_COLUMNS && l.lanes < p->batch)
        l.lanes *= 2;
    l.gathered = rounded(histo_blocks_bytes(p));
    l.slots = rounded(HISTO_BLOCK * sizeof(uint32_t));
    l.weights = (size_t)(l.lanes + 1) * HISTO_BLOCK * sizeof(double);
    l.counts = rounded((size_t)p->slots * sizeof(uint32_t));
    l.sums = rounded((size_t)p->slots * (size_t)l.lanes * (l.squared ? 2 : 1) * sizeof(double));
    l.per_thread = l.gathered + l.slots + l.weights + l.counts + l.sums;
    const int64_t useful = p->samples / SAMPLES_A_THREAD + 1;
    const size_t most = MAX_TABLE_BYTES / (l.counts + l.sums);
    l.threads = threads < useful ? threads : (int)useful;
    if ((size_t)l.threads > most) l.threads = most ? (int)most : 1;
    return l;
}

typedef struct shared {
    const histo_job *job;
    layout layout;
    pthread_mutex_t lock; /* held while sums are added to the histogram */
} shared;

/* Per-thread state. */
typedef struct local {
    shared *all;
    histo_job part; /* the job, restricted to the samples taken next */
    char *gathered;
    uint32_t *slots, *counts;
    char *copied;               /* copies of a block's weights, for each lane and for lanes without an entry */
    histo_weight_lanes weights; /* the weights of the block */
    double *sums;               /* [slot][of w, and of w^2][lane] */
    int64_t held;               /* samples in the counts */
} local;

static void start(local *me, shared *all, int index)
{
    const layout *l = &all->layout;
    char *at = (char *)all->job->workspace + (size_t)index * l->per_thread;
    me->all = all;
    me->part = *all->job;
    me->gathered = at;
    me->slots = (uint32_t *)(at += l->gathered);
    me->copied = at += l->slots;
    me->counts = (uint32_t *)(at += l->weights);
    me->sums = (double *)(at + l->counts);
    me->held = 0;
    memset(me->copied, 0, l->weights);
    memset(me->counts, 0, l->counts + l->sums);
}

/* Add the sums of `entries` from `first` on, with their counts, to the histogram, and clear them. */
static void flush(local *me, int64_t first, int entries)
{
    if (me->held == 0) return;
    const layout *l = &me->all->layout;
    const histo_accumulators *accumulators = me->all->job->accumulators;
    const size_t slots = (size_t)accumulators->slots, stride = (size_t)l->lanes * (l->squared ? 2 : 1);
    pthread_mutex_lock(&me->all->lock);
    for (int lane = 0; lane < entries; lane++) {
        const size_t at = (size_t)(first + lane) * slots;
        for (size_t s = 0; s < slots; s++) {
            accumulators->counts[at + s] += me->counts[s];
            accumulators->sum_w[at + s] += me->sums[s * stride + (size_t)lane];
        }
        for (size_t s = 0; s < slots && l->squared; s++)
            accumulators->sum_w2[at + s] += me->sums[s * stride + (size_t)(l->lanes + lane)];
    }
    pthread_mutex_unlock(&me->all->lock);
    memset(me->counts, 0, l->counts + l->sums);
    me->held = 0;
}

/* Whether the weights of a block are in the caller's memory. */
static bool are_in_place(const local *me, const histo_block *block)
{
    const uintptr_t at = (uintptr_t)block->at[me->part.problem->weights], copies = (uintptr_t)me->gathered;
    return !(at >= copies && at < copies + me->all->layout.gathered);
}

/* Take the weights of samples [begin, end) of an entry and, in the first lane, their slots; returns how many samples
 * pass. */
static int take(local *me, int lane, int64_t entry, int64_t begin, int64_t end)
{
    const histo_job *job = &me->part;
    const histo_problem *p = job->problem;
    const bool converted = !histo_weights_in_place(p);
    const size_t size = converted ? sizeof(double) : histo_dtype_size(p->dtypes[p->weights]);
    char *copied = me->copied + (size_t)lane * HISTO_BLOCK * sizeof(double);
    int n = 0;
    me->part.begin = entry * job->iter.per_batch + begin;
    me->part.end = entry * job->iter.per_batch + end;
    me->weights.lane[lane] = copied;
    histo_blocks blocks;
    histo_block block;
    histo_blocks_start(&blocks, job, 0, 1, me->gathered);
    blocks.work = NULL; /* do not stop halfway: samples and weights would no longer match */
    while (histo_blocks_next(&blocks, &block)) {
        char *to = copied + (size_t)n * size;
        histo_block_add_masked(job, &block, me->all->layout.threads == 1);
        if (lane == 0) histo_block_slots(job, &block, me->slots + n);
        if (converted)
            histo_block_weights(job, &block, (double *)(void *)to);
        else if (block.n == end - begin && are_in_place(me, &block))
            me->weights.lane[lane] = block.at[p->weights];
        else
            memcpy(to, block.at[p->weights], (size_t)block.n * size);
        n += block.n;
    }
    return n;
}

/* Where the weights of an entry's first sample are, if those of the following entries are next to them and samples are
 * equally far apart; else NULL. */
static const char *rows_of(const local *me, int64_t entry)
{
    const histo_problem *p = me->part.problem;
    const histo_strided_iter *iter = &me->part.iter;
    const int64_t *strides = iter->strides[p->weights];
    const int64_t size = (int64_t)histo_dtype_size(p->dtypes[p->weights]);
    const bool filtered = p->mask != HISTO_ABSENT || p->where != HISTO_ABSENT;
    const char *at = iter->base[p->weights] + entry * size;
    if (filtered || iter->batch_ndim != 1 || iter->ndim != 2 || strides[0] != size || strides[1] % size) return NULL;
    return histo_weights_in_place(p) && histo_dtype_is_plain(p->stored[p->weights]) && (uintptr_t)at % (size_t)size == 0
               ? at
               : NULL;
}

/* Count samples [begin, end) of several entries, which all have the samples of the first. */
static void count_entries(local *me, int64_t first, int entries, int64_t begin, int64_t end)
{
    const layout *l = &me->all->layout;
    const histo_problem *p = me->part.problem;
    const histo_cpu_kernels *kernels = histo_cpu_kernels_usable();
    const char *rows = entries == l->lanes ? rows_of(me, first) : NULL;
    const int64_t row = me->part.iter.strides[p->weights][me->part.iter.ndim - 1];
    me->weights.floats = histo_weights_in_place(p) && p->dtypes[p->weights] == HISTO_F32;
    me->weights.step = rows ? row / (int64_t)histo_dtype_size(p->dtypes[p->weights]) : 0;
    for (int lane = entries; lane < l->lanes; lane++)
        me->weights.lane[lane] = me->copied + (size_t)l->lanes * HISTO_BLOCK * sizeof(double); /* zeros */
    histo_pool_work *const work = histo_pool_stoppable();
    const int64_t entry = me->part.iter.per_batch, all = me->part.iter.batch * entry;
    for (int64_t at = begin; at < end; at += HISTO_BLOCK) {
        if (histo_pool_stops(work, (int64_t)entries * HISTO_BLOCK, first * entry + (at - begin) * l->threads, all))
            break;
        const int64_t next = end - at < HISTO_BLOCK ? end : at + HISTO_BLOCK;
        const int n = take(me, 0, first, at, next);
        for (int lane = 1; lane < entries && !rows; lane++)
            take(me, lane, first + lane, at, next);
        if (rows) me->weights.lane[0] = rows + at * row;
        kernels->add_columns(me->sums, l->lanes, l->squared, me->slots, &me->weights, n);
        kernels->count_words(me->counts, me->slots, n, NULL, NULL, NULL);
        me->held += n;
        if (me->held > SAMPLES_A_FLUSH) flush(me, first, entries);
    }
    flush(me, first, entries);
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The entries of the job, as many at a time as there are lanes; one at a time if a fill by the plan has different
 * samples in each, or counts only part of the batch. */
static void count_range(void *context, int index)
{
    shared *all = context;
    const histo_job *job = all->job;
    const layout *l = &all->layout;
    const int64_t per_batch = job->iter.per_batch;
    const bool together = histo_iter_repeats(&job->iter, job->problem->weights) && job->begin == 0 &&
                          job->end == histo_strided_iter_samples(&job->iter);
    const int most = together ? l->lanes : 1;
    local me;
    start(&me, all, index);
    for (int64_t first = 0; first < job->iter.batch; first += most) {
        const int entries = (int)smaller(most, job->iter.batch - first);
        const int64_t begin = larger(job->begin - first * per_batch, 0);
        const int64_t n = smaller(job->end - first * per_batch, per_batch) - begin;
        if (n <= 0) continue;
        count_entries(&me, first, entries, begin + histo_share_begin(n, l->threads, index),
                      begin + histo_share_begin(n, l->threads, index + 1));
    }
}

static const char *unsupported_reason(const histo_problem *p)
{
    if (!histo_is_fast(p->weighting) || p->weights == HISTO_ABSENT) return "adds weights in double";
    return NULL;
}

static double cost_us(const histo_problem *p, int threads)
{
    enum { OTHERWISE = 10 }; /* other strategies are better for entries with samples of their own */
    const layout l = layout_of(p, threads);
    const int powers = l.squared ? 2 : 1;
    const double entries = (double)smaller(p->batch, l.lanes), groups = (double)p->batch / entries;
    const double miss_ns = l.sums > 8 << 20 ? 8 : l.sums > 1 << 20 ? 2 : 0;
    const double lane_ns = (histo_weights_in_place(p) ? 0.15 : 0.25) + 0.02 * powers;
    const double sample_ns = histo_gather_ns(p) + (l.lanes * lane_ns + histo_slots_ns(p) + 0.5 + miss_ns) / entries;
    const double flush_us = (double)p->slots * (double)p->batch * powers * 1e-3;
    const double us = 0.3 + (l.threads - 1) * 5 + (double)p->samples * sample_ns * 1e-3 / l.threads +
                      (flush_us + groups * (double)(l.counts + l.sums) * 0.06e-3) * l.threads;
    return p->repeats ? us : us * OTHERWISE;
}

static size_t workspace(const histo_problem *problem, int threads, const int64_t *params)
{
    (void)params;
    const layout l = layout_of(problem, threads);
    return (size_t)l.threads * l.per_thread;
}

static histo_status launch(const histo_job *job)
{
    shared all = {.job = job, .layout = layout_of(job->problem, job->threads), .lock = PTHREAD_MUTEX_INITIALIZER};
    return histo_pool_run_long("counting", all.layout.threads, count_range, &all);
}

const histo_strategy histo_cpu_weight_columns = {HISTO_STRATEGY_FUNCTIONS, .workspace = workspace};
