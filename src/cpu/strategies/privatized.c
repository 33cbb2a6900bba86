/* privatized: each thread turns blocks of samples into slots with vector code and counts them in a table of its own;
 * the tables are added to the histogram at the end.
 *
 * Slots are counted, or their weights added, while those of the next samples are produced (pipeline.h). Counters have
 * 32 bits and are flushed before they can wrap. If tables for all threads would take too much memory, fewer threads
 * work. With weights, exact sums are kept as digits (digits.h), and fast sums next to their counts (sums.h).
 *
 * Source: Hardavellas, Histograms, privatization; Milic et al. 2013, III.B.
 * Bytes: each sample once, and the tables. Wins with weights; and, above the 256 bins of byte_codes, as long as 32-bit
 * counters of all slots leave room in the L1 cache. */
#include <pthread.h>
#include <string.h>

#include "base/threads/cpus.h"
#include "base/threads/pool.h"
#include "cpu/backend/costs.h"
#include "cpu/kernels/kernels.h"
#include "cpu/samples/block.h"
#include "cpu/samples/pipeline.h"
#include "cpu/samples/runs.h"
#include "cpu/strategies/weights.h"
#include "view/dtype.h"

enum {
    SUBTABLES,
    MAX_SUBTABLES = 8,
    RUN = 32,
    MAX_EXACT = 1 << 16,        /* maximum number of slots for per-thread exact sums */
    MAX_COPIED = 640 << 10,     /* maximum bytes of copies of sums, to fit the L2 cache */
    SAMPLES_A_THREAD = 1 << 16, /* fewer samples do not repay waking a thread */
    SAMPLES_A_FLUSH = 1 << 30,  /* 32-bit counters cannot wrap */
    LONG_BLOCK = 1 << 16,       /* integers that are counted without computing slots */
};
static const size_t MAX_TABLE_BYTES = (size_t)256 << 20; /* for the tables of all threads together */

typedef struct layout {
    int threads;
    int subtables;
    int powers;                                    /* 1: sums of w; 2: also of w^2 */
    bool exact;                                    /* sums are histo_digits */
    histo_sums fast;                               /* otherwise: fast sums, which include the counts */
    size_t entries;                                /* slots in a subtable */
    size_t gathered, slots, weights, tables, sums; /* size in bytes of each part of a thread's workspace */
    size_t per_thread;
} layout;

static size_t rounded(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

static layout layout_of(const histo_problem *p, int threads, const int64_t *params)
{
    layout l = {.entries = (size_t)p->slots};
    l.exact = histo_is_reproducible(p->weighting) && l.entries <= MAX_EXACT;
    const bool fast = histo_is_fast(p->weighting);
    l.powers = fast || l.exact ? 1 + histo_has_squares(p->weighting) : 0;
    size_t sums = l.entries * (size_t)l.powers * sizeof(histo_digits), counts = l.entries * sizeof(uint32_t);
    if (fast) {
        l.fast.numbers = 2 * l.powers;
        sums = l.entries * (size_t)l.fast.numbers * sizeof(double);
        l.fast.copies = sums * HISTO_MAX_COPIES <= MAX_COPIED ? HISTO_MAX_COPIES : 1;
        sums *= (size_t)l.fast.copies;
        counts = 0;
    }
    l.subtables = params[SUBTABLES] ? (int)params[SUBTABLES] : 1;
    size_t table = rounded(counts * (size_t)l.subtables + sums);
    size_t most = MAX_TABLE_BYTES / table;
    int64_t useful = p->samples / SAMPLES_A_THREAD + 1;
    l.threads = threads < useful ? threads : (int)useful;
    if ((size_t)l.threads > most) l.threads = most ? (int)most : 1;
    l.gathered = rounded(histo_blocks_bytes(p));
    l.slots = HISTO_PIPELINE_BYTES;
    l.weights = l.powers ? 2 * rounded(HISTO_PIECE * sizeof(double)) : 0;
    l.tables = rounded(counts * (size_t)l.subtables);
    l.sums = rounded(sums);
    l.per_thread = l.gathered + l.slots + l.weights + l.tables + l.sums;
    return l;
}

typedef struct shared {
    const histo_job *job;
    layout layout;
    pthread_mutex_t lock; /* held while fast sums are added to the histogram */
} shared;

/* Per-thread state. */
typedef struct local {
    shared *all;
    char *gathered;
    histo_pipeline pipeline; /* with a single table, without weights or with fast sums */
    uint32_t *slots;         /* otherwise */
    double *weights;         /* of two pieces, as one is in the pipeline */
    uint32_t *tables;
    histo_sums fast;
    histo_digits *digits[2]; /* exact sums of w, and of w^2 */
    int first[2];            /* the window of their first digit, once they are nonzero */
    int64_t batch;
    int64_t held; /* samples in the tables */
} local;

static local local_of(shared *all, int index)
{
    const layout *l = &all->layout;
    char *at = (char *)all->job->workspace + (size_t)index * l->per_thread;
    local me = {.all = all, .gathered = at, .first = {HISTO_FIRST_DIGIT, HISTO_FIRST_DIGIT}};
    me.slots = (uint32_t *)(at += l->gathered);
    me.weights = (double *)(at += l->slots);
    me.tables = (uint32_t *)(at += l->weights);
    me.pipeline =
        histo_pipeline_start(all->job, me.slots, histo_cpu_kernels_usable()->count_words, me.tables, NULL, NULL);
    at += l->tables;
    me.fast = l->fast;
    me.fast.at = (double *)at;
    for (int power = 0; l->exact && power < l->powers; power++)
        me.digits[power] = (histo_digits *)at + (size_t)power * l->entries;
    memset(me.tables, 0, l->tables + l->sums);
    return me;
}

/* Add a thread's exact sums to the histogram's and clear them. */
static void flush_digits(local *me, int power)
{
    const layout *l = &me->all->layout;
    const histo_accumulators *accumulators = me->all->job->accumulators;
    histo_exact *const to = power ? accumulators->exact_w2 : accumulators->exact_w;
    histo_digits *digits = me->digits[power];
    const int64_t first = me->batch * accumulators->slots;
    const bool alone = l->threads == 1;
    for (size_t s = 0; s < l->entries; s++) {
        if ((digits[s][0] | digits[s][1] | digits[s][2] | digits[s][3]) == 0) continue;
        for (int k = 0; k < HISTO_DIGITS; k++)
            (alone ? histo_exact_add_digit_alone : histo_exact_add_digit)(to, first + (int64_t)s, me->first[power] + k,
                                                                          digits[s][k]);
    }
    memset(digits, 0, l->entries * sizeof *digits);
}

/* Add a thread's fast sums, with their counts, to the histogram. */
static void flush_fast(const local *me)
{
    const histo_accumulators *accumulators = me->all->job->accumulators;
    const size_t slots = me->all->layout.entries, first = (size_t)(me->batch * accumulators->slots);
    const double *copy = me->fast.at;
    pthread_mutex_lock(&me->all->lock);
    for (size_t s = 0; s < slots; s++) {
        double sums[4] = {0};
        for (int c = 0; c < me->fast.copies; c++, copy += me->fast.numbers)
            for (int k = 0; k < me->fast.numbers; k++)
                sums[k] += copy[k];
        accumulators->counts[first + s] += (uint64_t)sums[HISTO_SUM_COUNT];
        accumulators->sum_w[first + s] += sums[HISTO_SUM_W];
        if (accumulators->sum_w2) accumulators->sum_w2[first + s] += sums[HISTO_SUM_W2];
    }
    pthread_mutex_unlock(&me->all->lock);
}

static void add_table(uint64_t *restrict counts, const uint32_t *restrict table, size_t entries)
{
    for (size_t s = 0; s < entries; s++)
        counts[s] += table[s];
}

/* Add the tables of counts to the histogram. */
static void flush_counts(const local *me)
{
    const layout *l = &me->all->layout;
    const histo_accumulators *accumulators = me->all->job->accumulators;
    uint64_t *counts = accumulators->counts + me->batch * accumulators->slots;
    if (l->subtables == 1 && l->threads == 1) {
        add_table(counts, me->tables, l->entries);
        return;
    }
    for (size_t s = 0; s < l->entries; s++) {
        uint64_t count = 0;
        for (int t = 0; t < l->subtables; t++)
            count += me->tables[(size_t)t * l->entries + s];
        histo_add_count(&counts[s], count, l->threads == 1);
    }
}

/* Add a thread's counts and sums to the histogram and clear them. */
static void flush(local *me)
{
    if (me->held == 0) return;
    histo_pipeline_flush(&me->pipeline);
    const layout *l = &me->all->layout;
    if (l->fast.numbers)
        flush_fast(me);
    else
        flush_counts(me);
    for (int power = 0; l->exact && power < l->powers; power++)
        flush_digits(me, power);
    memset(me->tables, 0, l->tables + l->sums);
    me->held = 0;
}

/* Count into several tables in turn. Increments of the same counter wait for each other, so runs are added at once. */
static void count_subtables(uint32_t *restrict tables, size_t entries, int subtables, const uint32_t *restrict slots,
                            int n)
{
    for (int i = 0; i < n; i += RUN) {
        int end = n - i < RUN ? n : i + RUN;
        if (end - i == RUN && histo_all_equal(slots + i, RUN, sizeof *slots))
            tables[slots[i]] += RUN;
        else
            for (int k = i; k < end; k++)
                tables[(size_t)(k % subtables) * entries + slots[k]]++;
    }
}

/* Count a block whose samples all have the slot of the first. */
static void count_constant(local *me, histo_block *block)
{
    int n = block->n;
    uint32_t slot;
    block->n = 1;
    histo_block_slots(me->all->job, block, &slot);
    me->tables[slot] += (uint32_t)n;
    me->held += n;
}

/* Add a piece to the thread's sums and counts. */
static void add_fast(local *me, const histo_block *piece)
{
    const histo_job *job = me->all->job;
    const histo_problem *p = job->problem;
    if (histo_weights_in_place(p)) {
        histo_pipeline_push(&me->pipeline, piece, piece->at[p->weights]);
        return;
    }
    double *weights = me->pipeline.weights == me->weights ? me->weights + HISTO_PIECE : me->weights;
    histo_block_weights(job, piece, weights);
    histo_pipeline_push(&me->pipeline, piece, weights);
}

/* Whether the next block's weights will be in the same memory as this block's, so that they cannot wait in the
 * pipeline. */
static bool weights_are_copies(const local *me, const histo_block *block)
{
    const layout *l = &me->all->layout;
    const histo_problem *p = me->all->job->problem;
    if (!l->fast.numbers || !histo_weights_in_place(p)) return false;
    const uintptr_t at = (uintptr_t)block->at[p->weights], copies = (uintptr_t)me->gathered;
    return at >= copies && at < copies + l->gathered;
}

/* Add to the thread's exact sums, moving their windows if necessary; or to the histogram's, if the thread has none or
 * the block's weights span more than HISTO_DIGITS windows. */
static void add_exact(local *me, const histo_block *block)
{
    const layout *l = &me->all->layout;
    const histo_job *job = me->all->job;
    histo_magnitudes extremes;
    const bool own = l->exact && histo_block_exact_weights(job, block, me->weights, &extremes);
    const histo_numbers numbers = histo_weight_numbers(job->problem);
    bool others[2] = {true, job->accumulators->exact_w2 != NULL};
    for (int power = 0; own && power < l->powers; power++) {
        histo_reach reach;
        if (!histo_reach_of(extremes, power == 1, numbers, &reach)) continue;
        others[power] = false;
        if (reach.high == 0) continue;
        for (int i = 0; power == 1 && i < block->n; i++)
            me->weights[i] *= me->weights[i];
        if (reach.low < me->first[power] || reach.high > me->first[power] + HISTO_DIGITS) {
            flush_digits(me, power);
            const int first = reach.low - (HISTO_DIGITS - (reach.high - reach.low) + 1) / 2;
            const int last = HISTO_EXACT_WINDOWS - HISTO_DIGITS;
            me->first[power] = first < HISTO_FIRST_DIGIT ? HISTO_FIRST_DIGIT : first < last ? first : last;
        }
        histo_cpu_kernels_usable()->add_digits(me->digits[power], me->slots, me->weights, block->n, me->first[power]);
    }
    if (others[0] || others[1]) histo_block_add_exact(job, block, others, l->threads == 1, me->slots);
}

static void count_piece(local *me, const histo_block *piece)
{
    const histo_job *job = me->all->job;
    const layout *l = &me->all->layout;
    const histo_weighting weighting = job->problem->weighting;
    me->held += piece->n;
    if (l->subtables == 1 && weighting == HISTO_UNWEIGHTED) {
        histo_pipeline_push(&me->pipeline, piece, NULL);
        return;
    }
    if (l->fast.numbers) {
        add_fast(me, piece);
        return;
    }
    histo_block_slots(job, piece, me->slots);
    if (histo_is_reproducible(weighting)) add_exact(me, piece);
    if (l->subtables == 1)
        me->pipeline.count(me->tables, me->slots, piece->n, NULL, NULL, NULL);
    else
        count_subtables(me->tables, l->entries, l->subtables, me->slots, piece->n);
}

/* Count integers of one axis without computing slots; false for other samples. */
static bool count_integers(local *me, const histo_block *block)
{
    const layout *l = &me->all->layout;
    const histo_problem *p = me->all->job->problem;
    if (p->naxes > 1 || p->weighting != HISTO_UNWEIGHTED || l->subtables > 1) return false;
    if (!histo_cpu_kernels_usable()->count_integers(&p->lookups[0], p->dtypes[0], block->at[0], block->n, me->tables))
        return false;
    me->held += block->n;
    return true;
}

static void count_range(void *context, int index)
{
    shared *all = context;
    const histo_job *job = all->job;
    const layout *l = &all->layout;
    local me = local_of(all, index);
    if (l->fast.numbers) {
        me.pipeline.sums = &me.fast;
        me.pipeline.floats =
            histo_weights_in_place(job->problem) && job->problem->dtypes[job->problem->weights] == HISTO_F32;
    }
    histo_blocks blocks;
    histo_block block;
    histo_blocks_start(&blocks, job, index, l->threads, me.gathered);
    if (job->problem->operands == 1 && job->problem->lookups[0].pow2.is && job->problem->lookups[0].pow2.shift == 0)
        blocks.most = LONG_BLOCK;
    while (histo_blocks_next(&blocks, &block)) {
        if (block.batch != me.batch || me.held > SAMPLES_A_FLUSH) flush(&me);
        me.batch = block.batch;
        histo_block_add_masked(job, &block, l->threads == 1);
        if (histo_block_is_constant(job, &block)) {
            count_constant(&me, &block);
            continue;
        }
        if (count_integers(&me, &block)) continue;
        histo_block piece;
        for (int i = 0; histo_block_piece(job->problem, &block, i, &piece); i += HISTO_PIECE)
            count_piece(&me, &piece);
        if (weights_are_copies(&me, &block)) histo_pipeline_flush(&me.pipeline);
    }
    flush(&me);
}

static const char *unsupported_reason(const histo_problem *problem)
{
    (void)problem;
    return NULL;
}

static double cost_us(const histo_problem *p, int threads)
{
    static const int64_t defaults[] = {0};
    layout l = layout_of(p, threads, defaults);
    const bool few = l.entries * sizeof(uint32_t) <= histo_l1_bytes() / 4 * 3; /* leaving room for samples */
    double count_ns = few                    ? 0.27
                      : l.entries <= 1 << 17 ? 0.36
                      : l.entries <= 1 << 20 ? 0.5
                      : l.entries <= 1 << 22 ? 1
                                             : 3;
    const bool own_sums = l.fast.numbers;
    if (own_sums)
        count_ns = l.sums > 8 << 20 ? 5 * l.powers : l.sums > 1 << 20 ? 0.9 : 0.3 + 0.2 * l.powers;
    else if (p->weighting != HISTO_UNWEIGHTED)
        count_ns += l.exact ? 1.2 * l.powers : 4 * l.powers;
    const double sample_ns = histo_gather_ns(p) + histo_pipelined_slots_ns(p) + count_ns;
    const double flushed = p->batch > l.threads ? (double)p->batch : l.threads;
    /* The time to clear the tables and to add them up. Tables of several megabytes are new pages in each fill, and so
     * many counters come from memory. */
    const double counters = (double)p->slots * (double)p->batch * sizeof(uint64_t);
    const bool far = l.tables >= 4 << 20 || counters > 8 << 20, in_l3 = l.tables >= 1 << 19 || counters > 2 << 20;
    const double counter_us = l.threads > 1 ? 1e-3 : far ? 0.6e-3 : in_l3 ? 0.35e-3 : 0.18e-3;
    const double counts_us = (double)l.entries * counter_us * l.subtables;
    const double numbers = (double)p->slots * (1 + l.powers), all = numbers * (double)p->batch * sizeof(uint64_t);
    const double far_us = l.powers && all > 8 << 20 ? numbers * 0.8e-3 : 0; /* the histogram's, from memory */
    const double sums_us = (double)l.sums * (l.sums < 4 << 20 ? 0.06e-3 : 0.15e-3) + far_us;
    const double table_us = flushed * (0.09 + (own_sums ? 0 : counts_us) + sums_us);
    return 0.3 + (l.threads - 1) * 5 + (double)p->samples * sample_ns * 1e-3 / l.threads + table_us;
}

static size_t workspace(const histo_problem *problem, int threads, const int64_t *params)
{
    layout l = layout_of(problem, threads, params);
    return (size_t)l.threads * l.per_thread;
}

static histo_status launch(const histo_job *job)
{
    histo_status status = histo_weights_reserve(job);
    if (status != HISTO_OK) return status;
    shared all = {
        .job = job, .layout = layout_of(job->problem, job->threads, job->params), .lock = PTHREAD_MUTEX_INITIALIZER};
    return histo_pool_run_long("counting", all.layout.threads, count_range, &all);
}

const histo_strategy histo_cpu_privatized = {
    HISTO_STRATEGY_FUNCTIONS, .workspace = workspace,
    .params = {{"subtables", 0, MAX_SUBTABLES, 0, "copies of each thread's table; 0: one"}}, .ragged = true,
    .computed = true};
