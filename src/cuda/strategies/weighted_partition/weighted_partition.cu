/* weighted_partition: samples whose sums are too many for the chip are scattered to ranges of slots that are not, each
 * with its weight (the partition pass), and then each range is summed in shared memory, as weighted_private does.
 *
 * - A range is 2^12 to 2^14 neighbouring slots, as many as a block has words for, and there are up to 1024. Slots are
 *   numbered over the whole batch.
 * - The partition pass: in each step, a block sorts 4096 samples by range in shared memory, and writes those of a range
 *   to its chunk of a pool in device memory, of which each block has a part of its own. An entry is a slot of two bytes
 *   and a weight of float or double. Weights that neither holds exactly are added to the histogram at once.
 * - The kernel of partition orders the chunks by range. Then each block sums a run of chunks; all runs cost about the
 *   same. So the time hardly depends on how the samples lie.
 * - Before, where compiled kernels read the samples, the window pass takes the tiles whose samples lie close together,
 *   apart from flow: sorted samples, and those of narrow distributions. It sums them as weighted_private does.
 * - Slots beyond the most ranges are summed in windows, for each of which the samples are read again.
 *
 * Bytes: each sample and weight once, and outside windows 6 or 10 written and read for it; the sums of the histogram
 * for each slice and window. Wins wherever weighted_private does not fit. Source: radix partitioning (Polychroniou and
 * Ross 2014); the exact sums are ours. */
#include "cuda/strategies/weighted_partition/weighted_partition.h"

#include "cuda/host/check.h"
#include "cuda/host/device.h"
#include "cuda/jit/axis_lookups.h"
#include "cuda/jit/class.h"
#include "cuda/jit/records.h"
#include "cuda/jit/specialised.h"
#include "cuda/launch/launch.h"
#include "cuda/launch/several_axes.h"
#include "cuda/launch/work_of_job.h"
#include "cuda/strategies/weighted_partition/weighted_windows.cuh"

using namespace histo::weighted_partition;

enum { SLICE };
enum { MIN_TILE_SAMPLES = 2 * STEP, DEFAULT_SLICE = 1 << 26, WINDOW_TILES = 1 << 14 /* of a window pass, at most */ };

/* A problem's layout, and the offsets of its workspace. */
typedef struct workplace {
    weighted_layout l;
    bool narrow, squares;
    int64_t most;   /* counters of a window, at most */
    int64_t slice;  /* samples taken at a time, at most */
    int64_t blocks; /* that scatter, at most */
    int64_t chunks; /* of the pool */
    size_t scatter_shared, count_shared;
    size_t bytes, slots, ordered, tags, used, of_ranges, done;
} workplace;

static uint32_t floor_log2(uint64_t n)
{
    uint32_t log = 0;
    while (n >>= 1)
        log++;
    return log;
}

/* Does float hold all weights exactly? */
static bool is_narrow(const histo_problem *p)
{
    if (p->weights == HISTO_ABSENT) return true;
    const histo_dtype dtype = p->dtypes[p->weights];
    return dtype == HISTO_F32 || histo_dtype_size(dtype) <= 2;
}

static uint32_t planes_of(bool narrow, bool squares)
{
    using namespace histo::weights;
    if (narrow) return squares ? (uint32_t)planes<float, true>::ALL : (uint32_t)planes<float, false>::ALL;
    return squares ? (uint32_t)planes<double, true>::ALL : (uint32_t)planes<double, false>::ALL;
}

static size_t place_array(workplace *p, size_t bytes)
{
    const size_t at = p->bytes;
    p->bytes += (bytes + 255) / 256 * 256;
    return at;
}

/* Chunks that a block may need for so many samples. */
static int64_t chunks_for(const weighted_layout *l, int64_t samples)
{
    return (samples >> l->log_chunk) + l->ranges + 1;
}

static size_t scatter_shared_of(bool narrow)
{
    return narrow ? sizeof(sorted_step<float>) : sizeof(sorted_step<double>);
}

static workplace workplace_of(const histo_problem *problem, const int64_t *params)
{
    enum { MAX_LOG_SIZE = 14, LOG_OPEN = 17 /* entries of the open chunks of a block */ };
    using histo::weights::format;
    const histo_cuda_device *device = histo_cuda_device_of(problem->device);
    workplace p = {};
    p.narrow = is_narrow(problem);
    p.squares = histo_has_squares(problem->weighting);
    const size_t planes = planes_of(p.narrow, p.squares), room = device->shared_block / sizeof(uint32_t) - COSTS - 64;
    const size_t probe = 2 * (size_t)format<double, true>::ALL + 2;
    size_t words;
    for (p.l.log_size = MAX_LOG_SIZE;; p.l.log_size--) {
        words = histo_spread(1u << p.l.log_size) + 1; /* with the slot of entries that are none */
        if (words * planes <= room) break;
    }
    p.l.sums.spreads = true;
    p.l.sums.words = (uint32_t)words;
    p.l.sums.table = (uint32_t)(words * planes > probe ? words * planes : probe);
    p.count_shared = (p.l.sums.table + COSTS) * sizeof(uint32_t);
    p.scatter_shared = scatter_shared_of(p.narrow);
    const int64_t counters = problem->slots + 1;
    p.most = (int64_t)MAX_RANGES << p.l.log_size;
    if (counters <= p.most) p.most -= p.most % counters; /* whole batch entries */
    const int64_t window = counters * problem->batch < p.most ? counters * problem->batch : p.most;
    p.l.ranges = (uint32_t)(((window - 1) >> p.l.log_size) + 1);
    const uint32_t log_ranges = floor_log2(p.l.ranges) + ((p.l.ranges & (p.l.ranges - 1)) != 0);
    p.l.log_copies = floor_log2(RANKS) - log_ranges;
    if (p.l.log_copies > 5) p.l.log_copies = 5;
    p.l.log_chunk = LOG_OPEN - log_ranges > 11 ? 11 : LOG_OPEN - log_ranges;
    p.slice = problem->samples < params[SLICE] ? problem->samples : params[SLICE];
    if (p.slice < MIN_TILE_SAMPLES) p.slice = MIN_TILE_SAMPLES;
    p.blocks = p.slice / MIN_TILE_SAMPLES + 1;
    const int64_t resident = (int64_t)BLOCKS_EACH * device->multiprocessors;
    if (p.blocks > resident) p.blocks = resident;
    const int64_t each = p.slice / p.blocks + MIN_TILE_SAMPLES; /* tiles are rounded up */
    p.chunks = p.blocks * chunks_for(&p.l, each);
    const size_t entries = (size_t)p.chunks << p.l.log_chunk;
    place_array(&p, entries * (p.narrow ? sizeof(float) : sizeof(double)));
    p.slots = place_array(&p, entries * sizeof(uint16_t));
    p.ordered = place_array(&p, (size_t)p.chunks * sizeof(uint2));
    p.tags = place_array(&p, (size_t)p.chunks * sizeof(uint32_t));
    p.used = place_array(&p, (size_t)p.blocks * sizeof(uint32_t));
    p.of_ranges = place_array(&p, (3 * MAX_RANGES + 1) * sizeof(uint32_t));
    p.done = place_array(&p, WINDOW_TILES * sizeof(uint32_t));
    return p;
}

static const char *unsupported_reason(const histo_problem *problem)
{
    if (problem->weighting == HISTO_UNWEIGHTED) return "it sums weights: others count faster";
    const size_t most = histo_cuda_device_of(problem->device)->shared_block;
    return scatter_shared_of(is_narrow(problem)) > most ? "a block of this GPU has too little shared memory" : NULL;
}

static double cost_us(const histo_problem *p, int threads)
{
    (void)threads;
    static const int64_t defaults[HISTO_MAX_PARAMS] = {DEFAULT_SLICE};
    const workplace place = workplace_of(p, defaults);
    const double counters = ((double)p->slots + 1) * (double)p->batch, samples = (double)p->samples;
    const double windows = ceil(((double)p->slots + 1) / (double)place.most);
    const double slices = ceil(fmax(samples / (double)place.slice, counters / (double)place.most / windows));
    const double bytes_per_us = 2.8e6, sums_per_us = 4.5e5, squares_per_us = 3e5, merged_per_us = 4e4;
    const double any_per_us = 4e4;                    /* samples that built-in kernels read, one by one */
    const double launches_us = 40;                    /* the kernels for a window of a slice */
    const double entry_bytes = place.narrow ? 6 : 10; /* a weight and its slot, written and read back */
    const double bytes = windows * histo_sample_bytes(p) + 2 * entry_bytes;
    double each = bytes / bytes_per_us + (place.squares ? 1 / squares_per_us : 1 / sums_per_us);
    if (!histo_cuda_expects_compiled(p)) each += windows / any_per_us;
    const double steps_us = windows * (double)p->batch / 100; /* a batch entry is a step of a block at least */
    return slices * windows * launches_us + steps_us + samples * each +
           fmin(slices * counters, samples) / merged_per_us;
}

static size_t workspace(const histo_problem *problem, int threads, const int64_t *params)
{
    (void)threads;
    return workplace_of(problem, params).bytes;
}

/* ---- Compiled kernels ---- */

/* A kernel with tables of axes behind the words that it needs. */
typedef struct compiled {
    const void *kernel; /* NULL if there is none */
    histo_joint joint;
    size_t shared;
} compiled;

static compiled compile(const histo_job *job, histo_cuda_work *work, int threads, size_t words, const char *header,
                        const char *name)
{
    enum { MAX_TABLES = 1 << 12 /* words */ };
    const histo_problem *problem = job->problem;
    const size_t all = histo_cuda_device_of(problem->device)->shared_block / sizeof(uint32_t);
    if (words > all) return {};
    const uint32_t most = all - words < MAX_TABLES ? (uint32_t)(all - words) : (uint32_t)MAX_TABLES;
    histo_joint first_floats = {}, joint = {};
    uint32_t tables = histo_cuda_first_floats_of(problem, true, 0, NULL);
    if (tables <= most) {
        histo_cuda_first_floats_of(problem, true, 0, &first_floats);
        histo_cuda_first_floats_of(problem, true, (uint32_t)words, &joint);
    } else {
        tables = 0;
    }
    histo_cuda_class constants;
    if (!histo_cuda_class_of(job, work, &joint, threads, &constants)) return {};
    tables += histo_cuda_tables_of(problem, &first_floats, (uint32_t)words + tables, most - tables, &joint, &constants);
    const void *kernel = histo_cuda_specialised_kernel(job, &constants, header, name);
    return {kernel, joint, (words + tables) * sizeof(uint32_t)};
}

/* A kernel that scatters: compiled for such jobs, or the general one. */
static compiled scatter_of(const histo_job *job, histo_cuda_work *work, const workplace *p)
{
    static const char *const kernels[] = {"histo::weighted_partition::scatter<histo::weighted_partition::in_vectors<"
                                          "histo_specialised_reader<constants>>, double>",
                                          "histo::weighted_partition::scatter<histo::weighted_partition::in_vectors<"
                                          "histo_specialised_reader<constants>>, float>"};
    const compiled it = compile(job, work, THREADS, p->scatter_shared / sizeof(uint32_t),
                                "cuda/strategies/weighted_partition/weighted_scatter.cuh", kernels[p->narrow]);
    return it.kernel || job->problem->records
               ? it
               : compiled{(const void *)kernel_of_scatter(p->narrow), {}, p->scatter_shared};
}

/* Sum the tiles whose samples lie close together, and tell the layout which these are. */
static histo_status sum_windows(const histo_job *job, const histo_cuda_work *tiles, const workplace *p,
                                weighted_layout *l)
{
    static const char *const kernels[2][2] = {
        {"histo::weighted_partition::count_windows<histo_specialised_reader<constants>, false, double>",
         "histo::weighted_partition::count_windows<histo_specialised_reader<constants>, true, double>"},
        {"histo::weighted_partition::count_windows<histo_specialised_reader<constants>, false, float>",
         "histo::weighted_partition::count_windows<histo_specialised_reader<constants>, true, float>"}};
    enum { THREADS_EACH = 1024, LEAST_CELLS = 8, ROOM_OF_TABLES = 1 << 12, FLOW = window_slots::FLOW };
    enum { LEAST_SAMPLES = 1 << 15 /* of a tile: in fewer, looking for a window takes longer than it can save */ };
    if ((job->end - job->begin) / tiles->tiles < LEAST_SAMPLES) return HISTO_OK;
    const histo_cuda_device *device = histo_cuda_device_of(job->problem->device);
    const size_t planes = planes_of(p->narrow, p->squares), slots = (size_t)job->problem->slots;
    const size_t room = device->shared_block / sizeof(uint32_t) - ROOM_OF_TABLES - 64;
    const size_t most = room / planes / 34 * 32 - FLOW; /* fewer than 34 words hold 32 slots (histo_spread) */
    windows of = {};
    of.log_cell = floor_log2(most / LEAST_CELLS);
    of.cells = (uint32_t)(most >> of.log_cell);
    of.all_cells = (uint32_t)(slots >> of.log_cell) + 1;
    if (tiles->tiles > WINDOW_TILES || of.all_cells + window_slots::FOUND > room) return HISTO_OK;
    of.done = (uint32_t *)((char *)job->workspace + p->done);
    of.sums.spreads = true;
    of.sums.words = (uint32_t)histo_spread((of.cells << of.log_cell) + FLOW - 1) + 1;
    const size_t cells = of.all_cells + window_slots::FOUND, words = of.sums.words * planes;
    of.sums.table = (uint32_t)(words > cells ? words : cells);
    histo_cuda_work work = *tiles;
    compiled it = compile(job, &work, THREADS_EACH, of.sums.table,
                          "cuda/strategies/weighted_partition/weighted_windows.cuh", kernels[p->narrow][p->squares]);
    if (!it.kernel) return HISTO_OK;
    const int64_t blocks = work.tiles < device->multiprocessors ? work.tiles : device->multiprocessors;
    void *args[] = {&work, &of, &it.joint};
    l->done = of.done;
    return histo_cuda_launch(job, it.kernel, dim3((unsigned)blocks), THREADS_EACH, it.shared, args);
}

/* A window of a piece of a job. */
static histo_status count_window(const histo_job *job, histo_cuda_work *work, const workplace *p, weighted_layout *l,
                                 int64_t blocks)
{
    histo::chunks::chunk_order order = {l->ranges, l->chunks_each,         0,         l->ordered, l->tags, l->used,
                                        l->chunks, l->chunks + MAX_RANGES, l->starts, NULL};
    compiled scatter = scatter_of(job, work, p);
    if (!scatter.kernel) return histo_cuda_records_refuse(job);
    void *args[] = {work, l, &scatter.joint}, *order_args[] = {&order};
    const dim3 grid((unsigned)blocks), all((unsigned)histo_cuda_device_of(job->problem->device)->multiprocessors);
    histo_status status =
        HISTO_CUDA(cudaMemsetAsync(l->chunks, 0, 2 * MAX_RANGES * sizeof *l->chunks, (cudaStream_t)job->stream),
                   "clearing counts");
    if (status == HISTO_OK) status = histo_cuda_launch(job, scatter.kernel, grid, THREADS, scatter.shared, args);
    if (status == HISTO_OK)
        status = histo_cuda_launch(job, histo::chunks::kernel_of_order(), grid, COUNT_THREADS, 0, order_args);
    if (status == HISTO_OK)
        status = histo_cuda_launch(job, (const void *)kernel_of_count(p->narrow, p->squares), all, COUNT_THREADS,
                                   p->count_shared, args);
    return status;
}

/* The work of the job from its begin on: as many samples as the pool has chunks for. */
static histo_cuda_work work_that_fits(histo_job *job, const workplace *p, weighted_layout *l, int64_t *blocks)
{
    for (;; job->end -= (job->end - job->begin) / 2) {
        const histo_cuda_work work = histo_cuda_work_of(job, p->blocks, MIN_TILE_SAMPLES, p->slice);
        const int64_t longest = work.samples_each < job->iter.per_batch ? work.samples_each : job->iter.per_batch;
        *blocks = work.tiles < p->blocks ? work.tiles : p->blocks;
        l->chunks_each = (uint32_t)chunks_for(&p->l, (work.tiles + *blocks - 1) / *blocks * longest);
        if (*blocks * l->chunks_each <= p->chunks) return work;
    }
}

static histo_status launch(const histo_job *job)
{
    const workplace p = workplace_of(job->problem, job->params);
    weighted_layout l = p.l;
    char *memory = (char *)job->workspace;
    l.weights = memory;
    l.slots = (uint16_t *)(memory + p.slots);
    l.ordered = (uint2 *)(memory + p.ordered);
    l.tags = (uint32_t *)(memory + p.tags);
    l.used = (uint32_t *)(memory + p.used);
    l.chunks = (uint32_t *)(memory + p.of_ranges);
    l.starts = l.chunks + 2 * MAX_RANGES;
    const int64_t counters = job->problem->slots + 1, each = job->iter.per_batch;
    const int64_t entries = counters < p.most ? p.most / counters : 1;
    histo_status status = HISTO_OK;
    histo_job piece = *job;
    for (; piece.begin < job->end && status == HISTO_OK; piece.begin = piece.end) {
        const int64_t entry = piece.begin / each;
        piece.end = job->end < piece.begin + p.slice ? job->end : piece.begin + p.slice;
        if (piece.end > (entry + entries) * each) piece.end = (entry + entries) * each;
        int64_t blocks;
        histo_cuda_work work = work_that_fits(&piece, &p, &l, &blocks);
        l.done = NULL;
        status = sum_windows(&piece, &work, &p, &l);
        const int64_t first = entry * counters, end = first + (((piece.end - 1) / each) - entry + 1) * counters;
        for (l.first = first; l.first < end && status == HISTO_OK; l.first += p.most) {
            l.size = (uint32_t)(end - l.first < p.most ? end - l.first : p.most);
            l.ranges = ((l.size - 1) >> l.log_size) + 1;
            status = count_window(&piece, &work, &p, &l, blocks);
        }
    }
    return status;
}

extern "C" const histo_strategy histo_cuda_weighted_partition = {
    .unsupported_reason = unsupported_reason,
    .cost_us = cost_us,
    .workspace = workspace,
    .launch = launch,
    .params = {{"slice", MIN_TILE_SAMPLES, 1 << 30, DEFAULT_SLICE,
                "samples taken at a time; the workspace holds 6 or 10 bytes for each"}},
    .any_edges = true,
    .any_bytes = true,
    .records = true,
};
