/* Filling histograms, with the caller's plan or one that the histogram makes and keeps. */
#include <stdio.h>

#include "base/floats.h"
#include "base/threads/threads.h"
#include "counts/hist.h"
#include "counts/listed.h"
#include "plan/pairs.h"
#include "plan/total.h"

/* pairs: how samples are computed from the images in views[0], or NULL. */
static histo_status make_plan(histo_plan **plan, const histo_hist *hist, const histo_view *views,
                              const histo_pairs *pairs, const histo_fill_options *fill,
                              const histo_plan_options *options)
{
    if (!plan || !hist) return histo_fail(HISTO_INVALID, "the plan or the histogram is NULL");
    const histo_hist_options kind = histo_hist_kind(hist);
    return histo_plan_make(plan, hist->naxes, hist->axes, &kind, views, pairs, fill, options);
}

histo_status histo_plan_create(histo_plan **plan, const histo_hist *hist, const histo_view *views,
                               const histo_fill_options *fill, const histo_plan_options *options)
{
    HISTO_STANDARD_FLOATS;
    if (plan) *plan = NULL;
    return make_plan(plan, hist, views, NULL, fill, options);
}

histo_status histo_plan_create_pairs(histo_plan **plan, const histo_hist *hist, const histo_view *stack,
                                     const histo_pairs *pairs, const histo_fill_options *fill,
                                     const histo_plan_options *options)
{
    HISTO_STANDARD_FLOATS;
    if (plan) *plan = NULL;
    const histo_status status = histo_pairs_check(pairs);
    return status == HISTO_OK ? make_plan(plan, hist, stack, pairs, fill, options) : status;
}

/* Check the views of a fill and bind them as operands. */
static histo_status bind(const histo_hist *hist, const histo_view *views, const histo_pairs *pairs,
                         const histo_fill_options *options, histo_problem *problem, const histo_view **operands)
{
    if (!hist) return histo_fail(HISTO_INVALID, "the histogram is NULL");
    const histo_hist_options kind = histo_hist_kind(hist);
    return histo_problem_bind(problem, hist->naxes, &kind, views, pairs, options, operands);
}

/* Whether all operands are known to be in the memory of the plan's device. */
static bool is_resident(const histo_problem *problem, const histo_plan *plan)
{
    return problem->resident && problem->home == plan->problem.device;
}

static histo_status fill(const histo_plan *plan, histo_hist *hist, const histo_view *views,
                         const histo_fill_options *options, histo_reading *reading)
{
    histo_problem problem;
    const histo_view *operands[HISTO_MAX_OPERANDS];
    histo_status status = bind(hist, views, plan ? &plan->problem.pairs : NULL, options, &problem, operands);
    if (status != HISTO_OK) return status;
    if (!plan) return histo_fail(HISTO_INVALID, "the plan is NULL");
    bool fits = plan->problem.naxes == hist->naxes && histo_plan_fits(&plan->problem, &problem);
    if (fits && hist->last_fitted != plan->serial) { /* comparing edges takes time */
        for (int a = 0; fits && a < hist->naxes; a++)
            fits = histo_axis_equal(&plan->problem.axes[a], &hist->axes[a]);
        if (fits) hist->last_fitted = plan->serial;
    }
    if (!fits)
        return histo_fail(HISTO_INVALID,
                          "the plan was made for other axes, dtypes, batch, weighting, storage or options");
    if (problem.bound && problem.home != plan->problem.device)
        return histo_fail(HISTO_UNSUPPORTED,
                          "the samples are in the memory of GPU %d, and the plan is for another device",
                          problem.home - HISTO_DEVICE_CUDA(0));
    return histo_plan_run(plan, &hist->accumulators, operands, options, is_resident(&problem, plan), reading);
}

histo_status histo_plan_fill(const histo_plan *plan, histo_hist *hist, const histo_view *views,
                             const histo_fill_options *options)
{
    HISTO_STANDARD_FLOATS;
    return fill(plan, hist, views, options, NULL);
}

histo_status histo_plan_fill_read(const histo_plan *plan, histo_hist *hist, const histo_view *views,
                                  const histo_fill_options *options, histo_slots slots, void *counts, int64_t size,
                                  const histo_read_options *read)
{
    HISTO_STANDARD_FLOATS;
    histo_reading reading;
    histo_status status = histo_hist_reading(hist, slots, HISTO_READ_COUNTS, counts, size, read, &reading);
    if (status != HISTO_OK) return status;
    reading.stream = options ? options->stream : NULL;
    const histo_device device = histo_hist_reading_device(hist, &reading);
    const bool at_once = plan && device != HISTO_DEVICE_CPU && device == plan->problem.device;
    status = fill(plan, hist, views, options, at_once ? &reading : NULL);
    if (status != HISTO_OK || reading.done) return status;
    status = histo_hist_read(hist, &reading);
    if (status == HISTO_CANCELLED) hist->accumulators.incomplete = true; /* part of the samples are counted */
    return status;
}

/* A plan is kept for sample counts within these factors of the one it was made for. */
enum { LESS = 64, MORE = 8 };

static histo_plan **find_plan(histo_hist *hist, histo_device home)
{
    histo_plan **link = &hist->plans;
    while (*link && (*link)->problem.home != home)
        link = &(*link)->next;
    return link;
}

/* Make the histogram's plan for samples in this device's memory its last one; NULL if there is none. */
static histo_plan *recall_plan(histo_hist *hist, histo_device home)
{
    histo_plan **link = find_plan(hist, home), *plan = *link;
    if (!plan || plan == hist->plans) return plan;
    *link = plan->next;
    plan->next = hist->plans;
    return hist->plans = plan;
}

void histo_hist_forget_plan(histo_hist *hist, histo_device home)
{
    histo_plan **link = find_plan(hist, home), *plan = *link;
    if (plan) *link = plan->next;
    histo_plan_destroy(plan);
}

/* Keep a plan, replacing the one for the same device. */
static void keep_plan(histo_hist *hist, histo_plan *plan, int threads)
{
    histo_hist_forget_plan(hist, plan->problem.home);
    plan->next = hist->plans;
    plan->threads_asked = threads;
    hist->plans = plan;
}

/* Whether the plan is good for fills of this many samples like these. */
static bool is_planned(const histo_plan *plan, const histo_problem *problem, int64_t samples, int threads)
{
    return plan && threads == plan->threads_asked && histo_plan_fits(&plan->problem, problem) &&
           !problem->apart == !plan->problem.apart && samples <= plan->problem.samples * MORE &&
           samples >= plan->problem.samples / LESS;
}

/* The input of a fill: its views, and their bound operands. */
typedef struct fill_of {
    const histo_view *views;
    const histo_pairs *pairs;
    const histo_fill_options *options;
    histo_problem problem;
    const histo_view *operands[HISTO_MAX_OPERANDS];
} fill_of;

static histo_status bind_fill(const histo_hist *hist, fill_of *f, const histo_view *views, const histo_pairs *pairs,
                              const histo_fill_options *options)
{
    f->views = views;
    f->pairs = pairs;
    f->options = options;
    return bind(hist, views, pairs, options, &f->problem, f->operands);
}

/* *plan = the histogram's plan for fills of this many samples, made if there is none; NULL if they are few. */
static histo_status provide_plan(histo_hist *hist, const fill_of *f, int64_t samples, histo_plan **plan)
{
    const int threads = f->options && f->options->threads ? f->options->threads : histo_threads_set();
    *plan = recall_plan(hist, f->problem.home);
    /* With a split plan, one GPU counts what cannot be split. */
    if (is_planned(*plan, &f->problem, samples, threads) &&
        ((*plan)->split.fraction == 0 || histo_split_fits(*plan, f->operands)))
        return HISTO_OK;
    *plan = NULL;
    if (histo_has_few_samples(&f->problem, hist->axes, hist->unplanned.spent)) return HISTO_OK;
    const histo_status status = make_plan(plan, hist, f->views, f->pairs, f->options, NULL);
    if (status == HISTO_OK) keep_plan(hist, *plan, threads);
    return status;
}

/* Count with a plan, or without one if it is NULL. */
static histo_status run(histo_hist *hist, fill_of *f, const histo_plan *plan)
{
    histo_accumulators *to = &hist->accumulators;
    if (plan) {
        hist->unplanned.noted = false;
        const histo_status status =
            histo_plan_run(plan, to, f->operands, f->options, is_resident(&f->problem, plan), NULL);
        /* The plan's prepared data may be gone with the device. */
        if (status == HISTO_DEVICE) histo_hist_forget_plan(hist, plan->problem.home);
        return status;
    }
    const histo_status status = histo_count_few_samples(&f->problem, hist->axes, to, f->operands, f->options);
    if (status == HISTO_OK) histo_unplanned_note(&hist->unplanned, &f->problem);
    return status;
}

static histo_status fill_planned(histo_hist *hist, const histo_view *views, const histo_pairs *pairs,
                                 const histo_fill_options *options)
{
    fill_of f;
    histo_plan *plan;
    histo_status status = bind_fill(hist, &f, views, pairs, options);
    if (status == HISTO_OK) status = provide_plan(hist, &f, f.problem.samples, &plan);
    return status == HISTO_OK ? run(hist, &f, plan) : status;
}

const histo_plan *histo_hist_last_plan(const histo_hist *hist)
{
    HISTO_STANDARD_FLOATS;
    if (!hist) return NULL;
    histo_plan *plan;
    if (!hist->unplanned.noted) return hist->plans;
    const histo_hist_options kind = histo_hist_kind(hist);
    if (histo_unplanned_plan(&hist->unplanned, hist->naxes, hist->axes, &kind, &plan) != HISTO_OK) return NULL;
    histo_hist *owner = (histo_hist *)hist; /* making a plan on request changes nothing else */
    keep_plan(owner, plan, histo_threads_set());
    owner->unplanned.noted = false;
    return plan;
}

histo_status histo_hist_fill(histo_hist *hist, const histo_view *views, const histo_fill_options *options)
{
    HISTO_STANDARD_FLOATS;
    if (!options || (!options->rows && !options->weight_count)) return fill_planned(hist, views, NULL, options);
    histo_listed listed;
    if (!hist) return histo_fail(HISTO_INVALID, "the histogram is NULL");
    histo_status status = histo_listed_make(&listed, hist, views, options);
    if (status == HISTO_OK) status = fill_planned(hist, listed.views, NULL, &listed.options);
    histo_listed_free(&listed);
    return status;
}

histo_status histo_hist_fill_pairs(histo_hist *hist, const histo_view *stack, const histo_pairs *pairs,
                                   const histo_fill_options *options)
{
    HISTO_STANDARD_FLOATS;
    const histo_status status = histo_pairs_check(pairs);
    return status == HISTO_OK ? fill_planned(hist, stack, pairs, options) : status;
}

/* ---- Chunks ---- */

static histo_fill_options options_of(const histo_fill_chunk *chunks, int64_t i, const histo_fill_options *all)
{
    histo_fill_options of = *all;
    of.weights = chunks[i].weights;
    of.mask = chunks[i].mask;
    of.where = chunks[i].where;
    of.mask_offset = chunks[i].mask_offset;
    of.replace = all->replace && i == 0;
    return of;
}

/* Prefix the message with the chunk that failed. */
static histo_status blame_chunk(int64_t i, histo_status status, const char *then)
{
    char why[256];
    snprintf(why, sizeof why, "%s", histo_last_error());
    return histo_fail(status, "chunks[%lld]: %s%s", (long long)i, why, then);
}

static histo_status check_chunk(const histo_hist *hist, const histo_fill_chunk *chunks, int64_t i,
                                const histo_fill_options *all, fill_of *f)
{
    histo_status status = histo_check_reserved(chunks[i].reserved, sizeof chunks[i].reserved, "histo_fill_chunk");
    const histo_fill_options of = options_of(chunks, i, all);
    if (status == HISTO_OK) status = bind_fill(hist, f, chunks[i].views, NULL, &of);
    f->options = NULL; /* of this call only */
    return status;
}

/* Check all chunks, and that they agree; *largest is the index of the one with the most samples. */
static histo_status check_chunks(histo_hist *hist, int64_t count, const histo_fill_chunk *chunks,
                                 const histo_fill_options *all, int64_t *largest)
{
    fill_of first, next;
    uint64_t samples = 0, most = 0;
    for (int64_t i = 0; i < count; i++) {
        fill_of *f = i ? &next : &first;
        const histo_status status = check_chunk(hist, chunks, i, all, f);
        if (status != HISTO_OK) return blame_chunk(i, status, "");
        if (!histo_plan_fits(&first.problem, &f->problem) || first.problem.home != f->problem.home)
            return histo_fail(
                HISTO_INVALID,
                "chunks[%lld] has other dtypes than chunks[0], other choices of weights, mask and where, or "
                "is in other memory",
                (long long)i);
        const uint64_t n = (uint64_t)f->problem.samples;
        if (__builtin_add_overflow(samples, n, &samples)) return histo_fail_total();
        if (i == 0 || n > most) *largest = i;
        if (n > most) most = n;
    }
    if (all->replace) return HISTO_OK;
    const histo_status status = histo_total_admit(&hist->accumulators, samples);
    if (status == HISTO_OK) hist->accumulators.most -= samples; /* each fill admits its own samples */
    return status;
}

static histo_status check_fill_of_chunks(const histo_hist *hist, int64_t count, const histo_fill_chunk *chunks,
                                         const histo_fill_options *all)
{
    if (!hist) return histo_fail(HISTO_INVALID, "hist is NULL");
    if (count < 0 || (count && !chunks))
        return histo_fail(HISTO_INVALID, count < 0 ? "count is %lld" : "chunks is NULL, and count is %lld",
                          (long long)count);
    if (all->weights || all->mask || all->where || all->mask_offset)
        return histo_fail(HISTO_INVALID, "options have weights, mask, where or mask_offset: each chunk has its own");
    if (all->offsets) return histo_fail(HISTO_INVALID, "options have offsets, which chunks cannot have");
    return HISTO_OK;
}

histo_status histo_hist_fill_chunks(histo_hist *hist, int64_t count, const histo_fill_chunk *chunks,
                                    const histo_fill_options *options)
{
    HISTO_STANDARD_FLOATS;
    static const histo_fill_options defaults;
    const histo_fill_options *all = options ? options : &defaults;
    int64_t largest = 0;
    histo_status status = check_fill_of_chunks(hist, count, chunks, all);
    if (status == HISTO_OK) status = check_chunks(hist, count, chunks, all, &largest);
    if (status != HISTO_OK || count == 0)
        return status == HISTO_OK && all->replace ? histo_hist_reset(hist, all->stream) : status;
    fill_of f;
    histo_plan *plan;
    histo_fill_options of = options_of(chunks, largest, all);
    status = bind_fill(hist, &f, chunks[largest].views, NULL, &of);
    if (status == HISTO_OK) status = provide_plan(hist, &f, f.problem.samples, &plan);
    const int64_t samples = f.problem.samples;
    for (int64_t i = 0; i < count && status == HISTO_OK; i++) {
        of = options_of(chunks, i, all);
        status = bind_fill(hist, &f, chunks[i].views, NULL, &of);
        if (status == HISTO_OK) status = provide_plan(hist, &f, samples, &plan);
        if (status == HISTO_OK) status = run(hist, &f, plan);
        if (status == HISTO_OK) continue;
        if (i) hist->accumulators.incomplete = true;
        status = blame_chunk(i, status, i ? "; the chunks before it were counted: reset the histogram" : "");
    }
    return status;
}
