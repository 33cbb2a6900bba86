/* packed_window: a window, the range of slots where samples are dense, is counted on chip in packed counters of 16 or 8
 * bits; every sample outside it is one atomic addition to the histogram in device memory.
 *
 * - The window is given or found: a small kernel counts some thousand samples of each batch entry in cells and takes
 *   the densest run. It stays in device memory, so that the host waits for nothing. The window decides only where a
 *   sample is counted: counts are exact wherever it lies.
 * - Additions return the old word, which tells what overflowed. All additions of a step are issued before the first
 *   answer is looked at; samples outside the window add to spare counters, so that nothing branches.
 * - Frequent samples would serialize at one word. If all samples of a warp's step are of two slots, each slot gets one
 *   addition; so do up to four slots that most of its samples have, and sorted samples, of which a thread or a row of
 *   lanes has one or two. Otherwise frequent slots, and overflows, are counted in a small hash table of 32-bit
 *   counters; what finds no place in it goes to device memory. Where the table holds few of the samples, as of an image
 *   whose runs soon change, it is not searched for some steps.
 * - Flow has counters of its own on chip, and samples that a mask or filter leaves out are counted in registers. Lanes
 *   that have the same slot outside the window count it together, and the table counts those that come often.
 * - Samples of u32, i32 and f32 are looked up as if all were in bins of the window, and the exceptions again.
 * - One word in 234 holds a counter fewer than fit, so that slots at equal distances do not share a bank.
 * - 16-bit samples are counted by their value, of which there are 65536, and so are two columns of bytes; values
 *   become slots in the merge.
 * - The merge passes over counters that no sample has touched, a vector of words for each lane at a time.
 * - Pixels on bins of 2^k values are counted without their flow slots, in counters of 6 bits if need be.
 * - Pairs of images are computed in registers, from a word of each image.
 *
 * Source: Ross 2014, 5.8.3 (partitioning), with the packed counters of 5.2 and 5.3; the window found by sampling, and
 * the table, are ours. Bytes: each sample once, and an atomic operation in the L2 cache for each outside the window.
 * Bound by shared-memory atomics and instructions. Wins where 32-bit counters do not fit on chip and packed ones do, to
 * about 225 000 slots, and beyond that where samples cluster, as a wafer's; loses to partitioning where they do not. */
#include "cuda/strategies/packed_window/packed_window.h"

#include <float.h>
#include <math.h>

#include "cuda/host/device.h"
#include "cuda/jit/axis_lookups.h"
#include "cuda/jit/class.h"
#include "cuda/jit/specialised.h"
#include "cuda/launch/estimates.h"
#include "cuda/launch/launch.h"
#include "cuda/launch/several_axes.h"
#include "cuda/launch/work_of_job.h"

using namespace histo::packed_window;

enum { FIRST, LENGTH, BITS, BLOCKS, THREADS };
enum { MIN_TILE_SAMPLES = 1 << 14 };

typedef struct window_layout {
    window w;
    int bits;
    size_t shared;         /* bytes */
    uint32_t first_floats; /* the word of it where first floats are, for several axes */
    int threads;
    int64_t blocks;
    bool is_found; /* else given, or all slots */
} window_layout;

/* Words of so many counters: as many as counters::word gives, and a spare one for each lane. */
static int64_t words_of(int64_t counters, int bits)
{
    int64_t last = counters / (32 / bits) + WARP + 1;
    return bits == SIX_BITS ? last + 1 : last + last / 233 + 1;
}

/* Bytes of a block: counters, table and flow. */
static size_t shared_bytes(int64_t counters, int bits)
{
    return (size_t)(words_of(counters, bits) + table_words(bits)) * sizeof(uint32_t);
}

/* The most counters that a block can have besides `others` words. */
static int64_t max_counters(const histo_cuda_device *device, int bits, uint32_t others)
{
    int64_t least = 0, room = (int64_t)device->shared_block - (int64_t)(others * sizeof(uint32_t));
    int64_t beyond = room * 8 / bits;
    while (beyond - least > 1) {
        int64_t middle = least + (beyond - least) / 2;
        *((int64_t)shared_bytes(middle, bits) <= room ? &least : &beyond) = middle;
    }
    return least;
}

/* Are all slots to be counted, in as many counters of `bits` bits? */
static bool are_counters(const histo_problem *p, const int64_t *params, int64_t counters, int bits)
{
    return params[FIRST] < 0 && !params[LENGTH] && counters <= max_counters(histo_cuda_device_of(p->device), bits, 0);
}

/* Counters of values, if samples of 16 bits, or pairs of bytes in many slots, may be counted by them; else 0. */
static int64_t values_of(const histo_problem *p, const int64_t *params)
{
    enum { MANY = VALUES / 4 };
    const bool are_words = p->naxes == 1 && histo_dtype_size(p->dtypes[0]) == 2 && p->lookups[0].table;
    const bool are_pairs = p->naxes == 2 && !histo_is_computed(p) && p->slots >= MANY && p->dtypes[0] == HISTO_U8 &&
                           p->dtypes[1] == HISTO_U8 && p->lookups[0].table && p->lookups[1].table;
    if (p->operands > p->naxes || !(are_words || are_pairs) || (params[BITS] && params[BITS] <= 8)) return 0;
    return are_counters(p, params, VALUES, 16) ? VALUES : 0;
}

/* Counters of pixels without the slots of flow, or 0. */
static int64_t compact_of(const histo_problem *p, const int64_t *params)
{
    const int64_t compact = histo_cuda_compact_of(p);
    return are_counters(p, params, compact, params[BITS] ? (int)params[BITS] : (int)SIX_BITS) ? compact : 0;
}

/* counters: 0 for those of the slots. others: words of tables of first floats. */
static window_layout layout_with(const histo_problem *p, const int64_t *params, int64_t counters, uint32_t others)
{
    const histo_cuda_device *device = histo_cuda_device_of(p->device);
    const bool are_slots = counters == 0;
    window_layout l = {};
    if (are_slots) counters = p->slots + 1;
    int64_t size = are_slots && params[LENGTH] && params[LENGTH] < counters ? params[LENGTH] : counters;
    l.bits = params[BITS] ? params[BITS] <= 8 ? 8 : 16 : size <= max_counters(device, 16, others) ? 16 : 8;
    int64_t most = max_counters(device, l.bits, others);
    if (size > most && !are_slots) most = max_counters(device, l.bits = SIX_BITS, others);
    if (size > most) size = most;
    l.w.size = (uint32_t)size;
    l.w.words = (uint32_t)words_of(size, l.bits);
    l.first_floats = (uint32_t)(shared_bytes(size, l.bits) / sizeof(uint32_t));
    l.shared = (l.first_floats + others) * sizeof(uint32_t);
    l.threads = params[THREADS] ? ((int)params[THREADS] + WARP - 1) / WARP * WARP : 1024;
    int64_t resident = histo_cuda_resident(p->device, l.threads, l.shared);
    l.blocks = params[BLOCKS] ? params[BLOCKS] : resident;
    int64_t last = counters - size;
    l.is_found = params[FIRST] < 0 && last > 0;
    l.w.first = (uint32_t)(params[FIRST] < 0 ? 0 : params[FIRST] < last ? params[FIRST] : last);
    return l;
}

static window_layout layout_of(const histo_problem *p, const int64_t *params, int64_t counters)
{
    return layout_with(p, params, counters, p->naxes > 1 ? histo_cuda_first_floats_of(p, false, 0, NULL) : 0);
}

/* Samples counted on chip in a microsecond, without their lookups: by value or in all slots (known), or in a window
 * that is found. */
static double counted_per_us(const histo_problem *p, bool known)
{
    const histo_lookup *l = &p->lookups[0];
    if (histo_is_computed(p)) return pairs_per_us(p);
    const bool is_any = p->operands > p->naxes || p->strided;
    const double any_compiled_per_us = 5e5;
    if (is_any && histo_cuda_expects_compiled(p)) return any_compiled_per_us;
    const double several_known_per_us = 1.2e6, several_per_us = 7e5, pow2_known_per_us = 1.3e6, pow2_per_us = 1.1e6,
                 one_per_us = 8e5;
    if (is_any) return 1 / (1 / one_per_us + histo_cuda_any_layout_us(p));
    if (p->naxes > 1) return known ? several_known_per_us : several_per_us;
    if (l->pow2.is) return known ? pow2_known_per_us : pow2_per_us;
    if (!known) return one_per_us;
    /* By value: floats of one bin are few values, which meet, unless the bins are many, or the values: 1024 of f16 from
     * a power of two to the next. */
    const double alike = pow(histo_problem_fraction(p, 1), 2);
    const bool are_many = p->dtypes[0] == HISTO_F16;
    const double met_per_us = 7e5, doubled_bins_per_us = 7.5e4, many_per_us = 9e5, alike_per_us = 1.4e6;
    const double doublings = fmin(fmax(log2((double)p->bins / 256), 0), 8); /* of the bins, beyond which none helps */
    const double spread = are_many ? many_per_us : met_per_us + doubled_bins_per_us * doublings;
    return (1 - alike) * spread + alike * alike_per_us;
}

/* So many samples outside the window has the busiest lane of a warp in a step, where `fraction` of all are outside:
 * that often the warp passes through its loop for them. */
static double passes_outside(double fraction, int samples)
{
    const double outside = fmin(fraction, 1 - 1e-9), odds = outside / (1 - outside);
    double passes = 0, exactly = pow(1 - outside, samples), up_to = 0; /* chances that a lane has k, and k or fewer */
    for (int k = 0; k < samples; k++) {
        up_to += exactly;
        passes += 1 - pow(up_to, WARP);
        exactly *= odds * (samples - k) / (k + 1);
    }
    return passes;
}

/* Samples outside the window: bound by the L2 cache, or by the loop of warps. */
static double outside_us(const histo_problem *p, int64_t window)
{
    const double pass_us = 0.02 /* of a multiprocessor */, fraction = histo_problem_outside(p, window).fraction;
    const int step = histo_dtype_size(p->sampled[0]) < sizeof(uint64_t) ? 8 : 4; /* samples of a lane */
    const double steps = (double)p->samples / (WARP * step) / HISTO_REFERENCE_MULTIPROCESSORS;
    return fmax(histo_cuda_global_atomics_us(p, window), steps * pass_us * passes_outside(fraction, step));
}

/* Finding the windows, each by a block. */
static double find_us(const histo_problem *p)
{
    const double few_us = 25, many_us = 57;
    return (p->samples < MANY ? few_us : many_us) * ceil((double)p->batch / HISTO_REFERENCE_MULTIPROCESSORS);
}

/* Merging the windows of all tiles: an addition in the L2 cache for each sector of counts that samples of a tile have
 * touched. */
static double merge_window_us(const histo_problem *p, const window_layout *l)
{
    enum { SECTOR = 32 / sizeof(uint64_t) };
    const double sectors_per_us = 1e5, samples = (double)p->samples;
    const double tiles = fmax((double)p->batch, fmin((double)l->blocks, ceil(samples / MIN_TILE_SAMPLES)));
    return tiles * histo_problem_touched(p, l->w.size, SECTOR, samples / tiles) / sectors_per_us;
}

/* Merging the counters of all slots or values of all blocks; of few samples, as many. */
static double merge_all_us(const histo_problem *p, const window_layout *l)
{
    const double merged_per_us = 9e5;
    return fmin((double)l->w.size * (double)p->batch * (double)l->blocks, (double)p->samples) / merged_per_us;
}

static double cost_us(const histo_problem *p, int threads)
{
    (void)threads;
    static const int64_t defaults[HISTO_MAX_PARAMS] = {-1};
    const int64_t values = values_of(p, defaults), counters = values ? values : compact_of(p, defaults);
    const int64_t known = p->strided || p->operands > p->naxes ? 0 : counters;
    const window_layout l = layout_of(p, defaults, known);
    const bool is_all = known || l.w.size > p->slots;
    const double bytes_per_us = 4.4e6, launch_us = 12, launch_all_us = 22;
    const double each = fmax(histo_sample_bytes(p) / bytes_per_us, 1 / counted_per_us(p, known));
    /* 2.8 us for a block to clear and merge what no sample has touched. */
    const double entry_us = 2.8 / HISTO_REFERENCE_MULTIPROCESSORS;
    const double us = (double)p->samples * (each + histo_cuda_lookup_us(p)) + (double)p->batch * entry_us;
    if (is_all) return us + (known ? launch_us : launch_all_us) + merge_all_us(p, &l);
    const double found_us = us + launch_us + find_us(p) + merge_window_us(p, &l) + outside_us(p, l.w.size);
    return p->probes || p->dense ? found_us : HISTO_SKEW_MARGIN * found_us;
}

static size_t workspace(const histo_problem *problem, int threads, const int64_t *params)
{
    (void)threads;
    /* The layout with most tables, which leave least to the counters: that of compiled kernels. */
    const window_layout l = layout_with(problem, params, 0, histo_cuda_first_floats_of(problem, true, 0, NULL));
    return l.is_found ? (size_t)problem->batch * sizeof(uint32_t) : 0;
}

/* Are bins 2^k wide, and begin at multiples of that, all in reach of a float's 24 bits? */
static bool is_scaled(const histo_lookup *l)
{
    const double reach = 0x1p22, least = 0x1p-100, first = l->lo / l->step;
    int exponent;
    return frexp(l->step, &exponent) == 0.5 && l->step >= least && l->step <= 1 / least && first == floor(first) &&
           fabs(first) <= reach && l->bins <= reach;
}

/* The last bin is not looked up fast if its upper edge, computed as the others, could be beyond the axis. */
static void set_inner(window *w, const histo_lookup *l)
{
    w->inner = (uint32_t)l->bins - (!l->pow2.is && l->lo + (double)l->bins * l->step > l->hi);
    w->below = nextafterf(l->first_f32, -INFINITY);
    w->origin = -l->lo * l->per_step;
    w->scale = (float)l->per_step;
    w->offset = (float)(0x1p23 - l->lo / l->step);
}

/* The lookup that goes straight to a counter, or NO_INNER. */
static inner_lookup inner_of(int reader, const histo_lookup *l)
{
    double least = reader == HISTO_I32 ? INT32_MIN : 0, most = reader == HISTO_I32 ? INT32_MAX : UINT32_MAX;
    bool is_pow2 = l->pow2.is && l->lo >= least && l->hi <= most;
    if (reader == HISTO_U32 && is_pow2) return POW2_U32;
    if (reader == HISTO_I32 && is_pow2) return POW2_I32;
    if (reader != HISTO_F32 || l->kind != HISTO_UNIFORM) return NO_INNER;
    if (is_scaled(l)) return SCALED_F32;
    return l->first_f32 > -FLT_MAX && l->over_f32 <= FLT_MAX ? NEAREST_F32 : NO_INNER;
}

/* known: counters are not slots, but what values_of or compact_of say. */
static const void *kernel_of(const histo_cuda_work *work, int bits, bool known, histo_joint *joint)
{
    histo_joint_reader columns = histo_cuda_joint_of(work, joint);
    if (columns == histo_read_pixels && known) {
        histo_cuda_make_compact(joint, work->naxes);
        return kernel_of_pixels(joint->pitch, bits);
    }
    if (columns != HISTO_NOT_JOINT) return kernel_of_joint(columns, bits);
    int reader = histo_cuda_reader_of(work);
    if (known) return kernel_of_values();
    if (reader == HISTO_READ_ANY) return kernel_of_any(bits);
    inner_lookup inner = inner_of(reader, &work->lookups[0]);
    return inner == NO_INNER ? kernel_of_dtype(reader, bits) : kernel_of_inner(inner, bits);
}

/* The layout of a job's interleaved channels together, if the counters of all of them fit; else channels is 1. */
static window_layout layout_of_channels(const histo_job *job, int *channels)
{
    const uint32_t first_floats = histo_cuda_first_floats_of(job->problem, true, 0, NULL);
    histo_problem group = *job->problem;
    *channels = histo_cuda_channels_of(job);
    group.slots = *channels * (group.slots + 1) - 1;
    const window_layout l = layout_with(&group, job->params, 0, first_floats);
    if (*channels == 1 || (l.w.size == (uint64_t)group.slots + 1 && job->params[FIRST] < 0)) return l;
    *channels = 1;
    return layout_with(job->problem, job->params, 0, first_floats);
}

/* A launch: a kernel, and what it gets. */
typedef struct request {
    window_layout l;
    histo_cuda_work work;
    histo_joint joint;
    const void *kernel;
} request;

/* Count with a kernel compiled for such jobs; false if there is none. */
static bool use_compiled(const histo_job *job, int64_t least, request *r)
{
    int channels;
    histo_cuda_class constants;
    request it = *r;
    it.l = layout_of_channels(job, &channels);
    it.work = histo_cuda_work_of_channels(job, channels, it.l.blocks, least, HISTO_MAX_TILE);
    histo_cuda_first_floats_of(job->problem, true, it.l.first_floats, &it.joint);
    if (!histo_cuda_class_of(job, &it.work, &it.joint, it.l.threads, &constants)) return false;
    it.kernel = histo_cuda_specialised_kernel(
        job, &constants, "cuda/strategies/packed_window/window_any.cuh",
        it.l.bits == 16 ? "histo::packed_window::count_read<histo_specialised_reader<constants>, 16>"
                        : "histo::packed_window::count_read<histo_specialised_reader<constants>, 8>");
    if (it.kernel) *r = it;
    return it.kernel != NULL;
}

/* Count with one of the kernels that the library contains. */
static void use_given(const histo_job *job, int64_t least, request *r)
{
    const histo_problem *p = job->problem;
    const bool are_pairs = are_bytes(&r->work),
               are_words = p->naxes == 1 && histo_cuda_reader_of(&r->work) != HISTO_READ_ANY;
    const int64_t values = are_pairs || are_words ? values_of(p, job->params) : 0;
    const int64_t compact = !values && r->joint.pitch ? compact_of(p, job->params) : 0;
    if (values || compact) {
        r->l = layout_of(p, job->params, values ? values : compact);
        r->work = histo_cuda_work_of(job, r->l.blocks, least, HISTO_MAX_TILE);
    }
    r->kernel = values && are_pairs ? kernel_of_bytes() : kernel_of(&r->work, r->l.bits, values || compact, &r->joint);
    if (p->naxes > 1) histo_cuda_first_floats_of(p, false, r->l.first_floats, &r->joint);
    set_inner(&r->l.w, &r->work.lookups[0]);
}

static histo_status launch(const histo_job *job)
{
    request r;
    r.l = layout_of(job->problem, job->params, 0);
    r.work = histo_cuda_work_of(job, r.l.blocks, MIN_TILE_SAMPLES, HISTO_MAX_TILE);
    const histo_joint_reader columns = histo_cuda_joint_of(&r.work, &r.joint);
    const bool is_slow = columns == histo_read_columns ||
                         (columns == HISTO_NOT_JOINT && histo_cuda_reader_of(&r.work) == HISTO_READ_ANY);
    if (!is_slow || !use_compiled(job, MIN_TILE_SAMPLES, &r)) use_given(job, MIN_TILE_SAMPLES, &r);
    if (r.l.is_found) r.l.w.found = (uint32_t *)job->workspace;
    void *args[] = {&r.work, &r.l.w, &r.joint};
    histo_status status = HISTO_OK;
    if (r.l.is_found)
        status = histo_cuda_launch(job, kernel_of_find(), dim3((unsigned)(r.work.tiles / r.work.tiles_per_entry)),
                                   FIND_THREADS, 0, args);
    if (status != HISTO_OK) return status;
    const void *of_stack = stack_kernel_of(job, r.l.bits, r.l.blocks, MIN_TILE_SAMPLES, &r.work, &r.l.w);
    dim3 grid((unsigned)(r.work.tiles < r.l.blocks ? r.work.tiles : r.l.blocks));
    return histo_cuda_launch(job, of_stack ? of_stack : r.kernel, grid, r.l.threads, r.l.shared, args);
}

extern "C" const histo_strategy histo_cuda_packed_window = {
    .unsupported_reason = histo_cuda_weights_unsupported,
    .cost_us = cost_us,
    .workspace = workspace,
    .launch = launch,
    .params = {{"first", -1, HISTO_MAX_SLOTS, -1,
                "slot of a batch entry where the window begins; -1: found by sampling"},
               {"length", 0, HISTO_MAX_SLOTS, 0, "slots of the window; 0: as many as fit"},
               {"bits", 0, 16, 0, "of a counter: 8 or 16, the next of these; 0: 16 if all slots fit, else 8"},
               histo_blocks_param,
               {"threads", 0, 1024, 0, "of a block, in whole warps; 0: 1024"}},
    .computed = true,
    .any_edges = true,
    .any_bytes = true,
};
