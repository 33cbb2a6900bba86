/* partition: slots that are too many for the chip are scattered to ranges that are not, as two bytes each (the
 * partition pass), and then each range is counted in shared memory.
 *
 * - A hash of the slot's group of eight neighbours picks the range and maps groups onto (range, offset in the range)
 *   one to one: so sorted, clustered and rounded samples spread over the ranges, and merging touches whole pieces of 64
 *   bytes, the granularity of DRAM. A range has as many slots as a block has 32-bit counters for, and there are 32 to
 *   1024.
 * - The partition pass: a block buffers entries for each range in shared memory. A returning atomic addition to the
 *   range's cursor says where a sample goes. Every few steps the block writes the granules that are full to chunks of a
 *   pool in device memory, of which each block has a part of its own.
 * - Skewed samples would pile up in one range. They are counted at once, in a hash table of hot slots in shared memory:
 *   slots that many samples of a warp have, runs, and samples whose buffer is full. What finds no place there is added
 *   to the histogram. Where a range gets far more than its buffer holds, slots are looked up in the table before they
 *   are scattered.
 * - A small kernel orders the chunks by range. A range is cut into as many equal parts as it is times as long as a
 *   multiprocessor's fair share, so that the range that has most samples gets most blocks. A block adds the counters of
 *   a whole range to the histogram; those of parts become rows, which a last kernel adds up. Of few samples there are
 *   128 ranges or more, so that most blocks have a whole one.
 * - Slots beyond the most ranges are counted in windows, for each of which the samples are read again.
 *
 * Samples are taken in slices of one batch entry. Workspace, for a slice of n samples: 2.1 n bytes, up to 150 MB for
 * chunks begun and not full, and 8 bytes for each counter that fits on the device's multiprocessors (60 MB on an H200).
 *
 * Bytes: each sample once, and 2 written and 2 read for it; each counter of the histogram read and written for each
 * slice and window. It moves 8 bytes for a sample of 4, so that half the read roof is its limit; the partition pass
 * takes three quarters of the time. Wins where the counters no longer fit on chip, 4 times global_atomic at 2^20 slots
 * and 10 times at 2^24 (H200); loses to packed counters where those fit, and to global_atomic for a million samples or
 * fewer. Source: radix partitioning through buffers, as for joins (Polychroniou and Ross 2014). The hash, the table
 * next to the buffers, and ranges that need not be equal are ours. */
#include "cuda/strategies/partition/partition.h"

#include <math.h>

#include "cuda/host/check.h"
#include "cuda/host/device.h"
#include "cuda/jit/axis_lookups.h"
#include "cuda/jit/class.h"
#include "cuda/jit/records.h"
#include "cuda/jit/specialised.h"
#include "cuda/launch/estimates.h"
#include "cuda/launch/launch.h"
#include "cuda/launch/several_axes.h"
#include "cuda/launch/work_of_job.h"

using namespace histo::partition;

enum { SLICE, RANGE_BITS };
enum { MIN_TILE_SAMPLES = 1 << 14, FEW = 1 << 25 /* samples of a batch entry */, DEFAULT_SLICE = 1 << 29 };

/* A problem's layout, and the offsets of its workspace. */
typedef struct workplace {
    partition_layout l;
    int64_t slots, window, slice;  /* counters of a batch entry; slots, samples taken at a time */
    int64_t tiles;                 /* of a slice, at most */
    uint32_t first_floats, tables; /* words of the axes' tables in shared memory, behind all else */
    uint32_t tables_at;            /* and words before them */
    size_t scatter_shared, count_shared, bytes, ordered, tags, used, chunks, rows;
} workplace;

static uint32_t counters_of(int64_t slots, uint32_t range_bits)
{
    int64_t groups = (slots + GROUP - 1) / GROUP;
    return (uint32_t)((groups + (1 << range_bits) - 1) >> range_bits) * GROUP;
}

/* Words of the tables of first floats and of others, which are left out where they would take too much of the ranges'
 * buffers. */
static void find_tables(const histo_problem *problem, workplace *p)
{
    enum { MAX_FIRST_FLOATS = 6 << 10, MAX_TABLES = 2 << 10 };
    histo_joint joint = {};
    if (problem->naxes == 1 && problem->operands == 1 && !problem->strided) return;
    if (problem->naxes > 1) p->first_floats = histo_cuda_first_floats_of(problem, true, 0, &joint);
    if (p->first_floats > MAX_FIRST_FLOATS) {
        p->first_floats = 0;
        joint = {};
    }
    for (int a = 0; a < problem->naxes; a++) /* tables of 16 bits are too long */
        if (histo_dtype_size(problem->sampled[a]) == 2 && !joint.first_floats[a]) return;
    p->tables = histo_cuda_tables_of(problem, &joint, 0, MAX_TABLES, NULL, NULL);
}

/* Bytes of shared memory for the ranges of a block that scatters. */
static size_t scatter_room(const histo_cuda_device *device, const workplace *p)
{
    size_t each = device->shared_each / BLOCKS_EACH - HISTO_CUDA_BLOCK_RESERVE;
    if (each > device->shared_block) each = device->shared_block;
    return each - sizeof(hot_table) - (p->first_floats + p->tables) * sizeof(uint32_t);
}

static uint32_t floor_log2(uint64_t n)
{
    uint32_t log = 0;
    while (n >>= 1)
        log++;
    return log;
}

/* Buffers of the ranges, and what follows from their size. A chunk is no shorter than a buffer, and has no more entries
 * than a tile has for a range. */
static void cut_buffers(partition_layout *l, size_t room, int64_t tile_samples)
{
    enum { STATE = 3 * sizeof(uint32_t), MAX_BUFFER = 2048, MAX_GRANULE = 128, LOG_POOL = 18 };
    uint32_t bytes = (uint32_t)(room / l->ranges) - STATE;
    bytes = bytes < MAX_BUFFER ? bytes : (uint32_t)MAX_BUFFER;
    l->granule = 1u << floor_log2(bytes / 3);
    if (l->granule > MAX_GRANULE) l->granule = MAX_GRANULE;
    l->buffer = bytes / l->granule * l->granule;
    uint32_t lanes = 4 * THREADS / l->ranges;
    l->log_lanes = floor_log2(lanes < 4 ? 4 : lanes > 16 ? 16 : lanes);
    uint32_t log_entries = floor_log2((uint64_t)tile_samples) - l->range_bits, most = LOG_POOL - l->range_bits;
    const uint32_t least = floor_log2(l->buffer / sizeof(uint16_t) - 1) + 1;
    if (log_entries > most) log_entries = most;
    log_entries = log_entries < 8 ? 8 : log_entries > 11 ? 11 : log_entries;
    l->log_chunk = (log_entries < least ? least : log_entries) - floor_log2(VECTOR);
}

static size_t place_array(workplace *p, size_t bytes)
{
    size_t at = p->bytes;
    p->bytes += (bytes + 255) / 256 * 256;
    return at;
}

static workplace workplace_of(const histo_problem *problem, const int64_t *params)
{
    const histo_cuda_device *device = histo_cuda_device_of(problem->device);
    enum { MIN_BUFFER = 64, BITS_OF_FEW = 7 };
    const bool are_few = problem->samples / problem->batch < FEW;
    workplace p = {};
    p.slots = problem->slots + 1;
    find_tables(problem, &p);
    const size_t room = scatter_room(device, &p);
    uint32_t words = (uint32_t)(device->shared_block / sizeof(uint32_t)) - COUNT_WORDS,
             most = UINT16_MAX / GROUP * GROUP;
    while (word_of(most) >= words)
        most -= GROUP;
    uint32_t max_bits = MAX_RANGE_BITS;
    while ((room >> max_bits) < MIN_BUFFER)
        max_bits--;
    p.l.range_bits = (uint32_t)params[RANGE_BITS];
    if (p.l.range_bits > max_bits) p.l.range_bits = max_bits;
    if (p.l.range_bits == 0)
        for (p.l.range_bits = are_few ? (int)BITS_OF_FEW : (int)MIN_RANGE_BITS;
             p.l.range_bits < max_bits && counters_of(p.slots, p.l.range_bits) > most;)
            p.l.range_bits++;
    p.l.ranges = 1u << p.l.range_bits;
    p.l.range_mask = (p.l.ranges - 1) * GROUP;
    p.window = (int64_t)most << p.l.range_bits;
    if (p.window > p.slots) p.window = p.slots;
    p.l.counters = counters_of(p.window, p.l.range_bits);
    p.l.blocks = (uint32_t)device->multiprocessors;
    const int64_t blocks = (int64_t)BLOCKS_EACH * device->multiprocessors, least = MIN_TILE_SAMPLES;
    p.slice = problem->samples / problem->batch + 1;
    p.slice = p.slice < least ? least : p.slice < params[SLICE] ? p.slice : params[SLICE];
    p.tiles = p.slice / least + 1 < blocks ? p.slice / least + 1 : blocks;
    int64_t each = p.slice / blocks + 1;
    each = (each < least ? least : each) + 128; /* tiles are rounded up */
    cut_buffers(&p.l, room, each);
    const int64_t entries = VECTOR << p.l.log_chunk;
    p.scatter_shared = p.l.ranges * (p.l.buffer + 3 * sizeof(uint32_t)) + sizeof(hot_table);
    p.tables_at = (uint32_t)(p.scatter_shared / sizeof(uint32_t));
    p.scatter_shared += (p.first_floats + p.tables) * sizeof(uint32_t);
    p.count_shared = (COUNT_WORDS + word_of(p.l.counters) + 1) * sizeof(uint32_t);
    p.l.chunks_each = (uint32_t)((each + VECTOR * (int64_t)p.l.ranges) / entries + p.l.ranges + 1);
    size_t chunks = (size_t)p.tiles * p.l.chunks_each;
    place_array(&p, (chunks << p.l.log_chunk) * sizeof(uint4));
    p.ordered = place_array(&p, chunks * sizeof(uint2));
    p.tags = place_array(&p, chunks * sizeof(uint32_t));
    p.used = place_array(&p, (size_t)p.tiles * sizeof(uint32_t));
    p.chunks = place_array(&p, (4 * MAX_RANGES + 2) * sizeof(uint32_t));
    p.rows = place_array(&p, 2 * (size_t)p.l.blocks * p.l.counters * sizeof(uint32_t));
    return p;
}

/* The search of a sample among the edges of an axis. */
static double search_us(const histo_problem *p, int axis)
{
    enum { FEW_EDGES = 512 /* whose cells are in shared memory */ };
    const histo_lookup *l = &p->lookups[axis];
    if (!l->edges || l->table) return 0;
    const double on_chip_per_us = 1e6, cached_per_us = 2.5e5;
    return p->naxes > 1 && (l->near_f32 || l->bins <= FEW_EDGES) ? 1 / on_chip_per_us : 1 / cached_per_us;
}

/* The chance that two samples are alike, as far as a probe saw: such are counted at once. */
static double alike_of(const histo_problem *p)
{
    return pow(histo_problem_outside(p, 0).commonest, 2);
}

/* Two bytes are written and read back, in whole sectors; of few samples, half of that stays in the L2 cache. */
static double moved_bytes(const histo_problem *p)
{
    const double bytes = 4.7, cached = p->probes && p->samples / p->batch < FEW ? 0.5 : 0;
    return (1 - cached) * (1 - alike_of(p)) * bytes;
}

/* By bytes moved; clearing, adding and launching for each window of each slice. If nobody looked at the samples, or
 * many have one slot, those may take as long as Zipf's, a quarter longer than spread ones. */
static double cost_us(const histo_problem *p, int threads)
{
    (void)threads;
    static const int64_t defaults[HISTO_MAX_PARAMS] = {DEFAULT_SLICE};
    workplace place = workplace_of(p, defaults);
    double windows = (double)((place.slots + place.window - 1) / place.window);
    const double spread_bytes_per_us = 3.65e6, zipf_bytes_per_us = 3e6, alike_bytes_per_us = 4.4e6;
    const double launches_us = 35 /* for a window of a slice */, merged_per_us = 7e4, many = 0.01;
    const double alike = alike_of(p), bytes = histo_sample_bytes(p);
    const double bytes_per_us = p->probes && alike < many * many ? spread_bytes_per_us : zipf_bytes_per_us;
    double each =
        (1 - alike) * bytes / bytes_per_us + alike * bytes / alike_bytes_per_us + moved_bytes(p) / bytes_per_us;
    for (int a = 0; a < p->naxes; a++)
        each += search_us(p, a);
    if ((p->operands > p->naxes || p->strided) && !histo_cuda_expects_compiled(p)) each += histo_cuda_any_layout_us(p);
    double slices = (double)((p->samples - 1) / p->batch / place.slice + 1) * (double)p->batch;
    return slices * (launches_us * windows + (double)place.slots / merged_per_us) + windows * each * (double)p->samples;
}

static size_t workspace(const histo_problem *problem, int threads, const int64_t *params)
{
    (void)threads;
    return workplace_of(problem, params).bytes;
}

/* A pass's kernel, and samples of a thread and step; NULL: none can read the records. */
typedef struct chosen_kernel {
    const void *scatter;
    uint32_t samples;
} chosen_kernel;

static chosen_kernel kernel_of(const histo_job *job, const workplace *p, histo_cuda_work *work, histo_joint *joint)
{
    const histo_joint_reader columns = histo_cuda_joint_of(work, joint);
    const scatter_kernel given =
        columns == HISTO_NOT_JOINT ? scatter_kernel_of(work) : scatter_kernel_of_columns(columns);
    const bool by_table = columns == histo_read_pixels && !joint->by_shift;
    histo_cuda_class constants;
    histo_joint its = *joint;
    if (p->first_floats) histo_cuda_first_floats_of(job->problem, true, p->tables_at, &its);
    if ((given.is_slow || columns == histo_read_columns || by_table || job->problem->records) &&
        histo_cuda_class_of(job, work, &its, THREADS, &constants)) {
        if (p->tables)
            histo_cuda_tables_of(job->problem, &its, p->tables_at + p->first_floats, p->tables, &its, &constants);
        const void *compiled =
            histo_cuda_specialised_kernel(job, &constants, "cuda/strategies/partition/partition_scatter.cuh",
                                          "histo::partition::scatter<histo_specialised_reader<constants>>");
        if (compiled) {
            *joint = its;
            return {compiled, (uint32_t)constants.samples};
        }
    }
    if (job->problem->records) return {NULL, 0};
    if (p->first_floats && columns != HISTO_NOT_JOINT)
        histo_cuda_first_floats_of(job->problem, false, p->tables_at, joint);
    return {(const void *)given.scatter, given.samples};
}

/* One window of a job within one batch entry. */
static histo_status count_window(const histo_job *job, histo_cuda_work *work, const workplace *p, partition_layout *l)
{
    unsigned long long *counts = work->counts + work->first_entry * work->counters + l->first;
    histo_joint joint;
    const chosen_kernel kernel = kernel_of(job, p, work, &joint);
    if (!kernel.scatter) return histo_cuda_records_refuse(job);
    l->steps = l->buffer / sizeof(uint16_t) / 2 * l->ranges / (THREADS * kernel.samples); /* buffers half full */
    if (l->steps == 0) l->steps = 1;
    l->crowd = l->buffer + l->steps * THREADS * kernel.samples / CROWD * (uint32_t)sizeof(uint16_t);
    chunk_order order = {l->ranges, l->chunks_each, l->blocks, l->ordered, l->tags,
                         l->used,   l->chunks,      l->taken,  l->starts,  l->parts};
    void *scatter_args[] = {(void *)work, l, &joint}, *order_args[] = {&order}, *args[] = {l, &counts};
    dim3 tiles((unsigned)work->tiles);
    histo_status status =
        HISTO_CUDA(cudaMemsetAsync(l->chunks, 0, 2 * MAX_RANGES * sizeof *l->chunks, (cudaStream_t)job->stream),
                   "clearing counts");
    if (status == HISTO_OK)
        status = histo_cuda_launch(job, kernel.scatter, tiles, THREADS, p->scatter_shared, scatter_args);
    if (status == HISTO_OK) status = histo_cuda_launch(job, kernel_of_order(), tiles, COUNT_THREADS, 0, order_args);
    if (status == HISTO_OK)
        status = histo_cuda_launch(job, kernel_of_count(), dim3(l->ranges + l->blocks), COUNT_THREADS, p->count_shared,
                                   args);
    if (status == HISTO_OK)
        status = histo_cuda_launch(job, kernel_of_merge(), dim3(l->ranges, MERGE_BLOCKS / l->ranges), MERGE_THREADS, 0,
                                   args);
    return status;
}

static histo_status launch(const histo_job *job)
{
    workplace p = workplace_of(job->problem, job->params);
    partition_layout l = p.l;
    char *memory = (char *)job->workspace;
    l.pool = (uint4 *)memory;
    l.ordered = (uint2 *)(memory + p.ordered);
    l.tags = (uint32_t *)(memory + p.tags);
    l.used = (uint32_t *)(memory + p.used);
    l.chunks = (uint32_t *)(memory + p.chunks);
    l.taken = l.chunks + MAX_RANGES;
    l.starts = l.taken + MAX_RANGES;
    l.parts = l.starts + MAX_RANGES + 1;
    l.rows = (uint32_t *)(memory + p.rows);
    histo_status status = HISTO_OK;
    histo_job piece = *job;
    for (; piece.begin < job->end && status == HISTO_OK; piece.begin = piece.end) {
        piece.end = histo_cuda_piece_end(job, piece.begin, p.slice);
        histo_cuda_work work = histo_cuda_work_of(&piece, p.tiles, MIN_TILE_SAMPLES, p.slice);
        for (int64_t first = 0; first < p.slots && status == HISTO_OK; first += p.window) {
            l.first = (uint32_t)first;
            l.size = (uint32_t)(p.slots - first < p.window ? p.slots - first : p.window);
            status = count_window(&piece, &work, &p, &l);
        }
    }
    return status;
}

extern "C" const histo_strategy histo_cuda_partition = {
    .unsupported_reason = histo_cuda_weights_unsupported,
    .cost_us = cost_us,
    .moved_bytes = moved_bytes,
    .workspace = workspace,
    .launch = launch,
    .params = {{"slice", MIN_TILE_SAMPLES, 1 << 30, DEFAULT_SLICE,
                "samples taken at a time; the workspace holds two bytes for each"},
               {"range_bits", 0, MAX_RANGE_BITS, 0,
                "the logarithm of the number of ranges; 0: at least 32, as many as needed"}},
    .any_edges = true,
    .any_bytes = true,
    .records = true,
};
