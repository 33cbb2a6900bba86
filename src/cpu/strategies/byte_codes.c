/* byte_codes: vector code turns each sample into its bin's number as one byte, and the bytes are counted
 * (count_bytes.h). With VBMI2, 16-bit integers in bins of 2^k of them are packed into bytes while these are split.
 *
 * With 256 bins, no code is left for underflow, overflow and NaN. Their code is the low byte of their slot minus 1.
 * Blocks that contain any count them separately, and these counts are subtracted from the codes' at the end.
 *
 * Bytes: each sample once. Wins for up to 256 bins where bytes are counted faster than one increment a cycle, that is
 * with VBMI2. Without VBMI2, wins for f32 and f64 and ties with privatized for integers. */
#include <string.h>

#include "cpu/backend/backend.h"
#include "cpu/backend/costs.h"
#include "cpu/kernels/kernels.h"
#include "cpu/samples/block.h"
#include "view/dtype.h"

enum {
    MAX_BINS = 256,
    FLOWS = 3,
    SAMPLES_A_THREAD = 1 << 17, /* fewer samples do not repay waking a thread */
};

static const char *unsupported_reason(const histo_problem *p)
{
    if (p->naxes != 1) return "counts bins of one axis, not several";
    if (p->bins > MAX_BINS) return "has codes for 256 bins";
    if (p->weighting != HISTO_UNWEIGHTED) return "keeps counts, not weights";
    return NULL;
}

static int useful_threads(const histo_problem *p, int threads)
{
    int64_t useful = p->samples / SAMPLES_A_THREAD + 1;
    return threads < useful ? threads : (int)useful;
}

static double cost_us(const histo_problem *p, int threads)
{
    int used = useful_threads(p, threads);
    const histo_byte_counting *counting = histo_cpu_kernels_usable()->byte_counting;
    double sample_ns = histo_gather_ns(p) + histo_codes_ns(p) + counting->byte_ns;
    return 0.35 + (used - 1) * 5 +
           ((double)p->samples * sample_ns * 1e-3 + counting->finish_us * (double)p->batch) / used;
}

/* A thread's workspace: gathered samples, codes, counters. */
static size_t per_thread(const histo_problem *p)
{
    return histo_blocks_bytes(p) + HISTO_PIECE + histo_cpu_kernels_usable()->byte_counting->state_bytes;
}

static size_t workspace(const histo_problem *p, int threads, const int64_t *params)
{
    (void)params;
    return (size_t)useful_threads(p, threads) * per_thread(p);
}

/* Per-thread state. */
typedef struct local {
    const histo_job *job;
    const histo_byte_counting *counting;
    void *counters;
    uint64_t flow[FLOWS]; /* samples in slots 0, bins + 1, bins + 2, whose codes are those of bins */
    int64_t batch;
    bool narrow; /* how samples are counted */
    histo_shorts as;
} local;

/* How 16-bit integers in bins of 2^k become codes; false for other samples. */
static bool shorts_of(const histo_problem *p, histo_shorts *as)
{
    enum { SHORT = 16 };
    const histo_lookup *l = &p->lookups[0];
    const bool is_signed = p->dtypes[0] == HISTO_I16;
    if ((p->dtypes[0] != HISTO_U16 && !is_signed) || !l->pow2.is || l->pow2.shift >= SHORT) return false;
    const uint32_t from = l->pow2.from, low = l->pow2.low, high = l->pow2.high;
    const uint32_t first = low + ((low - from) >> l->pow2.shift == 0);
    const uint32_t last = high - ((high - from) >> l->pow2.shift > (uint32_t)p->bins);
    const bool some = is_signed ? (int16_t)first <= (int16_t)last : (uint16_t)first <= (uint16_t)last;
    *as = (histo_shorts){.first = (uint16_t)first, .width = (uint16_t)(last - first), .shift = l->pow2.shift};
    return some && first == from + ((uint32_t)1 << l->pow2.shift) && last - first <= UINT16_MAX;
}

/* Add the counters to the histogram and clear them. */
static void flush(local *me)
{
    const histo_problem *p = me->job->problem;
    const uint64_t bins = (uint64_t)p->bins, flow_slots[FLOWS] = {0, bins + 1, bins + 2};
    uint64_t *counts = me->job->accumulators->counts + me->batch * me->job->accumulators->slots, of_code[256] = {0};
    me->counting->finish(me->counters, of_code);
    for (int f = 0; f < FLOWS; f++) {
        of_code[(uint8_t)(flow_slots[f] - 1)] -= me->flow[f];
        histo_add_count(&counts[flow_slots[f]], me->flow[f], false);
        me->flow[f] = 0;
    }
    for (int64_t bin = 0; bin < p->bins; bin++)
        histo_add_count(&counts[bin + 1], of_code[bin], false);
}

static void count_range(const histo_job *job, int index, int threads)
{
    const histo_problem *p = job->problem;
    char *gathered = (char *)job->workspace + (size_t)index * per_thread(p);
    uint8_t *codes = (uint8_t *)gathered + histo_blocks_bytes(p);
    local me = {.job = job, .counting = histo_cpu_kernels_usable()->byte_counting, .counters = codes + HISTO_PIECE};
    me.narrow = me.counting->add_shorts && shorts_of(p, &me.as);
    me.counting->start(me.counters);
    histo_blocks blocks;
    histo_block block;
    histo_blocks_start(&blocks, job, index, threads, gathered);
    while (histo_blocks_next(&blocks, &block)) {
        if (block.batch != me.batch) flush(&me);
        me.batch = block.batch;
        histo_block_add_masked(job, &block, threads == 1);
        if (histo_block_is_constant(job, &block)) {
            int n = block.n;
            uint32_t slot;
            block.n = 1;
            histo_block_slots(job, &block, &slot);
            histo_add_count(&job->accumulators->counts[block.batch * p->slots + slot], (uint64_t)n, false);
            continue;
        }
        histo_block piece;
        int i = me.narrow ? (int)me.counting->add_shorts(me.counters, block.at[0], (size_t)block.n, &me.as) : 0;
        for (; histo_block_piece(p, &block, i, &piece); i += HISTO_PIECE) {
            histo_block_codes(job, &piece, codes, me.flow);
            me.counting->add(me.counters, codes, (size_t)piece.n);
        }
    }
    flush(&me);
}

static histo_status launch(const histo_job *job)
{
    return histo_run_ranges(job, useful_threads(job->problem, job->threads), count_range);
}

const histo_strategy histo_cpu_byte_codes = {HISTO_STRATEGY_FUNCTIONS, .workspace = workspace, .ragged = true};
