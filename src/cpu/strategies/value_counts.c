/* value_counts: counts 8- and 16-bit samples by value, all 256 or 65536 of them, and looks up the slot of each value
 * once, at the end, so the axis costs nothing.
 *
 * Bytes are counted by count_bytes.h, interleaved channels separated in one pass (channels.h). 16-bit values are
 * counted in one-byte counters that carry 256 to the histogram (byte_table.h); or, if the values are close to each
 * other, in four-byte counters, as those in use fit the L1 cache and need no carries. A block of equal samples is one
 * addition.
 *
 * Bytes: each sample once; 64 and 256 KiB of counters for 16-bit samples. Wins wherever samples have so few bits; loses
 * for few 16-bit samples, as it scans 65536 counters at the end. */
#include <math.h>
#include <string.h>

#include "cpu/backend/backend.h"
#include "cpu/backend/costs.h"
#include "cpu/kernels/kernels.h"
#include "cpu/samples/block.h"
#include "cpu/samples/prefetch.h"
#include "cpu/samples/runs.h"
#include "view/dtype.h"

enum {
    SAMPLES_A_THREAD = 1 << 17, /* fewer samples do not repay waking a thread */
    SHORTS_A_THREAD = 1 << 20,  /* fewer 16-bit samples do not repay adding up all values */
    LONG_BLOCK = 1 << 18,       /* 16-bit samples between checks of their distribution */
    PART = 4096,          /* 8-bit samples; longer runs of one value are read more slowly (Zen 5: 31, not 37 GB/s) */
    SMALL_FILL = 1 << 14, /* up to this many bytes need no workspace */
    VALUES_16 = 1 << 16,
    STRETCH = 512,      /* 16-bit samples; equally many are prefetched */
    LOOKED_AT = 1024,   /* samples probed for their distribution */
    MAX_HELD = 1 << 30, /* samples; four-byte counters cannot wrap */
    MAX_BUFFERS = 4,    /* for blocks of samples, mask, where, and samples that pass */
};

static const char *unsupported_reason(const histo_problem *p)
{
    if (p->naxes != 1) return "counts values of one axis, not several";
    if (p->weighting != HISTO_UNWEIGHTED) return "keeps counts, not weights";
    if (histo_dtype_size(p->dtypes[0]) > 2) return "counts samples of 8 and 16 bits only";
    return NULL;
}

static bool is_bytes(const histo_problem *p)
{
    return histo_dtype_size(p->dtypes[0]) == 1;
}

static bool needs_workspace(const histo_problem *p)
{
    return !is_bytes(p) || p->samples > SMALL_FILL;
}

static int useful_threads(const histo_problem *p, int threads)
{
    const int64_t of_thread = is_bytes(p) ? SAMPLES_A_THREAD : SHORTS_A_THREAD;
    int64_t useful = needs_workspace(p) ? p->samples / of_thread + 1 : 1;
    return threads < useful ? threads : (int)useful;
}

static const histo_byte_counting *counting_of(const histo_problem *p)
{
    return needs_workspace(p) ? histo_cpu_kernels_usable()->byte_counting : &histo_byte_counting_scalar;
}

/* The time to scan the counters of all values of a batch entry. Most of it is mispredicted branches if some values
 * occur and others do not, and lookups of those that occur. */
static double values_us(const histo_problem *p)
{
    if (is_bytes(p)) return counting_of(p)->finish_us + 0.1;
    const double occur = 1 - exp(-(double)p->samples / (double)p->batch / VALUES_16);
    return 25 + VALUES_16 * occur * ((1 - occur) * 8e-3 + (p->lookups[0].table ? 0.4e-3 : 5e-3));
}

static double cost_us(const histo_problem *p, int threads)
{
    int used = useful_threads(p, threads);
    const bool together = is_bytes(p) && p->apart <= HISTO_MAX_CHANNELS;
    /* Values that share a few bins are nevertheless many, where equal slots would be counted together. */
    const double short_ns = p->bins < VALUES_16 / 2 ? 0.4 : 0.29;
    const double sample_ns =
        (together ? 0.1 * (p->apart > 0) : histo_gather_ns(p)) + (is_bytes(p) ? counting_of(p)->byte_ns : short_ns);
    return 0.2 + (used - 1) * 5 + (double)p->samples * sample_ns * 1e-3 / used + values_us(p) * (double)p->batch;
}

static size_t counters_bytes(const histo_problem *p)
{
    return is_bytes(p) ? counting_of(p)->state_bytes : VALUES_16 * (1 + sizeof(uint32_t));
}

/* A thread's workspace: gathered samples and counters; several sets of counters if there may be channels. */
static size_t per_thread(const histo_problem *p)
{
    int tables = is_bytes(p) && p->batch > 1 ? HISTO_MAX_CHANNELS : 1;
    return histo_blocks_bytes(p) + (size_t)tables * counters_bytes(p);
}

static size_t workspace(const histo_problem *p, int threads, const int64_t *params)
{
    (void)params;
    return needs_workspace(p) ? (size_t)useful_threads(p, threads) * per_thread(p) : 0;
}

static uint32_t slot_of(const histo_problem *p, size_t value)
{
    const histo_lookup *l = &p->lookups[0];
    if (l->table) return l->table[value];
    uint8_t one = (uint8_t)value;
    uint16_t two = (uint16_t)value;
    return histo_lookup_slot(l, p->dtypes[0], is_bytes(p) ? (const void *)&one : (const void *)&two);
}

/* Per-thread state. */
typedef struct local {
    const histo_job *job;
    char *gathered;
    void *counters;
    int64_t batch;
    bool alone;     /* no other thread adds to the histogram */
    bool empty;     /* the counters are all 0 */
    bool spread;    /* one-byte counters are in the order of histo_spread_place */
    bool close;     /* 16-bit values are close to each other */
    int64_t held;   /* samples counted in the four-byte counters, which follow the one-byte counters */
    uint8_t *split; /* of a channel: its samples in the pixels that are counted next */
} local;

static void add_value(const local *me, size_t value, uint64_t count)
{
    const histo_accumulators *accumulators = me->job->accumulators;
    if (!count) return;
    uint64_t *counter = &accumulators->counts[me->batch * accumulators->slots + slot_of(me->job->problem, value)];
    histo_add_count(counter, count, me->alone);
}

static uint32_t *words_of(const local *me)
{
    return (uint32_t *)((char *)me->counters + VALUES_16);
}

/* Add the counters to the histogram and clear them. */
static void flush(local *me)
{
    if (me->empty) return;
    me->empty = true;
    const histo_problem *p = me->job->problem;
    if (is_bytes(p)) {
        uint64_t of_value[256] = {0};
        counting_of(p)->finish(me->counters, of_value);
        for (size_t v = 0; v < 256; v++)
            add_value(me, v, of_value[v]);
    } else {
        uint8_t *of_value = me->counters;
        for (size_t v = 0; v < VALUES_16; v++)
            add_value(me, v, of_value[me->spread ? histo_spread_place((uint16_t)v) : v]);
        memset(of_value, 0, VALUES_16);
        uint32_t *words = words_of(me);
        for (size_t v = 0; me->held && v < VALUES_16; v++)
            add_value(me, v, words[v]);
        if (me->held) memset(words, 0, VALUES_16 * sizeof *words);
        me->held = 0;
    }
}

static void carry(const void *to, size_t value)
{
    add_value(to, value, HISTO_CARRY);
}

/* Whether the values use only their upper ten bits. */
static bool are_upper_bits(const uint16_t *values, int64_t n)
{
    uint16_t bits = 0;
    for (int64_t i = 0; i < n && i < LOOKED_AT; i++)
        bits |= values[i];
    return (bits & 63) == 0;
}

/* Whether the values share cache lines of four-byte counters. 1024 uniform values would use 900 lines. */
static bool are_close(const uint16_t *values)
{
    enum { A_LINE = 16, MAX_LINES = 256 };
    bool used[VALUES_16 / A_LINE] = {false};
    int lines = 0;
    for (int i = 0; i < LOOKED_AT; i++) {
        lines += !used[values[i] / A_LINE];
        used[values[i] / A_LINE] = true;
    }
    return lines <= MAX_LINES;
}

static void count_16(local *me, const uint16_t *values, int64_t n)
{
    histo_count_values_fn *count = histo_cpu_kernels_usable()->count_values;
    int some;
    if (n >= LONG_BLOCK / 16) me->close = are_close(values);
    const histo_value_counters how = me->spread ? HISTO_IN_SPREAD_BYTES : me->close ? HISTO_IN_WORDS : HISTO_IN_BYTES;
    void *table = how == HISTO_IN_WORDS ? (void *)words_of(me) : me->counters;
    me->held += how == HISTO_IN_WORDS ? n : 0;
    for (int64_t i = 0; i < n; i += some) {
        some = n - i < STRETCH ? (int)(n - i) : STRETCH;
        if (some > 2 && histo_all_equal(values + i, (size_t)some, sizeof *values)) {
            add_value(me, values[i], (uint64_t)some);
            continue;
        }
        histo_prefetch_l2(values + i, (size_t)some * sizeof *values);
        count(table, values + i, some, how, carry, me);
    }
}

static void count_block(local *me, int64_t batch, const void *samples, int n)
{
    const histo_problem *p = me->job->problem;
    if (batch != me->batch || me->held > MAX_HELD) flush(me);
    me->batch = batch;
    if (n > 2 && n <= PART && histo_all_equal(samples, (size_t)n, histo_dtype_size(p->dtypes[0]))) {
        add_value(me, is_bytes(p) ? *(const uint8_t *)samples : *(const uint16_t *)samples, (uint64_t)n);
        return;
    }
    if (me->empty && !is_bytes(p)) me->spread = are_upper_bits(samples, n);
    me->empty = false;
    if (is_bytes(p))
        counting_of(p)->add(me->counters, samples, (size_t)n);
    else
        count_16(me, samples, n);
}

static void count_local(local *me, int index, int ranges)
{
    const histo_job *job = me->job;
    const histo_problem *p = job->problem;
    histo_blocks blocks;
    histo_block block;
    histo_blocks_start(&blocks, job, index, ranges, me->gathered);
    if (p->operands == 1) blocks.most = is_bytes(p) ? PART : LONG_BLOCK;
    while (histo_blocks_next(&blocks, &block)) {
        histo_block_add_masked(job, &block, me->alone);
        if (block.n) count_block(me, block.batch, block.at[0], block.n);
    }
    flush(me);
}

static void count_range(const histo_job *job, int index, int threads)
{
    const histo_problem *p = job->problem;
    char *mine = (char *)job->workspace + (size_t)index * per_thread(p);
    local me = {.job = job, .gathered = mine, .counters = mine + histo_blocks_bytes(p), .empty = true};
    me.alone = threads == 1;
    if (is_bytes(p))
        counting_of(p)->start(me.counters);
    else
        memset(me.counters, 0, counters_bytes(p));
    count_local(&me, index, threads);
}

/* Batch entries that are channels of interleaved pixels. */
typedef struct interleaved {
    int count, pitch;          /* number of channels; bytes per pixel, at most HISTO_MAX_CHANNELS */
    histo_strided_iter pixels; /* the job's iterator over the first channel only: a batch entry is an image */
} interleaved;

static bool find_channels(interleaved *channels, const histo_job *job)
{
    const histo_strided_iter *iter = &job->iter;
    int of_channels = iter->batch_ndim - 1;
    if (iter->operands != 1 || iter->offsets || of_channels < 0) return false;
    int64_t pitch = iter->strides[0][iter->ndim - 1], count = iter->shape[of_channels];
    if (job->problem->records || histo_dtype_size(job->problem->dtypes[0]) != 1 || iter->strides[0][of_channels] != 1)
        return false;
    if (count > pitch || pitch > HISTO_MAX_CHANNELS) return false;
    if (job->begin != 0 || job->end != histo_strided_iter_samples(iter)) return false;
    *channels = (interleaved){.count = (int)count, .pitch = (int)pitch, .pixels = *iter};
    histo_strided_iter *pixels = &channels->pixels;
    pixels->batch /= count;
    pixels->batch_ndim--;
    pixels->ndim--;
    for (int d = of_channels; d < pixels->ndim; d++) {
        pixels->shape[d] = pixels->shape[d + 1];
        pixels->strides[0][d] = pixels->strides[0][d + 1];
    }
    return true;
}

/* Count the samples of n split pixels of an image. */
static void count_split(local each[HISTO_MAX_CHANNELS], const interleaved *channels, int64_t image, int64_t n)
{
    for (int c = 0; c < channels->count && n > 0; c++)
        count_block(&each[c], image * channels->count + c, each[c].split, (int)n);
}

/* Count image by image, all channels in one pass over memory. */
static void count_channels(const histo_job *job, int index, int threads)
{
    enum { PIXELS = HISTO_BLOCK };
    const histo_problem *p = job->problem;
    interleaved channels;
    find_channels(&channels, job);
    char *mine = (char *)job->workspace + (size_t)index * per_thread(p);
    local each[HISTO_MAX_CHANNELS];
    for (int c = 0; c < channels.count; c++) {
        each[c] = (local){.job = job, .alone = threads == 1, .empty = true};
        each[c].split = (uint8_t *)mine + c * PIXELS;
        each[c].counters = mine + histo_blocks_bytes(p) + (size_t)c * counters_bytes(p);
        counting_of(p)->start(each[c].counters);
    }
    int64_t pixels = histo_strided_iter_samples(&channels.pixels);
    histo_walk walk;
    histo_run run;
    histo_walk_start(&walk, &channels.pixels, pixels / threads * index,
                     index + 1 < threads ? pixels / threads * (index + 1) : pixels, PIXELS);
    histo_pool_work *const work = histo_pool_stoppable();
    const int64_t all = walk.left;
    int64_t image = 0, filled = 0; /* rows are counted together, as far as they fit */
    while (!histo_pool_stops(work, PIXELS, all - walk.left, all) && histo_walk_next(&walk, &run)) {
        if (filled && (run.batch != image || filled + run.n > PIXELS)) {
            count_split(each, &channels, image, filled);
            filled = 0;
        }
        uint8_t *to[HISTO_MAX_CHANNELS];
        for (int c = 0; c < channels.count; c++)
            to[c] = each[c].split + filled;
        histo_cpu_kernels_usable()->split_channels((const uint8_t *)run.at[0], channels.pitch, channels.count,
                                                   (int)run.n, to);
        image = run.batch;
        filled += run.n;
    }
    count_split(each, &channels, image, filled);
    for (int c = 0; c < channels.count; c++)
        flush(&each[c]);
}

static histo_status launch(const histo_job *job)
{
    const histo_problem *p = job->problem;
    if (needs_workspace(p)) {
        interleaved channels;
        return histo_run_ranges(job, useful_threads(p, job->threads),
                                find_channels(&channels, job) ? count_channels : count_range);
    }
    _Alignas(64) char gathered[MAX_BUFFERS * HISTO_BLOCK * sizeof(double)];
    _Alignas(64) char counters[HISTO_SCALAR_STATE_BYTES];
    local me = {.job = job, .gathered = gathered, .counters = counters, .alone = true, .empty = true};
    histo_byte_counting_scalar.start(counters);
    count_local(&me, 0, 1);
    return HISTO_OK;
}

const histo_strategy histo_cpu_value_counts = {HISTO_STRATEGY_FUNCTIONS, .workspace = workspace, .ragged = true};
