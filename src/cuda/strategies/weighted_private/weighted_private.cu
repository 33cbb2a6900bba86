/* weighted_private: every block sums weights in fixed point, in copies of a few words for each slot in shared memory,
 * of which each belongs to a few lanes of every warp and to as many banks.
 *
 * - Shared memory adds 32-bit integers at full speed, but floats and 64-bit numbers by compare-and-swap loops. A weight
 *   in fixed point is two or three 32-bit words, its square three, and the old word tells the carry into the next. A
 *   fourth word of squares only takes carries, which are rare. Integer additions commute and round nothing: the sums of
 *   a block are exact, in the fast mode too.
 * - A tile of the samples has a window of exponents, the densest among some of its weights. Weights outside it, and
 *   infinities and NaN, are added to the histogram one by one, as global_atomic does.
 * - The window and the words are so wide that no sum of a tile can overflow.
 * - Where many lanes share a copy and slots repeat, a thread's samples of one slot are joined before they are added,
 *   and so are a warp's that are all of one slot.
 * - Lookup tables of f32 (cells, first floats) lie behind the words, as in lane_private.
 *
 * Bytes: each sample and weight once. Bound by the integer pipeline and shared memory; with sums of squares, by
 * returning atomics. Wins wherever the words of all slots fit a block; weighted_partition takes more. Loses to
 * global_atomic where exponents of weights have no dense window. Source: ours; the layout is that of lane_private, the
 * carry that of packed counters (Ross 2014, 5.2). */
#include "cuda/strategies/weighted_private/weighted_private.h"

#include "cuda/device/first_floats.cuh"
#include "cuda/host/device.h"
#include "cuda/jit/axis_lookups.h"
#include "cuda/jit/class.h"
#include "cuda/jit/records.h"
#include "cuda/jit/specialised.h"
#include "cuda/launch/estimates.h"
#include "cuda/launch/launch.h"
#include "cuda/launch/several_axes.h"
#include "cuda/launch/work_of_job.h"

using namespace histo::weighted_private;

enum { LANES, BLOCKS, THREADS };
static const size_t MAX_COUNTERS = 200 << 10; /* bytes of them that leave enough to the L1 cache */

typedef struct plan {
    sums_layout l;
    int threads;   /* 0: it does not fit */
    size_t shared; /* bytes */
    int64_t blocks;
} plan;

/* Weights of f32 that are read fast; all others become double. */
static bool is_float(const histo_problem *p)
{
    return p->weights != HISTO_ABSENT && p->dtypes[p->weights] == HISTO_F32;
}

/* Does float hold all weights? */
static bool is_exact_in_float(const histo_problem *p)
{
    return p->weights == HISTO_ABSENT || is_float(p) || histo_dtype_size(p->dtypes[p->weights]) <= 2;
}

static int planes_of(bool narrow, bool squares)
{
    if (narrow) return squares ? (int)planes<float, true>::ALL : (int)planes<float, false>::ALL;
    return squares ? (int)planes<double, true>::ALL : (int)planes<double, false>::ALL;
}

static plan plan_of(const histo_problem *p, const int64_t *params, bool narrow, int64_t table)
{
    const histo_cuda_device *device = histo_cuda_device_of(p->device);
    int64_t counters = p->slots + 1, room = (int64_t)device->shared_block / 4 - 64, most = (int64_t)MAX_COUNTERS / 4;
    bool squares = histo_has_squares(p->weighting);
    int64_t all = planes_of(narrow, squares);
    int64_t probe = 2 * (narrow ? (int)format<float, true>::ALL : (int)format<double, true>::ALL) + 2;
    if (most > room || params[LANES]) most = room;
    plan it = {{5, false, 0, 0}, 0, 0, 0};
    int64_t words;
    if (counters > room) return it;
    for (;; it.l.log_copies--) {
        it.l.spreads = WARP >> it.l.log_copies > FEW_LANES;
        words = (it.l.spreads ? (int64_t)histo_spread((uint32_t)counters - 1) + 1 : counters) << it.l.log_copies;
        bool fits = words * all <= most && WARP >> it.l.log_copies >= params[LANES];
        if (fits || it.l.log_copies == 0) break;
    }
    it.l.words = (uint32_t)words;
    it.l.table = (uint32_t)(words * all > probe ? words * all : probe);
    if (it.l.table + table > room) return it;
    it.shared = (size_t)(it.l.table + table) * sizeof(unsigned int);
    it.threads = (int)params[THREADS] / WARP * WARP;
    it.blocks = params[BLOCKS] ? params[BLOCKS] : device->multiprocessors;
    return it;
}

static const char *unsupported_reason(const histo_problem *problem)
{
    static const int64_t defaults[HISTO_MAX_PARAMS] = {0, 0, 1024};
    if (problem->weighting == HISTO_UNWEIGHTED) return "it sums weights: others count faster";
    return plan_of(problem, defaults, false, 0).threads ? NULL
                                                        : "too many bins: the words of their sums must fit a block";
}

static double cost_us(const histo_problem *p, int threads)
{
    (void)threads;
    const double sums_per_us = 4.5e5, squares_per_us = 3e5, any_compiled_per_us = 2.3e5, any_per_us = 5e4,
                 bytes_per_us = 4e6, merged_per_us = 2e5, launch_us = 14;
    const double merged = (double)p->slots * (double)p->batch * HISTO_REFERENCE_MULTIPROCESSORS; /* by each block */
    const double any = histo_cuda_expects_compiled(p) ? any_compiled_per_us : any_per_us;
    const double sample_us = p->operands > 2 || p->naxes > 1 || p->strided ? 1 / any
                             : histo_has_squares(p->weighting)             ? 1 / squares_per_us
                                                                           : 1 / sums_per_us;
    return launch_us + (double)p->samples * fmax(histo_sample_bytes(p) / bytes_per_us, sample_us) +
           merged / merged_per_us;
}

/* The lookup of f32 samples, and the words of its table. */
static f32_lookup f32_lookup_of(const histo_problem *p, int64_t *table)
{
    const histo_lookup *lookup = &p->lookups[0];
    *table = 0;
    if (p->dtypes[0] != HISTO_F32 || !(lookup->near_f32 || lookup->cells.entry)) return NO_TABLE;
    *table = lookup->near_f32 ? histo_first_floats_words(lookup) : lookup->cells.words;
    return lookup->near_f32 ? FIRST_FLOATS : lookup->cells.by_bits ? BIT_CELLS : LINEAR_CELLS;
}

/* A kernel for contiguous operands, or NULL. */
static kernel contiguous_kernel_of(const histo_cuda_work *work, bool squares, f32_lookup lookup)
{
    const histo_strided_iter *iter = &work->iter;
    if (iter->operands != 2 || work->naxes != 1 || work->weights != 1 || !work->aligned) return NULL;
    if (iter->ndim != iter->batch_ndim + 1) return NULL;
    for (int o = 0; o < 2; o++)
        if (iter->strides[o][iter->ndim - 1] != (int64_t)histo_dtype_size(work->dtypes[o])) return NULL;
    bool narrow = work->dtypes[1] == HISTO_F32;
    if (!narrow && work->dtypes[1] != HISTO_F64) return NULL;
    if (work->dtypes[0] == HISTO_F32) return kernel_of_f32(lookup, narrow, squares);
    if (work->dtypes[0] == HISTO_F64) return kernel_of_f64(narrow, squares);
    return kernel_of_integers(work->dtypes[0], narrow, squares);
}

/* A launch. */
typedef struct launch_choice {
    const void *kernel;
    plan it;
    histo_cuda_work work;
    histo_joint joint; /* of compiled kernels */
} launch_choice;

/* How a job is cut into tiles. */
typedef struct cutting {
    int64_t wanted, least;
} cutting;

/* Take a kernel compiled for such jobs; false if there is none. Tables of axes lie behind the words. */
static bool choose_compiled(const histo_job *job, const cutting *tiles, launch_choice *c)
{
    static const char *const kernels[2][2] = {
        {"histo::weighted_private::count_joint<histo_specialised_reader<constants>, false, double>",
         "histo::weighted_private::count_joint<histo_specialised_reader<constants>, true, double>"},
        {"histo::weighted_private::count_joint<histo_specialised_reader<constants>, false, float>",
         "histo::weighted_private::count_joint<histo_specialised_reader<constants>, true, float>"}};
    enum { MAX_TABLES = 1 << 13 /* words */ };
    const histo_problem *p = job->problem;
    const bool narrow = is_exact_in_float(p), squares = histo_has_squares(p->weighting);
    const plan it = plan_of(p, job->params, narrow, 0);
    if (!it.threads) return false;
    const int64_t room = (int64_t)histo_cuda_device_of(p->device)->shared_block / 4 - 64 - it.l.table;
    const uint32_t most = room < MAX_TABLES ? (uint32_t)room : (uint32_t)MAX_TABLES;
    histo_joint first_floats = {}, joint = {};
    uint32_t words = histo_cuda_first_floats_of(p, true, 0, NULL);
    if (words <= most) {
        histo_cuda_first_floats_of(p, true, 0, &first_floats);
        histo_cuda_first_floats_of(p, true, it.l.table, &joint);
    } else {
        words = 0;
    }
    histo_cuda_work work = histo_cuda_work_of(job, tiles->wanted, tiles->least, MAX_SAMPLES), padded;
    histo_cuda_class constants;
    if (!histo_cuda_class_of(job, &work, &joint, it.threads, &constants)) return false;
    if (histo_cuda_pad_rows(job, &constants, 1, tiles->wanted, tiles->least, MAX_SAMPLES, &padded)) {
        work = padded;
        if (!histo_cuda_class_of(job, &work, &joint, it.threads, &constants)) return false;
    }
    constants.alternate = p->apart && p->batch > 1 && !job->iter.offsets;
    words += histo_cuda_tables_of(p, &first_floats, it.l.table + words, most - words, &joint, &constants);
    const void *kernel = histo_cuda_specialised_kernel(
        job, &constants, "cuda/strategies/weighted_private/weighted_any.cuh", kernels[narrow][squares]);
    if (!kernel) return false;
    *c = {kernel, it, work, joint};
    c->it.shared += words * sizeof(unsigned int);
    return true;
}

static launch_choice choose(const histo_job *job)
{
    const int64_t smallest = 1 << 11, largest = 1 << 14, slots = job->problem->slots;
    const plan it = plan_of(job->problem, job->params, false, 0);
    const int64_t rounds = (job->end - job->begin - 1) / (it.blocks * MAX_SAMPLES) + 1;
    /* Tiles so large that merging them takes less time than counting, of few samples on all multiprocessors. */
    const cutting tiles = {it.blocks * rounds, slots < smallest ? smallest : slots < largest ? slots : largest};
    const bool squares = histo_has_squares(job->problem->weighting), narrow = is_float(job->problem);
    launch_choice c = {NULL, it, histo_cuda_work_of(job, tiles.wanted, tiles.least, MAX_SAMPLES), {}};
    int64_t table;
    f32_lookup lookup = f32_lookup_of(job->problem, &table);
    if (!plan_of(job->problem, job->params, narrow, table).threads) lookup = NO_TABLE;
    c.kernel = (const void *)contiguous_kernel_of(&c.work, squares, lookup);
    if (c.kernel)
        c.it = plan_of(job->problem, job->params, narrow, lookup == NO_TABLE ? 0 : table);
    else if (!choose_compiled(job, &tiles, &c) && !job->problem->records)
        c.kernel = (const void *)kernel_of_any(squares);
    return c;
}

static histo_status launch(const histo_job *job)
{
    launch_choice c = choose(job);
    if (!c.kernel) return histo_cuda_records_refuse(job);
    void *args[] = {&c.work, &c.it.l, &c.joint};
    const int64_t blocks = c.work.tiles < c.it.blocks ? c.work.tiles : c.it.blocks;
    return histo_cuda_launch(job, c.kernel, dim3((unsigned)blocks), c.it.threads, c.it.shared, args);
}

extern "C" const histo_strategy histo_cuda_weighted_private = {
    .unsupported_reason = unsupported_reason,
    .cost_us = cost_us,
    .launch = launch,
    .params = {{"lanes", 0, 32, 0,
                "lanes of a warp that share a copy, rounded up to a power of 2; 0: as few as leave the cache room"},
               histo_blocks_param,
               {"threads", 32, 1024, 1024, "threads of a block, rounded down to whole warps"}},
    .any_edges = true,
    .any_bytes = true,
    .records = true,
};
