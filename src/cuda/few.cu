/* Few samples: which jobs the kernels of few.cuh count, and what is written into their arguments. */
#include "cuda/few.h"

#include <math.h>
#include <string.h>

#include "cuda/few.cuh"

using namespace histo::few;

enum { THREADS = 128 };
/* So many samples in all are counted by a thread each; so many of a batch entry may all have one counter without much
 * loss. Weights have no other kernel that joins those of one counter, if the counters do not fit a block. */
enum { FEW = 1 << 24, FEW_OF_ENTRY = 1 << 17, FEW_WEIGHTS_OF_ENTRY = 1 << 22 };

static bool are_few(int64_t samples, int64_t batch, histo_weighting weighting)
{
    const int64_t of_entry = weighting == HISTO_UNWEIGHTED ? FEW_OF_ENTRY : FEW_WEIGHTS_OF_ENTRY;
    return samples <= FEW && samples <= batch * of_entry;
}

/* More than one only where there are more samples than threads on a device; exact sums are too much code for it. */
static int samples_of_thread(int64_t samples, histo_weighting weighting)
{
    enum { MANY = 1 << 19, EACH = 4 };
    return samples < MANY || histo_is_reproducible(weighting) ? 1 : EACH;
}

double histo_cuda_few_us(const histo_problem *p)
{
    /* In a microsecond: samples counted, and additions to counters all over the L2 cache. */
    const double launch = 5.1, load = 0.7, counted = 2e5, added = 8e4;
    if (!are_few(p->samples, p->batch, p->weighting) || p->pairs || !histo_cuda_expects_compiled(p)) return INFINITY;
    const int sums = p->weighting == HISTO_UNWEIGHTED ? 1
                     : histo_is_fast(p->weighting)    ? 2 + histo_has_squares(p->weighting)
                                                      : 3 + 2 * histo_has_squares(p->weighting);
    /* A warp adds to at most so many counters. */
    const double n = (double)p->samples, of_entry = n / (double)p->batch, busiest = of_entry / WARP;
    const double together = fmin((double)p->slots * (1 + WARP / of_entry), WARP) / WARP;
    const double one = HISTO_CUDA_ONE_COUNTER / (p->weighting == HISTO_UNWEIGHTED ? 1 : 2);
    double us = launch + n / counted + fmax(sums * n * together / added, busiest / one);
    if (p->ragged) us += 2 * load;
    for (int a = 0; a < p->naxes; a++) /* dependent loads that find nothing in a cache */
        if (p->lookups[a].edges && !p->lookups[a].table) us += 2 * load;
    return us;
}

/* Writes arguments one after the other, as few::arguments has them. */
struct writer {
    histo_few *few;

    template <typename T>
    void add(const T &x)
    {
        static_assert(sizeof x % sizeof *few->arguments == 0);
        memcpy((char *)few->arguments + few->bytes, &x, sizeof x);
        few->bytes += sizeof x;
    }
};

static head head_of(const histo_job *job, const histo_cuda_work *work)
{
    head h;
    memset(&h, 0, sizeof h);
    h.counts = work->counts;
    h.samples = (uint32_t)(job->end - job->begin);
    h.begin = (uint32_t)job->begin;
    h.counters = work->counters;
    h.slots = work->slots;
    h.batch = (uint32_t)work->iter.batch;
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

static void write_arguments(const histo_job *job, const histo_cuda_work *work, histo_few *few)
{
    const histo_strided_iter *iter = &work->iter;
    writer to = {few};
    few->bytes = 0;
    to.add(head_of(job, work));
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

static const char *kernel_name(const histo_job *job)
{
    switch (job->problem->weighting) {
    case HISTO_WEIGHT_FAST:
        return "histo::few::count_weighted<known, false, true>";
    case HISTO_WEIGHT_FAST_SUM:
        return "histo::few::count_weighted<known, false, false>";
    case HISTO_WEIGHT_REPRODUCIBLE:
        return "histo::few::count_weighted<known, true, true>";
    case HISTO_WEIGHT_REPRODUCIBLE_SUM:
        return "histo::few::count_weighted<known, true, false>";
    default:
        return "histo::few::count<known>";
    }
}

bool histo_cuda_few_describe(const histo_job *job, histo_few *few)
{
    const histo_strided_iter *iter = &job->iter;
    const int64_t samples = job->end - job->begin;
    if (!are_few(samples, iter->batch, job->problem->weighting) || job->end > INT32_MAX || iter->batch >= INT32_MAX)
        return false;
    for (int d = 0; d < iter->ndim; d++)
        if (iter->shape[d] > INT32_MAX) return false;
    histo_cuda_work work = histo_cuda_work_of(job, 1, 1, samples);
    histo_cuda_known known;
    if (!histo_cuda_known_of(job, &work, NULL, THREADS, &known)) return false;
    /* Neighbouring threads have neighbouring samples, wherever they lie. */
    known.samples = samples_of_thread(samples, job->problem->weighting);
    known.vector = 1;
    known.pixel_word = 0;
    memset(known.vectors, 0, sizeof known.vectors);
    few->threads = THREADS;
    few->blocks = (samples - 1) / (THREADS * known.samples) + 1;
    few->kernel = histo_cuda_known_kernel(job, &known, "cuda/few.cuh", kernel_name(job));
    if (few->kernel) write_arguments(job, &work, few);
    return few->kernel;
}

histo_status histo_cuda_few_launch(const histo_job *job, histo_few *few)
{
    void *args[] = {few->arguments};
    return histo_cuda_launch(job, few->kernel, dim3((unsigned)few->blocks), few->threads, 0, args);
}
