/* Few samples of any layout: which jobs the kernels count, and what is written into their arguments. */
#include "cuda/few_samples/any_layout.h"

#include <math.h>
#include <string.h>

#include "cuda/few_samples/any_layout.cuh"
#include "cuda/jit/class.h"
#include "cuda/jit/specialised.h"
#include "cuda/launch/estimates.h"
#include "cuda/launch/launch.h"
#include "cuda/launch/work_of_job.h"
#include "plan/costs/rates.h"

using namespace histo::few;

/* So many samples in all, and of a batch entry, are few. */
enum { FEW = 1 << 24, FEW_OF_ENTRY = 1 << 22 };

/* ---- The grid ---- */

typedef enum kind { ONE_STEP, MANY, DENSE } kind;

/* What it depends on. */
typedef struct shape {
    int64_t samples, batch, slots;
    histo_weighting weighting;
} shape;

typedef struct grid {
    kind is;
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

static grid grid_with(const shape *of, int threads, int samples, int64_t steps, kind is)
{
    return {is, threads, samples, steps, (of->samples - 1) / (threads * samples * steps) + 1, 0};
}

/* However skewed the samples are. */
static grid direct_grid(const shape *of)
{
    enum { THREADS = 128, ALL_THREADS = 1 << 18 /* that a device has at once */, EACH = 4 };
    const double launch = 4.2, counted = 2e5, n = (double)of->samples, of_entry = n / (double)of->batch;
    const bool weighted = of->weighting != HISTO_UNWEIGHTED, is_many = !weighted && of->samples > 2 * ALL_THREADS;
    /* Exact sums are too much code for several samples. */
    const bool several = of->samples > 2 * ALL_THREADS && !histo_is_reproducible(of->weighting);
    const int64_t steps = is_many ? (of->samples - 1) / (ALL_THREADS * EACH) + 1 : 1;
    grid it = grid_with(of, THREADS, several ? EACH : 1, steps, is_many ? MANY : ONE_STEP);
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
    enum { THREADS = 1024, BLOCKS = 132, EACH = 4 };
    const double launch = 4.3, step_us = 0.8, counters = (double)of->batch * (double)(of->slots + 1);
    const bool several = of->samples > THREADS * BLOCKS;
    const int64_t steps = several ? (of->samples - 1) / (THREADS * BLOCKS * EACH) + 1 : 1;
    grid it = grid_with(of, THREADS, several ? EACH : 1, steps, DENSE);
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
    if (!histo_cuda_expects_compiled(p)) return INFINITY;
    const shape of = {p->samples, p->batch, p->slots, p->weighting};
    const grid it = grid_of(&of);
    const double launch_us = 4, bytes_per_us = 3e6;
    double us =
        fmax(it.us, launch_us + (double)p->samples * (histo_sample_bytes(p) / bytes_per_us + histo_cuda_lookup_us(p)));
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

static const char *kernel_name(histo_weighting weighting, kind is)
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
        return is == DENSE  ? "histo::few::count_dense<constants>"
               : is == MANY ? "histo::few::count_many<constants>"
                            : "histo::few::count<constants>";
    }
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
    const grid it = grid_of(&of);
    histo_cuda_work work = histo_cuda_work_of(job, 1, 1, samples);
    histo_cuda_class constants;
    if (!histo_cuda_class_of(job, &work, NULL, it.threads, &constants)) return false;
    /* Neighbouring threads have neighbouring samples, wherever they lie. */
    constants.samples = it.samples;
    constants.vector = 1;
    int pivot_axes = 0;
    for (int a = 0; a < constants.naxes; a++)
        if (constants.axes[a].by == HISTO_BY_SEARCH) {
            constants.axes[a].by = HISTO_BY_PIVOTS;
            pivot_axes++;
        }
    few->threads = it.threads;
    few->blocks = it.blocks;
    few->shared = it.is == DENSE ? (size_t)(iter->batch * (of.slots + 1)) * sizeof(unsigned int) : 0;
    few->shared += (size_t)(pivot_axes * histo_pivots_each(pivot_axes)) * sizeof(double);
    few->kernel = histo_cuda_specialised_kernel(job, &constants, "cuda/few_samples/any_layout.cuh",
                                                kernel_name(of.weighting, it.is));
    if (few->kernel) write_arguments(job, &work, &it, few);
    return few->kernel;
}

histo_status histo_few_any_layout_launch(const histo_job *job, histo_few_any_layout *few)
{
    void *args[] = {few->arguments};
    return histo_cuda_launch(job, few->kernel, dim3((unsigned)few->blocks), few->threads, few->shared, args);
}
