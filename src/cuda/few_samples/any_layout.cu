/* Few samples of any layout: which jobs the kernels count, and what is written into their arguments. */
#include "cuda/few_samples/any_layout.h"

#include <math.h>
#include <string.h>

#include "cuda/few_samples/general.cuh"
#include "cuda/few_samples/general.h"
#include "cuda/jit/class.h"
#include "cuda/jit/specialised.h"
#include "cuda/launch/estimates.h"
#include "cuda/launch/launch.h"
#include "cuda/launch/work_of_job.h"
#include "plan/costs/rates.h"
#include "view/dtype.h"

using namespace histo::few;

/* So many samples in all, and of a batch entry, are few. */
enum { FEW = 1 << 24, FEW_OF_ENTRY = 1 << 22, FEW_IN_GENERAL = 1 << 21 /* for general.cuh */ };

/* ---- The grid ---- */

/* What it depends on. */
typedef struct shape {
    int64_t samples, batch, slots;
    histo_weighting weighting;
} shape;

typedef struct grid {
    histo_few_kind is;
    int threads, samples; /* samples of a thread in a step */
    int64_t steps, blocks;
    double us; /* without look-ups */
} grid;

/* The time of n additions to counters in the L2 cache, spread over all of them: those in one line wait for each other.
 */
static double additions_us(double n, double counters)
{
    const double added = 8e4, added_in_line = 2.5e3, counters_of_line = 16;
    return n / fmin(added, added_in_line * fmax(counters / counters_of_line, 1));
}

static grid grid_with(const shape *of, int threads, int samples, int64_t steps, histo_few_kind is)
{
    return {is, threads, samples, steps, (of->samples - 1) / (threads * samples * steps) + 1, 0};
}

/* However skewed the samples are. */
static grid direct_grid(const shape *of)
{
    enum { THREADS = DIRECT_THREADS, ALL_THREADS = 1 << 18 /* that a device has at once */ };
    const double launch = 4.2, counted = 2e5, n = (double)of->samples, of_entry = n / (double)of->batch;
    const bool weighted = of->weighting != HISTO_UNWEIGHTED, is_many = !weighted && of->samples > 2 * ALL_THREADS;
    /* Exact sums are too much code for several samples. */
    const bool several = of->samples > 2 * ALL_THREADS && !histo_is_reproducible(of->weighting);
    const int64_t steps = is_many ? (of->samples - 1) / (ALL_THREADS * EACH) + 1 : 1;
    grid it = grid_with(of, THREADS, several ? EACH : 1, steps, is_many ? HISTO_FEW_MANY : HISTO_FEW_ONE_STEP);
    const double together = fmin((double)of->slots * (1 + WARP / of_entry), WARP) / WARP; /* counters of a warp */
    const double joined = WARP * (is_many ? (double)steps * EACH : 1), one = weighted ? 2 : 1,
                 sums = weighted ? 1.5 : 1;
    it.us = launch + n / counted +
            fmax(additions_us(sums * n * together, (double)of->slots * (double)of->batch),
                 one * of_entry / joined / HISTO_CUDA_ONE_COUNTER);
    return it;
}

static grid dense_grid(const shape *of)
{
    enum { THREADS = DENSE_THREADS, BLOCKS = 132 };
    const double launch = 4.3, step_us = 0.8, counters = (double)of->batch * (double)(of->slots + 1);
    const bool several = of->samples > THREADS * BLOCKS;
    const int64_t steps = several ? (of->samples - 1) / (THREADS * BLOCKS * EACH) + 1 : 1;
    grid it = grid_with(of, THREADS, several ? EACH : 1, steps, HISTO_FEW_DENSE);
    it.us = launch + step_us * (double)steps +
            additions_us((double)it.blocks * fmin(counters, THREADS * it.samples * (double)steps), counters);
    return it;
}

static grid grid_of(const shape *of)
{
    enum { DENSE_COUNTERS = 8192 };
    const grid direct = direct_grid(of);
    if (of->weighting != HISTO_UNWEIGHTED || of->batch * (of->slots + 1) > DENSE_COUNTERS) return direct;
    const grid dense = dense_grid(of);
    return dense.us < direct.us ? dense : direct;
}

double histo_few_any_layout_us(const histo_problem *p)
{
    const double load = 1; /* us that one waits for device memory */
    if (p->samples > FEW || p->samples > p->batch * FEW_OF_ENTRY || histo_is_computed(p) || p->samples == 0)
        return INFINITY;
    const bool is_compiled = histo_cuda_expects_compiled(p);
    if (!is_compiled && (p->records || p->samples > FEW_IN_GENERAL)) return INFINITY;
    const shape of = {p->samples, p->batch, p->slots, p->weighting};
    const grid it = grid_of(&of);
    const double launch_us = 4, bytes_per_us = 3e6;
    double us =
        fmax(it.us, launch_us + (double)p->samples * (histo_sample_bytes(p) / bytes_per_us + histo_cuda_lookup_us(p)));
    if (!is_compiled) { /* more cold code, and more instructions of a sample */
        const bool is_simple = p->naxes == 1 && p->operands == 1 && p->plain;
        const double cold_us = is_simple ? 0.2 : 1, operands_per_us = is_simple ? 1e6 : 2.3e5;
        us += cold_us + (double)p->samples * p->operands / operands_per_us;
    }
    if (p->ragged) us += 2 * load;
    for (int a = 0; a < p->naxes; a++) /* dependent loads that find nothing in a cache */
        if (p->lookups[a].edges && !p->lookups[a].table) us += (p->lookups[a].bins > HISTO_MAX_PIVOTS ? 2 : 1) * load;
    return us;
}

/* ---- Arguments ---- */

/* Writes arguments one after the other, as few::arguments has them. */
struct buffer_writer {
    histo_few_any_layout *few;

    template <typename T>
    void add(const T &x)
    {
        static_assert(sizeof x % sizeof *few->arguments == 0);
        memcpy((char *)few->arguments + few->bytes, &x, sizeof x);
        few->bytes += sizeof x;
    }
};

static head head_of(const histo_job *job, const histo_cuda_work *work, const grid *it)
{
    head h;
    memset(&h, 0, sizeof h);
    h.counts = work->counts;
    h.samples = (uint32_t)(job->end - job->begin);
    h.begin = (uint32_t)job->begin;
    h.counters = work->counters;
    h.slots = work->slots;
    h.batch = (uint32_t)work->iter.batch;
    h.steps = (uint32_t)it->steps;
    memcpy(h.slot_strides, work->slot_strides, sizeof h.slot_strides);
    h.offsets = work->iter.offsets;
    h.where_lo = work->where_lo;
    h.where_hi = work->where_hi;
    h.where_lo_f32 = work->where_lo_f32;
    h.where_hi_f32 = work->where_hi_f32;
    h.where_lo_i32 = work->where_lo_i32;
    h.where_hi_i32 = work->where_hi_i32;
    h.sum_w = work->sum_w;
    h.sum_w2 = work->sum_w2;
    memcpy(h.exact, work->exact, sizeof h.exact);
    h.all = work->iter.batch * work->counters;
    return h;
}

static void write_arguments(const histo_job *job, const histo_cuda_work *work, const grid *it,
                            histo_few_any_layout *few)
{
    const histo_strided_iter *iter = &work->iter;
    buffer_writer to = {few};
    few->bytes = 0;
    to.add(head_of(job, work, it));
    for (int d = 0; d < iter->ndim; d++)
        to.add(dimension{(uint32_t)iter->shape[d], 0, work->divisors[d]});
    for (int o = 0; o < iter->operands; o++) {
        to.add(iter->base[o]);
        for (int d = 0; d < iter->ndim; d++)
            to.add(iter->strides[o][d]);
    }
    for (int a = 0; a < work->naxes; a++)
        to.add(work->lookups[a]);
    static_assert(sizeof(head) + (HISTO_MAX_DIMS + 1) * sizeof(dimension) +
                      HISTO_MAX_OPERANDS * sizeof(operand<HISTO_MAX_DIMS + 1>) +
                      HISTO_MAX_AXES * sizeof(histo_lookup) <=
                  sizeof few->arguments);
}

/* ---- Jobs ---- */

static const char *kernel_name(histo_weighting weighting, histo_few_kind is)
{
    switch (weighting) {
    case HISTO_WEIGHT_FAST:
        return "histo::few::count_weighted<constants, false, true>";
    case HISTO_WEIGHT_FAST_SUM:
        return "histo::few::count_weighted<constants, false, false>";
    case HISTO_WEIGHT_REPRODUCIBLE:
        return "histo::few::count_weighted<constants, true, true>";
    case HISTO_WEIGHT_REPRODUCIBLE_SUM:
        return "histo::few::count_weighted<constants, true, false>";
    default:
        return is == HISTO_FEW_DENSE  ? "histo::few::count_dense<constants>"
               : is == HISTO_FEW_MANY ? "histo::few::count_many<constants>"
                                      : "histo::few::count<constants>";
    }
}

/* The same samples by a kernel of general.cuh, of which a thread takes other numbers of samples. */
static void use_general(const histo_few_kernel *kernel, int64_t samples, grid *it)
{
    if (it->is != HISTO_FEW_ONE_STEP) it->steps = (it->steps * it->samples - 1) / kernel->samples + 1;
    it->samples = kernel->samples;
    it->blocks = (samples - 1) / (it->threads * it->samples * it->steps) + 1;
}

/* use(a dimension's number in the order of general.cuh, in that of the iterator) */
template <class function>
static void with_dims(const histo_strided_iter *iter, function use)
{
    for (int d = 0; d < iter->ndim; d++)
        use(d, iter->ndim - 1 - d);
}

static bool describe_simple(const histo_job *job, const histo_cuda_work *work, grid *it, histo_few_any_layout *few)
{
    const histo_strided_iter *iter = &work->iter;
    const histo_problem *p = job->problem;
    if (p->naxes > 1 || iter->operands > 1 || iter->offsets || !work->aligned || p->weighting != HISTO_UNWEIGHTED)
        return false;
    const histo_few_kernel kernel = histo_few_simple(&work->lookups[0], work->dtypes[0], it->is, it->samples > 1);
    if (!kernel.kernel) return false;
    const int64_t samples = job->end - job->begin;
    simple_arguments a;
    memset(&a, 0, sizeof a);
    use_general(&kernel, samples, it);
    a.base = iter->base[0];
    a.samples = (uint32_t)samples;
    a.begin = (uint32_t)job->begin;
    a.ndim = (uint32_t)iter->ndim;
    a.steps = (uint32_t)it->steps;
    a.last_stride = iter->strides[0][0];
    a.counts = work->counts;
    a.batch = (uint32_t)iter->batch;
    a.slots = work->slots;
    a.counters = work->counters;
    a.all = iter->batch * work->counters;
    a.by_entry = histo_divisor_of(iter->batch > 1 ? iter->per_batch : 1);
    a.lookup = work->lookups[0];
    with_dims(iter, [&](int d, int of) {
        a.dims[d].stride = iter->strides[0][of];
        a.dims[d].of = dimension{(uint32_t)iter->shape[of], 0, work->divisors[of]};
    });
    few->kernel = kernel.kernel;
    few->shared = a.lookup.kind == HISTO_SEARCH ? HISTO_MAX_PIVOTS * sizeof(double) : 0;
    static_assert(sizeof a <= sizeof few->arguments);
    memcpy(few->arguments, &a, sizeof a);
    return true;
}

static any_by any_by_of(const histo_lookup *l, const any_operand *how)
{
    if (l->pow2.is && how->size <= sizeof(uint32_t)) return ANY_SHIFT;
    if (l->kind == HISTO_UNIFORM) return ANY_NEAREST;
    if (l->kind == HISTO_SEARCH_WHOLE) return ANY_WHOLE;
    if (l->table) return ANY_TABLE;
    return l->near > 0 && !how->is_whole ? ANY_NEAR : ANY_PIVOTS;
}

static any_operand any_operand_of(const histo_cuda_work *work, int o)
{
    const histo_strided_iter *iter = &work->iter;
    const histo_dtype dtype = work->dtypes[o];
    const bool is_bits = work->has_bits && o == work->mask;
    uint64_t at = (uint64_t)(uintptr_t)iter->base[o];
    for (int d = 0; d < iter->ndim; d++)
        at |= (uint64_t)iter->strides[o][d];
    any_operand how = {};
    how.size = is_bits ? 0 : (uint8_t)histo_dtype_size(dtype);
    how.is_float = !histo_dtype_is_integer(dtype);
    how.is_unsigned = dtype == HISTO_U8 || dtype == HISTO_U16 || dtype == HISTO_U32 || dtype == HISTO_U64;
    how.is_swapped = work->swapped >> o & 1;
    how.is_odd = how.is_swapped || (how.size && at % how.size);
    how.is_bf16 = dtype == HISTO_BF16;
    how.is_whole = dtype == HISTO_I64 || dtype == HISTO_U64;
    if (o < work->naxes) how.by = (uint8_t)any_by_of(&work->lookups[o], &how);
    return how;
}

/* Set where the pivots of each axis are in shared memory. */
static void place_pivots(any_arguments *a)
{
    int axes = 0;
    for (uint32_t axis = 0; axis < a->naxes; axis++)
        axes += a->how[axis].by == ANY_PIVOTS;
    const uint32_t each = axes ? (uint32_t)histo_pivots_each(axes) : 0;
    uint32_t first = 0;
    for (uint32_t axis = 0; axis < a->naxes; axis++) {
        if (a->how[axis].by != ANY_PIVOTS) continue;
        const uint32_t bins = (uint32_t)a->lookups[axis].bins, apart = (bins + each - 1) / each;
        a->pivots[axis] = {first, (bins - 1) / apart + 1, apart};
        first += a->pivots[axis].count;
    }
    a->pivot_words = first * (uint32_t)(sizeof(double) / sizeof(uint32_t));
}

static void describe_any(const histo_job *job, const histo_cuda_work *work, grid *it, histo_few_any_layout *few)
{
    const histo_strided_iter *iter = &work->iter;
    bool is_odd = iter->offsets || iter->operands > HELD;
    any_arguments a;
    memset(&a, 0, sizeof a);
    for (int o = 0; o < iter->operands; o++) {
        a.how[o] = any_operand_of(work, o);
        a.base[o] = iter->base[o];
        is_odd = is_odd || a.how[o].is_odd || a.how[o].is_whole || a.how[o].size == 0;
    }
    const histo_few_kernel kernel = histo_few_any(job->problem->weighting, it->is, it->samples > 1, is_odd);
    use_general(&kernel, job->end - job->begin, it);
    static_cast<head &>(a) = head_of(job, work, it);
    a.ndim = (uint32_t)iter->ndim;
    a.operands = (uint32_t)iter->operands;
    a.naxes = (uint32_t)work->naxes;
    a.mask = work->mask;
    a.where = work->where;
    a.weights = work->weights;
    a.by_entry = histo_divisor_of(iter->batch > 1 && !iter->offsets ? iter->per_batch : 1);
    memcpy(a.lookups, work->lookups, sizeof a.lookups);
    with_dims(iter, [&](int d, int of) {
        a.dims[d] = dimension{(uint32_t)iter->shape[of], 0, work->divisors[of]};
        for (int o = 0; o < iter->operands; o++)
            a.strides[d][o] = iter->strides[o][of];
    });
    place_pivots(&a);
    few->kernel = kernel.kernel;
    few->shared = a.pivot_words * sizeof(uint32_t);
    static_assert(sizeof a <= sizeof few->arguments);
    memcpy(few->arguments, &a, sizeof a);
}

/* A kernel of general.cuh. */
static bool describe_general(const histo_job *job, const histo_cuda_work *work, int64_t most, grid *it,
                             histo_few_any_layout *few)
{
    const histo_strided_iter *iter = &work->iter;
    const int64_t all = iter->batch * work->counters;
    if (iter->images || job->problem->records || job->end - job->begin > FEW_IN_GENERAL || all >= UINT32_MAX ||
        (iter->batch > 1 && iter->per_batch > most))
        return false;
    if (!describe_simple(job, work, it, few)) describe_any(job, work, it, few);
    if (it->is == HISTO_FEW_DENSE) few->shared += (size_t)all * sizeof(unsigned int);
    few->threads = it->threads;
    few->blocks = it->blocks;
    return true;
}

/* A kernel that is compiled for the job's class. */
static bool describe_compiled(const histo_job *job, histo_cuda_work *work, const grid *it, histo_few_any_layout *few)
{
    histo_cuda_class constants;
    if (!histo_cuda_class_of(job, work, NULL, it->threads, &constants)) return false;
    /* Neighbouring threads have neighbouring samples, wherever they lie. */
    constants.samples = it->samples;
    constants.vector = 1;
    int pivot_axes = 0;
    for (int a = 0; a < constants.naxes; a++)
        if (constants.axes[a].by == HISTO_BY_SEARCH) {
            constants.axes[a].by = HISTO_BY_PIVOTS;
            pivot_axes++;
        }
    few->threads = it->threads;
    few->blocks = it->blocks;
    few->shared = it->is == HISTO_FEW_DENSE ? (size_t)(work->iter.batch * work->counters) * sizeof(unsigned int) : 0;
    few->shared += (size_t)(pivot_axes * histo_pivots_each(pivot_axes)) * sizeof(double);
    few->kernel = histo_cuda_specialised_kernel(job, &constants, "cuda/few_samples/any_layout.cuh",
                                                kernel_name(job->problem->weighting, it->is));
    if (few->kernel) write_arguments(job, work, it, few);
    return few->kernel;
}

bool histo_few_any_layout_describe(const histo_job *job, histo_few_any_layout *few)
{
    enum { MOST = 1 << 30 };
    const histo_strided_iter *iter = &job->iter;
    const int64_t samples = job->end - job->begin;
    if (samples > FEW || samples > iter->batch * FEW_OF_ENTRY || job->end > MOST || iter->batch > MOST) return false;
    for (int d = 0; d < iter->ndim; d++)
        if (iter->shape[d] > MOST) return false;
    const shape of = {samples, iter->batch, job->problem->slots, job->problem->weighting};
    grid it = grid_of(&of);
    histo_cuda_work work = histo_cuda_work_of(job, 1, 1, samples);
    return describe_compiled(job, &work, &it, few) || describe_general(job, &work, MOST, &it, few);
}

histo_status histo_few_any_layout_launch(const histo_job *job, histo_few_any_layout *few)
{
    void *args[] = {few->arguments};
    return histo_cuda_launch(job, few->kernel, dim3((unsigned)few->blocks), few->threads, few->shared, args);
}
