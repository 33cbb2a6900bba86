/* Filling histograms, by the caller's plan or by one that the histogram makes and keeps. */
#include "base/floats.h"
#include "base/threads/threads.h"
#include "counts/hist.h"
#include "plan/pairs.h"

/* pairs: of images in views[0], or NULL. */
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
    return make_plan(plan, hist, views, NULL, fill, options);
}

histo_status histo_plan_create_pairs(histo_plan **plan, const histo_hist *hist, const histo_view *stack,
                                     const histo_pairs *pairs, const histo_fill_options *fill,
                                     const histo_plan_options *options)
{
    HISTO_STANDARD_FLOATS;
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

/* Are all operands known to be in the memory of the plan's device? */
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
    bool fits = plan->problem.naxes == hist->naxes && histo_plan_fits(plan, &problem);
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
    return status == HISTO_OK && !reading.done ? histo_hist_read(hist, &reading) : status;
}

/* A plan stays good for sample counts within these factors of the one that it was made for. */
enum { LESS = 64, MORE = 8 };

static histo_plan **find_plan(histo_hist *hist, histo_device home)
{
    histo_plan **link = &hist->plans;
    while (*link && (*link)->problem.home != home)
        link = &(*link)->next;
    return link;
}

/* Make the histogram's plan for samples in this device's memory its last one. NULL: there is none. */
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

/* Keep a plan, which takes the place of the one for the same device. */
static void keep_plan(histo_hist *hist, histo_plan *plan, int threads)
{
    histo_hist_forget_plan(hist, plan->problem.home);
    plan->next = hist->plans;
    plan->threads_asked = threads;
    hist->plans = plan;
}

/* Is the plan good for this fill? */
static bool is_planned(const histo_plan *plan, const histo_problem *problem, int threads)
{
    return plan && threads == plan->threads_asked && histo_plan_fits(plan, problem) &&
           !problem->apart == !plan->problem.apart && problem->samples <= plan->problem.samples * MORE &&
           problem->samples >= plan->problem.samples / LESS;
}

static histo_status fill_planned(histo_hist *hist, const histo_view *views, const histo_pairs *pairs,
                                 const histo_fill_options *options)
{
    histo_problem problem;
    const histo_view *operands[HISTO_MAX_OPERANDS];
    histo_status status = bind(hist, views, pairs, options, &problem, operands);
    if (status != HISTO_OK) return status;
    const int threads = options && options->threads ? options->threads : histo_threads_set();
    histo_plan *plan = recall_plan(hist, problem.home);
    /* A split plan lets one GPU count what cannot be split. */
    const bool planned =
        is_planned(plan, &problem, threads) && (plan->split.fraction == 0 || histo_split_fits(plan, operands));
    if (!planned && histo_has_few_samples(&problem, hist->axes, hist->unplanned.spent)) {
        status = histo_count_few_samples(&problem, hist->axes, &hist->accumulators, operands, options);
        if (status == HISTO_OK) histo_unplanned_note(&hist->unplanned, &problem);
        return status;
    }
    if (!planned) {
        status = make_plan(&plan, hist, views, pairs, options, NULL);
        if (status != HISTO_OK) return status;
        keep_plan(hist, plan, threads);
    }
    hist->unplanned.noted = false;
    return histo_plan_run(plan, &hist->accumulators, operands, options, is_resident(&problem, plan), NULL);
}

const histo_plan *histo_hist_last_plan(const histo_hist *hist)
{
    HISTO_STANDARD_FLOATS;
    histo_plan *plan;
    if (!hist->unplanned.noted) return hist->plans;
    const histo_hist_options kind = histo_hist_kind(hist);
    if (histo_unplanned_plan(&hist->unplanned, hist->naxes, hist->axes, &kind, &plan) != HISTO_OK) return NULL;
    histo_hist *owner = (histo_hist *)hist; /* a plan that is made when it is asked for changes nothing else */
    keep_plan(owner, plan, histo_threads_set());
    owner->unplanned.noted = false;
    return plan;
}

histo_status histo_hist_fill(histo_hist *hist, const histo_view *views, const histo_fill_options *options)
{
    HISTO_STANDARD_FLOATS;
    return fill_planned(hist, views, NULL, options);
}

histo_status histo_hist_fill_pairs(histo_hist *hist, const histo_view *stack, const histo_pairs *pairs,
                                   const histo_fill_options *options)
{
    HISTO_STANDARD_FLOATS;
    const histo_status status = histo_pairs_check(pairs);
    return status == HISTO_OK ? fill_planned(hist, stack, pairs, options) : status;
}
