/* direct: vector code turns samples into slots, and each is counted in the histogram itself. There are no tables to
 * clear and to add up, so the time depends on the samples, and hardly on the number of slots.
 *
 * A block may span batch entries, in the order of memory. So several small images share a block, and the columns of a
 * table are counted row by row. Different threads count different batch entries.
 *
 * Groups of samples of which few slots make up much are counted by comparison, because an increment waits for the
 * previous one of the same counter.
 *
 * Bytes: each sample once, and 8 bytes of counters for each, most of them in cache. Wins for few samples per slot:
 * small fills, small batch entries. Loses where smaller counters fit a faster cache, and where slots can be produced
 * while others are counted. */
#include <math.h>

#include "base/threads/monitor.h"
#include "cpu/backend/backend.h"
#include "cpu/backend/costs.h"
#include "cpu/kernels/kernels.h"
#include "cpu/samples/block.h"
#include "cpu/strategies/weights.h"
#include "view/dtype.h"

enum {
    SAMPLES_A_THREAD = 1 << 16, /* fewer samples do not repay waking a thread */
    ON_STACK = 1 << 16,         /* bytes */
};
static const int64_t MAX_SPANNED = UINT32_MAX; /* slots */

static const char *unsupported_reason(const histo_problem *problem)
{
    (void)problem;
    return NULL;
}

static bool is_spanning(const histo_problem *p)
{
    return p->batch > 1 && !histo_is_computed(p) && p->slots <= MAX_SPANNED / p->batch;
}

static int useful_threads(const histo_problem *p, int threads)
{
    if (!is_spanning(p)) return 1;
    const int64_t by_samples = p->samples / SAMPLES_A_THREAD + 1,
                  useful = p->batch < by_samples ? p->batch : by_samples;
    return threads < useful ? threads : (int)useful;
}

/* The time to load lines of counters into the cache: each line of a batch once, or for each sample if entries take
 * turns. Nothing for a single histogram. */
static double lines_us(const histo_problem *p, double numbers)
{
    enum { LINE = 64 / sizeof(uint64_t), IN_CACHE = 1 << 20, NEAR = 8 << 20 };
    const double lines = ceil((double)p->slots / LINE) * numbers, all = (double)p->batch * lines;
    if (p->batch == 1 || all * 64 < IN_CACHE) return 0;
    const double additions = (double)p->samples * numbers,
                 loaded = p->apart ? additions : all * (1 - exp(-additions / all));
    return loaded * (all * 64 < NEAR ? 1.5e-3 : 6e-3);
}

static double cost_us(const histo_problem *p, int threads)
{
    const int used = useful_threads(p, threads);
    const double numbers = p->weighting == HISTO_UNWEIGHTED ? 1 : 2 + histo_has_squares(p->weighting);
    const double bytes = (double)p->slots * sizeof(uint64_t) * numbers;
    double count_ns = bytes <= 1 << 15   ? 0.25
                      : bytes <= 1 << 17 ? 0.34
                      : bytes <= 1 << 20 ? 0.4
                      : bytes <= 1 << 23 ? 0.7
                      : bytes <= 1 << 25 ? 1.4
                                         : 3.5;
    /* Additions to the same sum wait for each other: few slots take longer. */
    const bool waits = p->slots <= 1024;
    if (histo_is_fast(p->weighting)) count_ns += (numbers - 1) * (waits ? 0.6 + count_ns : 0.3 + 0.6 * count_ns);
    if (histo_is_reproducible(p->weighting)) count_ns += (numbers - 1) * (0.7 + 2.5 * count_ns);
    const double gather_ns = is_spanning(p) ? 0 : histo_gather_ns(p), span_ns = is_spanning(p) ? 0.2 : 0;
    const double sample_ns = gather_ns + span_ns + histo_slots_ns(p) + count_ns;
    return 0.1 + (used - 1) * 5 + ((double)p->samples * sample_ns * 1e-3 + lines_us(p, numbers)) / used;
}

static size_t rounded(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

/* A thread's workspace: gathered samples, slots and weights. */
static size_t per_thread(const histo_problem *p)
{
    return histo_blocks_spanning_bytes(p) + HISTO_BLOCK * (sizeof(uint32_t) + sizeof(double));
}

/* None if a single thread can keep it on its stack. */
static size_t workspace(const histo_problem *p, int threads, const int64_t *params)
{
    (void)params;
    const size_t used = (size_t)useful_threads(p, threads), bytes = rounded(per_thread(p));
    return used == 1 && bytes <= ON_STACK ? 0 : used * bytes;
}

static void add_fast(const histo_accumulators *accumulators, int64_t first, const uint32_t *slots,
                     const double *weights, int n)
{
    double *const sum_w = accumulators->sum_w + first;
    double *const sum_w2 = accumulators->sum_w2 ? accumulators->sum_w2 + first : NULL;
    for (int i = 0; i < n; i++) {
        sum_w[slots[i]] += weights[i];
        if (sum_w2) sum_w2[slots[i]] += weights[i] * weights[i];
    }
}

/* Whether one run of one operand holds all samples, each counting as 1. */
static bool is_one_run(const histo_job *job)
{
    return job->iter.ndim == 1 && job->iter.operands == 1 && job->problem->batch == 1 &&
           !histo_is_computed(job->problem) && job->problem->weighting == HISTO_UNWEIGHTED;
}

/* Count the samples of a block; if all are equal, at once. */
static void count_block(const histo_job *job, histo_block *block, uint32_t *slots)
{
    uint64_t *const counts = job->accumulators->counts + block->batch * job->problem->slots;
    if (!block->first && histo_block_is_constant(job, block)) {
        const int n = block->n;
        block->n = 1;
        histo_block_slots(job, block, slots);
        counts[slots[0]] += (uint64_t)n;
        block->n = n;
        return;
    }
    histo_block_slots(job, block, slots);
    histo_cpu_kernels_usable()->count_longs(counts, slots, block->n);
}

/* Avoids the general walk through blocks, which takes as long as counting a hundred samples. */
static void count_one_run(const histo_job *job, int index, int threads)
{
    (void)index;
    (void)threads;
    _Alignas(64) double gathered[HISTO_BLOCK];
    uint32_t slots[HISTO_BLOCK];
    const int64_t stride = job->iter.strides[0][0];
    const histo_dtype dtype = job->problem->stored[0];
    const size_t size = histo_dtype_size(job->problem->dtypes[0]);
    histo_block block;
    histo_pool_work *const work = histo_pool_stoppable();
    const int64_t some = job->problem->records ? HISTO_MUCH_WORK : HISTO_BLOCK;
    block.batch = block.left_out = 0;
    block.first = NULL;
    for (int64_t i = job->begin; i < job->end; i += block.n) {
        if (histo_pool_stops(work, some, i - job->begin, job->end - job->begin)) return;
        const char *at = job->iter.base[0] + i * stride;
        const bool in_place = histo_dtype_is_plain(dtype) && stride == (int64_t)size && (uintptr_t)at % size == 0;
        block.n = job->end - i < HISTO_BLOCK ? (int)(job->end - i) : HISTO_BLOCK;
        block.ahead = in_place ? job->end - i - block.n : 0;
        block.at[0] = in_place ? (const void *)at : gathered;
        if (histo_dtype_is_records(dtype))
            histo_job_make_numbers(job, 0, (char *)gathered, at, stride, block.n);
        else if (!in_place)
            histo_cpu_kernels_usable()->fetch((char *)gathered, at, stride, dtype, NULL, block.n);
        count_block(job, &block, slots);
    }
}

static void count_range(const histo_job *job, int index, int threads)
{
    const histo_problem *p = job->problem;
    const histo_accumulators *accumulators = job->accumulators;
    _Alignas(64) char own[job->workspace ? 1 : ON_STACK];
    char *gathered = job->workspace ? (char *)job->workspace + (size_t)index * rounded(per_thread(p)) : own;
    double *weights = (double *)(void *)(gathered + histo_blocks_spanning_bytes(p));
    uint32_t *slots = (uint32_t *)(void *)(weights + HISTO_BLOCK);
    histo_blocks blocks;
    histo_block block;
    if (is_spanning(p))
        histo_blocks_start_spanning(&blocks, job, index, threads, gathered);
    else
        histo_blocks_start(&blocks, job, index, threads, gathered);
    while (histo_blocks_next(&blocks, &block)) {
        const int64_t first = block.batch * p->slots;
        histo_block_add_masked(job, &block, true);
        count_block(job, &block, slots);
        if (histo_is_fast(p->weighting)) {
            histo_block_weights(job, &block, weights);
            add_fast(accumulators, first, slots, weights, block.n);
        } else if (histo_is_reproducible(p->weighting)) {
            const bool wanted[] = {true, accumulators->exact_w2 != NULL};
            histo_block_add_exact(job, &block, wanted, true, slots);
        }
    }
}

static histo_status launch(const histo_job *job)
{
    if (is_one_run(job)) { /* in one batch entry, and so for one thread */
        if (job->end - job->begin > HISTO_BLOCK) return histo_run_ranges(job, 1, count_one_run);
        count_one_run(job, 0, 1);
        return HISTO_OK;
    }
    const bool whole = job->begin == 0 && job->end == histo_strided_iter_samples(&job->iter);
    const histo_status status = histo_weights_reserve(job);
    if (status != HISTO_OK) return status;
    return histo_run_ranges(job, whole ? useful_threads(job->problem, job->threads) : 1, count_range);
}

const histo_strategy histo_cpu_direct = {HISTO_STRATEGY_FUNCTIONS, .workspace = workspace, .ragged = true,
                                         .computed = true};
