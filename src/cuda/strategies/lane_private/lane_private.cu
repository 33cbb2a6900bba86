/* lane_private: each block counts in copies of all counters in shared memory. A copy belongs to a few lanes of every
 * warp and to as many banks, so lanes with different copies cannot conflict, whatever the samples are.
 *
 * - As many copies as fit, up to 32, leaving the L1 cache the room through which samples come: 32 copies up to 1024
 *   bins, where each lane has its own bank, down to one. Where many lanes share a copy, its words are spread over the
 *   banks, so that bins a power of two apart use different ones.
 * - 8-bit samples are counted by their 256 values; the merge turns values into slots.
 * - Counters have 32 bits, and a tile at most 2^30 samples, so no counter can wrap. The hardware combines lanes that
 *   add 1 to the same counter.
 * - The samples of the next step are loaded before those of this step are counted.
 * - A kernel is a reader, a lookup (lane_lookups.cuh) and a counter. The tables of lookups are copied to shared memory
 *   if they fit. The first of the paths below that applies to a job picks its kernel.
 *
 * Bytes: each sample once. Bound: memory bandwidth; instructions for f32 on arbitrary edges, about 25 for each sample;
 * for 8-bit samples, one shared-memory atomic per lane and clock. Wins wherever all slots fit a block, about 56 000.
 * Loses on a few samples to kernels without a merge, as each block clears and merges all counters.
 * Source: the bank-per-thread layout of Podlozhnyuk 2007 (histogram64) and Ross 2014 (copies), with 32-bit counters
 * shared by all warps of a block; copies over groups of banks are ours. */
#include <math.h>
#include <string.h>

#include "cuda/device/block_tile.cuh"
#include "cuda/few_samples/contiguous.h"
#include "cuda/host/device.h"
#include "cuda/jit/axis_lookups.h"
#include "cuda/jit/class.h"
#include "cuda/jit/records.h"
#include "cuda/jit/specialised.h"
#include "cuda/launch/estimates.h"
#include "cuda/launch/images.h"
#include "cuda/launch/launch.h"
#include "cuda/launch/prepared.h"
#include "cuda/launch/several_axes.h"
#include "cuda/launch/work_of_job.h"
#include "cuda/memory/accumulators.h"
#include "cuda/strategies/lane_private/byte_pixels.h"
#include "cuda/strategies/lane_private/lane_columns.h"
#include "cuda/strategies/lane_private/lane_kernels.h"

using namespace histo::lane_private;

enum { LANES, BLOCKS, THREADS };
enum { DEFAULT_THREADS = 1024 };
/* Samples of a tile, where there is a choice; and so few in all that more blocks are worth more merges. */
enum { MIN_TILE = 1 << 14, MIN_TILE_OF_FEW = 1 << 12, FEW = 1 << 22 };
enum { UNSPREAD_LANES = 4 /* of a copy: so few may meet in one bank without loss */ };
/* Bytes of counters, and of counters and a table, that leave enough to the L1 cache. */
enum { MAX_COUNTERS = 136 << 10, LEAVES_CACHE = 194 << 10 };

/* ---- The shape of a launch ---- */

/* The fastest lookup for an axis of contiguous samples. *fixed: its fixed point, if that is it. */
static lookup_kind lookup_for(const histo_job *job, histo_fixed_point *fixed)
{
    const histo_lookup *l = &job->problem->lookups[0];
    const histo_dtype dtype = job->problem->dtypes[0];
    const histo_pow2 *pow2 = &l->pow2;
    bool is_last_value = pow2->high == (dtype == HISTO_I32 ? (uint32_t)INT32_MAX : UINT32_MAX);
    if (histo_dtype_size(dtype) == 1) return BY_VALUE;
    if (pow2->is && !(pow2->closed && (pow2->shift || is_last_value))) return BY_POW2;
    if (histo_dtype_size(dtype) == 2) {
        const histo_fixed_point *its = l->kind == HISTO_UNIFORM ? histo_cuda_fixed_point_of(job) : NULL;
        if (its) *fixed = *its;
        return its ? BY_FIXED_POINT : BY_ANY;
    }
    if (dtype == HISTO_F32 && l->near_f32) return BY_FIRST_FLOATS;
    if (l->kind == HISTO_UNIFORM) return BY_NEAREST;
    if (l->kind == HISTO_SEARCH && l->near > 0) return histo_dtype_size(dtype) == 8 ? BY_NEAR : BY_ANY;
    return !l->cells.entry ? BY_ANY : l->cells.by_bits ? BY_BITS : BY_LINEAR;
}

typedef struct lane_launch {
    counter_layout l;
    int threads;   /* 0: it does not fit */
    size_t shared; /* bytes */
    int64_t blocks;
} lane_launch;

static int64_t min_tile(const histo_problem *p)
{
    return p->samples < FEW ? MIN_TILE_OF_FEW : MIN_TILE;
}

/* How many blocks share a multiprocessor. Where batch entries are small, several: some merge while others count. Their
 * counters, of so many words at least, must fit. */
static int sharing_of(const histo_problem *p, int threads, int64_t words)
{
    enum { MIN_THREADS = 128, VECTORS = 8 /* of a thread */, VECTOR = 16 /* bytes */ };
    const double bytes = (double)p->samples / (double)p->batch * (double)histo_sample_bytes(p);
    int sharing = 1;
    while (p->batch > 1 && threads / (2 * sharing) >= MIN_THREADS &&
           bytes < (double)threads / sharing * VECTORS * VECTOR &&
           words * 2 * sharing * (int64_t)sizeof(unsigned int) <= MAX_COUNTERS)
        sharing *= 2;
    return sharing;
}

/* first_floats: words of the tables of first floats. max_threads: of a block. */
static lane_launch shape_with(const histo_problem *p, const int64_t *params, lookup_kind by, int64_t counters,
                              int64_t first_floats, int max_threads)
{
    const histo_cuda_device *device = histo_cuda_device_of(p->device);
    const histo_lookup *lookup = &p->lookups[0];
    int64_t room = (int64_t)(device->shared_block / sizeof(unsigned int)), table = 0;
    if (by == BY_LINEAR || by == BY_BITS) table = lookup->cells.words;
    if (by == BY_FIRST_FLOATS) table = histo_first_floats_words(lookup);
    if (first_floats) table = first_floats;
    lane_launch shape = {{0, false, 0, 1, UINT32_MAX}, 0, 0, 0};
    shape.threads = (int)params[THREADS] / WARP * WARP;
    if (shape.threads > max_threads) shape.threads = max_threads;
    const bool by_default = !params[LANES] && !params[BLOCKS] && params[THREADS] == DEFAULT_THREADS;
    const int sharing = by_default && by != BY_VALUE ? sharing_of(p, shape.threads, counters + table) : 1;
    const int threads = shape.threads / sharing / WARP * WARP;
    shape.threads = 0;
    int64_t max_words = MAX_COUNTERS / sharing;
    int64_t left = LEAVES_CACHE / sharing - table * (int64_t)sizeof(unsigned int);
    max_words = params[LANES] ? room : (max_words < left ? max_words : left) / (int64_t)sizeof(unsigned int);
    if (counters > room) return shape;
    if (max_words > room - table) max_words = room - table;
    /* More copies than a block has samples would only be cleared and merged. */
    if (!params[LANES] && p->samples < FEW && max_words > min_tile(p)) max_words = min_tile(p);
    if (sharing > 1 && max_words > p->samples / p->batch) max_words = p->samples / p->batch;
    shape.l.log_copies = 5;
    int64_t words;
    for (;; shape.l.log_copies--) {
        shape.l.spreads = WARP >> shape.l.log_copies > UNSPREAD_LANES;
        words = (shape.l.spreads ? (int64_t)histo_spread((uint32_t)counters - 1) + 1 : counters) << shape.l.log_copies;
        bool fits = words <= max_words && WARP >> shape.l.log_copies >= params[LANES];
        if (fits || by == BY_VALUE || shape.l.log_copies == 0) break; /* by value, each lane always has a copy */
    }
    if (words + table > room) return shape;
    shape.l.words = (uint32_t)words;
    if (by == BY_POW2 && lookup->pow2.closed) shape.l.moved = (uint32_t)lookup->bins + 1;
    shape.shared = (size_t)(words + table) * sizeof(unsigned int);
    shape.threads = threads;
    int64_t resident = histo_cuda_resident(p->device, shape.threads, shape.shared);
    int64_t by_registers = device->multiprocessors * (by == BY_VALUE ? 2 : max_threads / shape.threads);
    shape.blocks = by_registers < resident ? by_registers : resident;
    if (params[BLOCKS]) shape.blocks = params[BLOCKS];
    return shape;
}

static lane_launch shape_of(const histo_problem *p, const int64_t *params, lookup_kind by)
{
    return shape_with(p, params, by, by == BY_VALUE ? (int64_t)VALUES : p->slots + 1,
                      p->naxes > 1 ? histo_cuda_first_floats_of(p, false, 0, NULL) : 0,
                      max_threads_of(by, histo_dtype_size(p->dtypes[0])));
}

static const char *unsupported_reason(const histo_problem *problem)
{
    static const int64_t defaults[HISTO_MAX_PARAMS] = {0, 0, DEFAULT_THREADS};
    if (problem->weighting != HISTO_UNWEIGHTED) return histo_cuda_weights_unsupported(problem);
    /* Only a compiled kernel counts records, and has tables of first floats beside the counters. */
    const int64_t first_floats = problem->records ? histo_cuda_first_floats_of(problem, true, 0, NULL) : 0;
    const bool fits = problem->records
                          ? shape_with(problem, defaults, BY_ANY, problem->slots + 2, first_floats, 1024).threads
                          : shape_of(problem, defaults, BY_ANY).threads;
    return fits ? NULL : "too many bins: their counters must fit a block";
}

/* Words that tables may take in shared memory beside so many counters. */
static uint32_t most_tables_of(const histo_problem *p, int64_t counters)
{
    enum { MAX_TABLES = 48 << 10 };
    const int64_t left = (int64_t)(histo_cuda_device_of(p->device)->shared_block / sizeof(unsigned int)) - counters;
    return p->samples < FEW || left < 0 ? 0 : left < MAX_TABLES ? (uint32_t)left : (uint32_t)MAX_TABLES;
}

static double cost_us(const histo_problem *p, int threads)
{
    (void)threads;
    const bool is_byte = histo_dtype_size(p->dtypes[0]) == 1;
    /* Few kernels that are not compiled for the layout take interleaved samples; the others are long. */
    const bool is_general = !histo_cuda_expects_compiled(p), is_searched = p->lookups[0].edges && !p->lookups[0].table;
    const bool is_apart = is_general && p->apart && (p->operands > 1 || is_searched);
    const double general_us = !is_general ? 0 : p->strided || p->operands > p->naxes ? 12 : 2.5;
    const bool in_rows = p->naxes == 1 && !p->strided && !is_apart && p->weights == HISTO_ABSENT &&
                         (p->where == HISTO_ABSENT || is_byte) &&
                         (p->mask == HISTO_ABSENT || histo_dtype_size(p->dtypes[p->mask]) == 1);
    enum { FEW_SLOTS = 1 << 13 }; /* of which a block has several copies */
    const bool by_affine = in_rows && p->lookups[0].affine.is && p->slots <= FEW_SLOTS;
    const bool by_pattern = in_rows && !is_byte && !by_affine && p->lookups[0].table && !p->lookups[0].pow2.is &&
                            !histo_cuda_has_fixed_point(&p->lookups[0], p->dtypes[0]);
    const double batch = (double)p->batch, blocks = HISTO_REFERENCE_MULTIPROCESSORS;
    const double entry_us = 3.0 / blocks; /* a block takes 3 us to begin and to leave one */
    const double bytes_per_us = 4.4e6, merged_per_us = 5e5;
    double sample_us = histo_cuda_lookup_us(p);
    const double merged_us = (double)p->slots * fmax(batch, blocks) / merged_per_us;
    const double affine_per_us = 1.25e6;
    if (by_affine) {
        sample_us = 1 / affine_per_us;
    } else if (by_pattern && histo_cuda_expects_compiled(p) &&
               histo_cuda_tables_of(p, NULL, 0, most_tables_of(p, p->slots + 2), NULL, NULL)) {
        const double on_chip_per_us = 8.5e5; /* by first floats, or by a copy of the table in shared memory */
        sample_us = 1 / on_chip_per_us;
    } else if (by_pattern) {
        /* Of pairs of lanes, those that read one entry of the table, of which the L1 cache holds a part. */
        const double uncached_per_us = 1.6e5, cached_per_us = 8e5, alike_per_us = 2e6, cached_entries = 1 << 14;
        const double alike = pow(histo_problem_fraction(p, 1), 2);
        const bool is_uncached = p->lookups[0].hi - p->lookups[0].lo > cached_entries;
        sample_us = (1 - alike) / (is_uncached ? uncached_per_us : cached_per_us) + alike / alike_per_us;
    }
    /* Kernels that are compiled for the layout, for each axis; those that are built in: of several axes. */
    const double compiled_per_us = 1.6e6, several_per_us = 9e5;
    if (!in_rows && histo_cuda_expects_compiled(p))
        sample_us += p->naxes / compiled_per_us;
    else if (!in_rows && p->naxes > 1 && p->operands == p->naxes && !p->strided)
        sample_us = 1 / several_per_us;
    else if (!in_rows)
        sample_us += histo_cuda_any_layout_us(p);
    const bool searches = p->lookups[0].edges && !p->lookups[0].table && p->lookups[0].near == 0;
    const double launch_us = 5, launch_any_us = 7.5, launch_search_us = 7; /* of so much cold code; of cold edges */
    const double launch = !in_rows ? launch_any_us + general_us : searches ? launch_search_us : launch_us;
    const double us = launch + (double)p->samples * fmax(histo_sample_bytes(p) / bytes_per_us, sample_us) + merged_us;
    if (!in_rows || p->operands > 1) return us + batch * entry_us;
    const double few_us = fmin(histo_few_contiguous_us(p), is_byte && !p->ragged ? histo_warp_images_us(p) : INFINITY);
    return fmin(us + batch * entry_us, few_us);
}

/* ---- Paths: which kernel counts a job ---- */

/* A job, and what the paths find out about it: each `applies` fills in what its `launch` needs. */
typedef struct request {
    const histo_job *job;
    bool are_pixels;
    int period; /* bytes of a pixel */
    histo_pixels pixels;
    few_args few;
    lane_launch shape;    /* for any lookup … */
    histo_cuda_work work; /* … and tiles for it */
    histo_images images;
    histo_joint joint;
    histo_joint_reader joint_reader;
    const void *compiled; /* a kernel made for such jobs, with the shape, the work and `joint` */
    columns_job columns;
} request;

typedef struct path {
    const char *name;
    bool (*applies)(request *r);
    histo_status (*launch)(request *r);
    bool any_bytes; /* of swapped samples and masks of bits, too */
    bool records;   /* of records, too */
} path;

static bool is_small_image(request *r)
{
    r->are_pixels = histo_pixels_describe(r->job, &r->pixels, &r->period);
    return r->are_pixels && histo_is_small_image(r->job, &r->pixels, r->period, r->job->params[THREADS]);
}

static histo_status launch_small_image(request *r)
{
    return histo_small_image_launch(r->job, &r->pixels, r->job->params[BLOCKS]);
}

static bool by_default(const request *r)
{
    const int64_t *params = r->job->params;
    return !params[LANES] && !params[BLOCKS] && params[THREADS] == DEFAULT_THREADS;
}

static bool are_tile_images(request *r)
{
    return r->are_pixels && by_default(r) && histo_are_tile_images(r->job, &r->pixels, r->period);
}

static histo_status launch_tile_images(request *r)
{
    return histo_tile_images_launch(r->job, &r->pixels);
}

static bool are_warp_images(request *r)
{
    return r->are_pixels && by_default(r) && histo_are_warp_images(r->job, &r->pixels, r->period);
}

static histo_status launch_warp_images(request *r)
{
    return histo_warp_images_launch(r->job, &r->pixels);
}

/* Many batch entries, none of which is small enough for blocks that load all samples before they count them? */
static bool are_medium(const histo_job *job)
{
    enum { MEDIUM = 16 << 10 /* bytes of an entry */, MANY = 8 << 20 };
    const histo_strided_iter *iter = &job->iter;
    const double bytes = (double)(job->end - job->begin) * (double)histo_dtype_size(job->problem->dtypes[0]);
    return iter->batch > 1 && !iter->offsets && bytes > MANY && bytes > (double)iter->batch * MEDIUM;
}

static bool are_few(request *r)
{
    return by_default(r) && !are_medium(r->job) && histo_few_contiguous_describe(r->job, false, &r->few);
}

static histo_status launch_few(request *r)
{
    return histo_few_contiguous_launch(r->job, &r->few);
}

static void set_any(request *r)
{
    r->shape = shape_of(r->job->problem, r->job->params, BY_ANY);
    r->work = histo_cuda_work_of(r->job, r->shape.blocks, min_tile(r->job->problem), HISTO_MAX_TILE);
}

static bool are_pixels(request *r)
{
    return r->are_pixels;
}

static histo_status launch_pixels(request *r)
{
    const int64_t *params = r->job->params;
    return histo_pixels_launch(r->job, &r->pixels, r->period, params[THREADS] / WARP * WARP, params[BLOCKS]);
}

static bool is_contiguous(request *r)
{
    set_any(r);
    return histo_cuda_reader_of(&r->work) != HISTO_READ_ANY;
}

static contiguous_kernel *kernel_for_contiguous(histo_dtype dtype, lookup_kind by)
{
    const size_t size = histo_dtype_size(dtype);
    const contiguous_row *row = dtype == HISTO_F32   ? contiguous_f32
                                : dtype == HISTO_F64 ? contiguous_f64
                                : size == 1          ? contiguous_8
                                : size == 2          ? contiguous_16
                                : size == 4          ? contiguous_32
                                                     : contiguous_64;
    while (row->dtype != dtype)
        row++;
    return row->kernel[by];
}

/* Samples of one batch entry are cut into few equal tiles, each for a team of blocks, none of which may have more
 * blocks than steps; those of several entries into a tile for each block. */
static histo_status launch_contiguous(request *r)
{
    const histo_job *job = r->job;
    const histo_problem *p = job->problem;
    histo_fixed_point fixed = {};
    lookup_kind by = lookup_for(job, &fixed);
    if (!shape_of(p, job->params, by).threads) by = p->lookups[0].kind == HISTO_UNIFORM ? BY_NEAREST : BY_ANY;
    lane_launch shape = shape_of(p, job->params, by);
    int64_t each = job->iter.per_batch, n = job->end - job->begin;
    bool one_entry = !job->iter.offsets && job->begin / each == (job->end - 1) / each;
    histo_cuda_work work = histo_cuda_work_of(job, one_entry ? n / HISTO_MAX_TILE + 1 : shape.blocks,
                                              one_entry ? 1 : MIN_TILE, HISTO_MAX_TILE);
    work.fixed = fixed;
    const int64_t size = (int64_t)histo_dtype_size(p->dtypes[0]);
    int64_t step = shape.threads * vectors_of_step(by) * 16 / size;
    int64_t max_team = one_entry ? work.samples_each / step + 1 : 1, team = shape.blocks / work.tiles;
    shape.l.team = (uint32_t)(team < 1 ? 1 : team < max_team ? team : max_team);
    if (one_entry && work.tiles == 1) {
        int64_t entry = work.first_entry;
        shape.l.only = job->iter.base[0] + (job->begin - entry * each) * size;
        shape.l.length = (uint32_t)n;
        shape.l.entry = entry;
        for (int d = job->iter.ndim - 2; d >= 0; d--) {
            shape.l.only += entry % job->iter.shape[d] * job->iter.strides[0][d];
            entry /= job->iter.shape[d];
        }
    }
    void *args[] = {&work, &shape.l};
    int64_t wanted = work.tiles * shape.l.team;
    dim3 grid((unsigned)(wanted < shape.blocks ? wanted : shape.blocks / shape.l.team * shape.l.team));
    return histo_cuda_launch(job, (const void *)kernel_for_contiguous(p->dtypes[0], by), grid, shape.threads,
                             shape.shared, args);
}

/* All samples of the view, of 16 bits and more, in rows of images. */
static bool are_images(request *r)
{
    const histo_problem *p = r->job->problem;
    const histo_strided_iter *iter = &r->job->iter;
    int run = iter->ndim - 1, size = (int)histo_dtype_size(p->dtypes[0]);
    bool all = r->job->begin == 0 && r->job->end == iter->batch * iter->per_batch;
    bool is_run = iter->shape[run] == 1 || iter->strides[0][run] == size;
    return size > 1 && all && is_run && p->where == HISTO_ABSENT &&
           histo_cuda_images_of(r->job, -1, 0, iter->shape[run] * size, &r->images) &&
           (((int64_t)(uintptr_t)r->images.samples | r->images.strides_or) & (size - 1)) == 0;
}

typedef struct images_context {
    const histo_job *job;
    const images_row *row;
    lookup_kind by;
    histo_fixed_point fixed;
    lane_launch shape;
} images_context;

static histo_status launch_cut_images(void *context, const histo_images *in)
{
    const images_context *images = (const images_context *)context;
    images_args a = {histo_cuda_work_of(images->job, 1, MIN_TILE, HISTO_MAX_TILE), images->shape.l, *in};
    a.work.fixed = images->fixed;
    void *args[] = {&a};
    images_kernel *kernel = images->row->kernel[images->by][in->rows > 1][in->mask != NULL];
    return histo_cuda_launch(images->job, (const void *)kernel, dim3(in->teams * in->team), images->shape.threads,
                             images->shape.shared, args);
}

static histo_status launch_images(request *r)
{
    const histo_problem *p = r->job->problem;
    const histo_dtype dtype = p->dtypes[0];
    const size_t size = histo_dtype_size(dtype);
    const images_row *row = dtype == HISTO_F32   ? images_f32
                            : dtype == HISTO_F64 ? images_f64
                            : size == 2          ? images_16
                            : size == 4          ? images_32
                                                 : images_64;
    while (row->dtype != dtype)
        row++;
    histo_fixed_point fixed = {};
    lookup_kind by = lookup_for(r->job, &fixed);
    /* Where slots have moved, work.slots, which counts what a mask leaves out, would have to move too. */
    bool moves_masked = by == BY_POW2 && p->lookups[0].pow2.closed && r->images.mask;
    if (moves_masked || !row->kernel[by][0][0] || !shape_of(p, r->job->params, by).threads) by = BY_ANY;
    images_context context = {r->job, row, by, fixed, shape_of(p, r->job->params, by)};
    return histo_cuda_images_launch(&r->images, context.shape.threads, context.shape.blocks, context.shape.l.words / 8,
                                    launch_cut_images, &context);
}

static histo_status launch_strided(request *r, const void *kernel)
{
    void *args[] = {&r->work, &r->shape.l, &r->joint};
    dim3 grid((unsigned)(r->work.tiles < r->shape.blocks ? r->work.tiles : r->shape.blocks));
    return histo_cuda_launch(r->job, kernel, grid, r->shape.threads, r->shape.shared, args);
}

static bool are_columns(request *r)
{
    return columns_describe(r->job, &r->columns);
}

static histo_status launch_columns(request *r)
{
    return columns_launch(r->job, &r->columns);
}

static const void *kernel_for(const histo_job *job, const histo_cuda_class *constants)
{
    return histo_cuda_specialised_kernel(job, constants, "cuda/strategies/lane_private/lane_strided.cuh",
                                         "histo::lane_private::count_joint<histo_specialised_reader<constants>, "
                                         "histo::lane_private::specialised_counter<constants>>");
}

/* What this thread found out about its last job for a compiled kernel. Fills of one layout often follow each other, and
 * describing their class takes longer than the rest of a fill. */
typedef struct memory {
    uint64_t number; /* of the plan */
    histo_strided_iter iter;
    int64_t begin, end, params[HISTO_MAX_PARAMS];
    double where_lo, where_hi;
    histo_cuda_class constants;
    lane_launch shape;
    histo_cuda_work work;
    histo_joint joint;
} memory;

static thread_local memory last_job;

static void remember(const request *r, const histo_cuda_class *constants)
{
    static uint64_t numbers;
    const histo_job *job = r->job;
    histo_cuda_prepared *prepared = (histo_cuda_prepared *)job->prepared;
    uint64_t number = __atomic_load_n(&prepared->number, __ATOMIC_ACQUIRE);
    if (!number) {
        const uint64_t next = __atomic_add_fetch(&numbers, 1, __ATOMIC_RELAXED);
        if (__atomic_compare_exchange_n(&prepared->number, &number, next, false, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE))
            number = next;
    }
    memory *m = &last_job;
    m->number = number;
    m->iter = job->iter;
    m->begin = job->begin;
    m->end = job->end;
    memcpy(m->params, job->params, sizeof m->params);
    m->where_lo = job->where_lo;
    m->where_hi = job->where_hi;
    m->constants = *constants;
    m->shape = r->shape;
    m->work = r->work;
    m->joint = r->joint;
}

/* Is the job like the last one, but for addresses that differ by a multiple of 16 bytes, the same for all operands? */
static bool recall(request *r)
{
    enum { ALIGN = 16 };
    const histo_job *job = r->job;
    const memory *m = &last_job;
    const uint64_t number = __atomic_load_n(&((const histo_cuda_prepared *)job->prepared)->number, __ATOMIC_ACQUIRE);
    if (!number || number != m->number || job->begin != m->begin || job->end != m->end ||
        job->where_lo != m->where_lo || job->where_hi != m->where_hi ||
        memcmp(job->params, m->params, sizeof m->params) != 0)
        return false;
    const int64_t moved = (int64_t)((uintptr_t)job->iter.base[0] - (uintptr_t)m->iter.base[0]);
    histo_strided_iter iter = m->iter;
    for (int o = 0; o < iter.operands; o++)
        iter.base[o] += moved;
    if (moved % ALIGN || memcmp(&iter, &job->iter, sizeof iter) != 0) return false;
    r->compiled = kernel_for(job, &m->constants);
    if (!r->compiled) return false;
    r->shape = m->shape;
    r->work = m->work;
    r->joint = m->joint;
    for (int o = 0; o < iter.operands; o++) {
        r->work.iter.base[o] += moved;
        r->work.ends[o] += moved;
    }
    r->work.counts = histo_cuda_accumulators_in(job)->counts;
    return true;
}

/* Is there a compiled kernel, where the others are slow? */
static bool is_compiled(request *r)
{
    enum { MAX_THREADS = 1024, FEW_SLOTS = 64 };
    const histo_job *job = r->job;
    const histo_problem *p = job->problem;
    r->joint_reader = histo_cuda_joint_of(&r->work, &r->joint);
    histo_joint joint = r->joint;
    if (p->naxes > 1) histo_cuda_first_floats_of(p, false, r->shape.l.words, &r->joint);
    /* Bytes whose bins are no shifts take a table for each axis. */
    const bool are_slow_bytes = r->joint_reader == histo_read_pixels && !joint.by_shift;
    if (r->joint_reader != HISTO_NOT_JOINT && r->joint_reader != histo_read_columns && !are_slow_bytes) return false;
    const int64_t first_floats = histo_cuda_first_floats_of(p, true, 0, NULL);
    int channels = histo_cuda_channels_of(job);
    const bool by_value = p->naxes == 1 && channels == 1 && histo_dtype_size(p->dtypes[0]) == 1 && p->slots > FEW_SLOTS;
    /* One counter more, for what pads rows. */
    int64_t counters = (by_value ? VALUES + 1 : channels * (p->slots + 1)) + 1;
    const int64_t room = (int64_t)(histo_cuda_device_of(p->device)->shared_block / sizeof(unsigned int));
    if (counters + first_floats > room && channels > 1) {
        channels = 1;
        counters = p->slots + 2;
    }
    histo_joint all_first_floats = {};
    histo_cuda_first_floats_of(p, true, 0, &all_first_floats);
    uint32_t most_tables = by_value ? 0 : most_tables_of(p, counters + first_floats);
    const uint32_t tables = histo_cuda_tables_of(p, &all_first_floats, 0, most_tables, NULL, NULL);
    lane_launch shape = shape_with(p, job->params, BY_ANY, counters, first_floats + tables, MAX_THREADS);
    if (!shape.threads && p->records) { /* no other kernel would read them */
        most_tables = 0;
        shape = shape_with(p, job->params, BY_ANY, counters, first_floats, MAX_THREADS);
    }
    if (!shape.threads) return false;
    histo_cuda_work work = histo_cuda_work_of_channels(job, channels, shape.blocks, min_tile(p), HISTO_MAX_TILE),
                    padded;
    histo_cuda_first_floats_of(p, true, shape.l.words, &joint);
    histo_cuda_class constants;
    if (!histo_cuda_class_of(job, &work, &joint, shape.threads, &constants)) return false;
    if (histo_cuda_pad_rows(job, &constants, channels, shape.blocks, min_tile(p), HISTO_MAX_TILE, &padded)) {
        work = padded;
        if (!histo_cuda_class_of(job, &work, &joint, shape.threads, &constants)) return false;
    }
    constants.by_value = by_value;
    constants.alternate =
        p->apart && channels == 1 && p->batch > 1 && !job->iter.offsets; /* the cache holds what others read */
    histo_cuda_tables_of(p, &all_first_floats, shape.l.words + (uint32_t)first_floats, most_tables, &joint, &constants);
    constants.own[constants.own_constants++] = {"log_copies", (int)shape.l.log_copies};
    constants.own[constants.own_constants++] = {"spreads", shape.l.spreads};
    r->compiled = kernel_for(job, &constants);
    if (!r->compiled) return false;
    r->shape = shape;
    r->work = work;
    r->joint = joint;
    remember(r, &constants);
    return true;
}

static histo_status launch_compiled(request *r)
{
    return launch_strided(r, r->compiled);
}

/* Would the library's own kernels read a table in global memory, which lanes do one after the other? */
static bool takes_table(const histo_job *job, bool are_rows)
{
    const histo_problem *p = job->problem;
    const histo_lookup *l = &p->lookups[0];
    const size_t size = histo_dtype_size(p->dtypes[0]);
    if (job->end - job->begin < FEW || l->pow2.is || p->dtypes[0] == HISTO_F32) return false;
    if (size == 2) return l->table && !l->affine.is && !histo_cuda_has_fixed_point(l, p->dtypes[0]);
    return size == 4 && are_rows && l->cells.entry;
}

/* Rows or images so short that blocks which read one after the other would mostly wait? Or a lookup for which the
 * kernels below read a table in global memory? */
static bool prefer_compiled(request *r)
{
    enum { NARROW = 1024, NARROW_BYTES = 256 /* of 8-bit samples */, SMALL = 64 << 10 /* bytes */ };
    const histo_problem *p = r->job->problem;
    const histo_strided_iter *iter = &r->job->iter;
    const int run = iter->ndim - 1;
    const int64_t size = (int64_t)histo_dtype_size(p->dtypes[0]);
    if (p->naxes > 1 || iter->offsets || iter->strides[0][run] != size) return false;
    const bool are_rows = run > iter->batch_ndim || p->operands > 1;
    if (takes_table(r->job, are_rows)) {
        set_any(r);
        return is_compiled(r);
    }
    if (run == iter->batch_ndim) return false;
    const bool are_small = iter->batch > 1 && iter->per_batch * size < SMALL;
    if (iter->shape[run] * size >= (size == 1 ? NARROW_BYTES : NARROW) && !are_small) return false;
    set_any(r);
    return is_compiled(r);
}

static bool is_joint(request *r)
{
    return r->joint_reader != HISTO_NOT_JOINT;
}

static histo_status launch_joint(request *r)
{
    return launch_strided(r, joint_kernel(r->joint_reader));
}

static bool is_anything(request *r)
{
    (void)r;
    return true;
}

static histo_status launch_any(request *r)
{
    return launch_strided(r, any_kernel());
}

static histo_status launch_none(request *r)
{
    return histo_cuda_records_refuse(r->job);
}

/* Tried in this order. */
static const path paths[] = {
    {"small image", is_small_image, launch_small_image},
    {"an image each cluster", are_tile_images, launch_tile_images},
    {"an image each warp", are_warp_images, launch_warp_images},
    {"few samples", are_few, launch_few},
    {"narrow rows", prefer_compiled, launch_compiled},
    {"pixels", are_pixels, launch_pixels},
    {"contiguous", is_contiguous, launch_contiguous},
    {"images", are_images, launch_images},
    {"columns", are_columns, launch_columns},
    {"compiled", is_compiled, launch_compiled, true, true},
    {"several axes", is_joint, launch_joint, true},
    {"any layout", is_anything, launch_any, true},
    {"records that no kernel reads", is_anything, launch_none, true, true},
};

static histo_status launch(const histo_job *job)
{
    request r;
    r.job = job;
    if (recall(&r)) return launch_compiled(&r);
    const bool plain = job->problem->plain, records = job->problem->records;
    const path *way = paths;
    if (!plain) set_any(&r);
    while (!(plain || way->any_bytes) || (records && !way->records) || !way->applies(&r))
        way++;
    return way->launch(&r);
}

static bool replaces(const histo_job *job)
{
    request r;
    r.job = job;
    if (job->problem->storage != HISTO_DENSE || !job->problem->plain) return false;
    return is_small_image(&r) ? histo_small_image_replaces(job, &r.pixels) : are_tile_images(&r);
}

extern "C" const histo_strategy histo_cuda_lane_private = {
    .unsupported_reason = unsupported_reason,
    .cost_us = cost_us,
    .launch = launch,
    .replaces = replaces,
    .params = {{"lanes", 0, 32, 0,
                "lanes of a warp that share a copy, rounded up to a power of 2; 0: as few as leave the cache room"},
               histo_blocks_param,
               {"threads", 32, 1024, DEFAULT_THREADS, "threads of a block, rounded down to whole warps"}},
    .ragged = true,
    .any_edges = true,
    .any_bytes = true,
    .records = true,
};
