/* Choosing a plan's strategy: the requested one, the remembered one, the fastest measured one, or the cheapest by the
 * cost model. The choice also selects the target. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "plan/costs/measure.h"
#include "plan/registry.h"

const char *histo_plan_wanted(const histo_plan_options *options)
{
    if (options->strategy && *options->strategy) return options->strategy;
    const char *wanted = getenv("HISTO_STRATEGY");
    return wanted && *wanted ? wanted : NULL;
}

/* Whether the strategy fills histograms with the problem's storage, as candidates must. Dense counters serve both
 * storages, unless there are too many. */
static bool is_of_storage(const histo_row *row, const histo_problem *problem)
{
    if (!row->strategy || row->strategy->sparse == (problem->storage == HISTO_SPARSE)) return true;
    return !row->strategy->sparse && histo_problem_has_counters(problem);
}

static const char *why_not(const histo_row *row, const histo_problem *problem)
{
    if (row->backend != histo_backend_of(problem->device))
        return problem->device == HISTO_DEVICE_CPU ? "the counting is on the CPU: ask for a GPU"
                                                   : "the counting is on a GPU: ask for the CPU";
    const char *why = row->backend->unavailable();
    if (!why && !row->strategy) why = "its backend was loaded after the plan had begun";
    if (!why && !is_of_storage(row, problem))
        why = row->strategy->sparse ? "it fills sparse histograms, and this one is dense"
                                    : "it fills dense histograms, and this one is sparse";
    if (!why && problem->ragged && !row->strategy->ragged) why = "it counts segments of one length only";
    if (!why && histo_is_computed(problem) && !row->strategy->computed)
        why = "it counts samples that are in memory, not pairs of images";
    const bool on_device = problem->device != HISTO_DEVICE_CPU;
    if (!why && on_device && !row->strategy->any_edges && !histo_problem_is_ordinary(problem))
        why = "it takes finite edges that increase";
    if (!why && on_device && !row->strategy->any_bytes && !problem->plain)
        why = "it takes samples in its own byte order, and masks of bytes";
    if (!why && on_device && !row->strategy->records && problem->records)
        why = "it takes samples of dtypes, not records";
    return why ? why : row->strategy->unsupported_reason(problem);
}

/* On the CPU, a strategy's workspace must fit in memory. */
static const char *why_not_on(const histo_row *row, const histo_plan *plan)
{
    const char *why = why_not(row, &plan->problem);
    if (why || plan->problem.device != HISTO_DEVICE_CPU || !row->strategy->workspace) return why;
    int64_t params[HISTO_MAX_PARAMS] = {0};
    histo_params_default(row, params);
    const bool fits = histo_memory_suffices(row->strategy->workspace(&plan->problem, plan->threads, params));
    return fits ? NULL : "its workspace is larger than the memory available: fewer threads need less";
}

static void move_to(histo_plan *plan, int target)
{
    plan->at = target;
    plan->problem.device = plan->target[target].device;
    plan->threads = plan->target[target].threads;
    plan->prepared = plan->target[target].prepared;
}

histo_status histo_plan_settle(histo_plan *plan, int target)
{
    histo_target *device = &plan->target[target];
    const histo_backend *backend = histo_backend_of(device->device);
    move_to(plan, target);
    if (!backend->prepare || device->prepared) return HISTO_OK;
    histo_status status = histo_problem_make_cells(&plan->problem);
    if (status == HISTO_OK) status = backend->prepare(&plan->problem, &device->prepared);
    plan->prepared = device->prepared;
    return status;
}

static histo_status force(histo_plan *plan, const char *name)
{
    const histo_row *row = histo_row_find(name, histo_backend_of(plan->problem.device));
    if (!row) return histo_fail(HISTO_UNSUPPORTED, "no strategy is called '%s': `histo strategies` lists them", name);
    const char *why = why_not_on(row, plan);
    if (why) return histo_fail(HISTO_UNSUPPORTED, "strategy %s/%s: %s", row->backend->name, row->name, why);
    histo_plan_use(plan, row, NULL);
    plan->origin = HISTO_FORCED;
    return HISTO_OK;
}

static void estimate(const histo_plan *plan, histo_candidate *candidate)
{
    const double counters_us = 2e-3; /* to make one counter and to check it afterwards */
    const histo_target *target = &plan->target[candidate->target];
    histo_speed speed = {0, 0};
    candidate->us = candidate->count_us = INFINITY;
    if (!candidate->row->strategy->cost_us) return;
    if (candidate->row->backend->speed) speed = candidate->row->backend->speed(target->device);
    candidate->cost = histo_cost_of(candidate->row->strategy, &plan->problem, target->threads, &speed);
    candidate->count_us = histo_cost_us(&candidate->cost);
    if (plan->problem.storage == HISTO_SPARSE && !candidate->row->strategy->sparse &&
        target->device == HISTO_DEVICE_CPU)
        candidate->count_us +=
            (double)plan->problem.batch * (double)plan->problem.slots * counters_us; /* once per fill */
    candidate->us = histo_transfer_us(&target->transfer, candidate->count_us);
}

/* List the strategies of a target as candidates. */
static void list_candidates(histo_plan *plan, int target)
{
    const histo_row *row;
    move_to(plan, target);
    histo_backend_of(plan->problem.device)->unavailable(); /* may load the backend, and with it the strategies of its
                                                            * rows */
    for (int i = 0; (row = histo_row_at(i)) && plan->candidates < HISTO_MAX_STRATEGIES; i++) {
        if (row->backend != histo_backend_of(plan->problem.device) || !is_of_storage(row, &plan->problem)) continue;
        histo_candidate *candidate = &plan->candidate[plan->candidates++];
        *candidate = (histo_candidate){.row = row, .target = target, .why_not = why_not_on(row, plan)};
        if (row->strategy) histo_params_default(row, candidate->params);
        if (!candidate->why_not) estimate(plan, candidate);
    }
}

/* Candidates whose transfer takes longer than counting take equally long; prefer the one that counts faster. */
static bool is_cheaper(const histo_candidate *a, const histo_candidate *b)
{
    return a->us < b->us || (a->us == b->us && a->count_us < b->count_us);
}

histo_candidate *histo_plan_cheapest(histo_plan *plan, int target)
{
    histo_candidate *best = NULL;
    for (int c = 0; c < plan->candidates; c++) {
        histo_candidate *candidate = &plan->candidate[c];
        if (candidate->why_not || candidate->target != target || isinf(candidate->us)) continue;
        if (!best || is_cheaper(candidate, best)) best = candidate;
    }
    return best;
}

/* Update the estimates of the first target, where the plan is. */
static void estimate_again(histo_plan *plan)
{
    for (int c = 0; c < plan->candidates; c++)
        if (!plan->candidate[c].why_not) estimate(plan, &plan->candidate[c]);
}

/* How much longer a fill of clustered samples takes with the strategy that is best for spread samples than with the
 * best one. */
static double lost_if_dense_us(histo_plan *plan)
{
    const histo_candidate *chosen = histo_plan_cheapest(plan, 0);
    if (!chosen) return 0;
    histo_candidate spread[HISTO_MAX_STRATEGIES];
    memcpy(spread, plan->candidate, sizeof spread);
    plan->problem.dense = true;
    estimate_again(plan);
    plan->problem.dense = false;
    const double lost_us = chosen->us - histo_plan_cheapest(plan, 0)->us;
    memcpy(plan->candidate, spread, sizeof spread);
    return lost_us;
}

/* Probe samples in GPU memory if the time saved on a few fills of clustered samples, or on many, repays it. */
static histo_status consider_probe(histo_plan *plan, const histo_view *const *operands, const histo_fill_options *fill)
{
    enum { FEW_FILLS = 4 /* for a plan that is not known to be used often */ };
    histo_problem *p = &plan->problem;
    if (p->storage == HISTO_SPARSE || !histo_backend_of(p->device)->probe || p->home != p->device || p->ragged)
        return HISTO_OK;
    const double fills = p->effort == HISTO_ESTIMATE ? FEW_FILLS : INFINITY, lost_us = lost_if_dense_us(plan);
    if (!(lost_us > 0) || fills * lost_us <= histo_rate_of(HISTO_RATE_PROBE)) return HISTO_OK;
    histo_status status = histo_plan_settle(plan, 0);
    if (status == HISTO_OK) histo_plan_probe(plan, operands, fill);
    estimate_again(plan);
    return status;
}

/* If wisdom knows the best strategy of a target, its measured time replaces the prediction. Usually there is no wisdom,
 * and making a signature would take half a microsecond. */
static const histo_candidate *remembered(histo_plan *plan, int target)
{
    const histo_target *device = &plan->target[target];
    double us;
    int64_t params[HISTO_MAX_PARAMS];
    char signature[HISTO_SIGNATURE_BYTES];
    if (!histo_wisdom_exists()) return NULL;
    histo_plan_signature(plan, target, signature);
    const histo_row *row = histo_wisdom_find(device->device, signature, params, &us);
    for (int c = 0; row && c < plan->candidates; c++) {
        histo_candidate *candidate = &plan->candidate[c];
        if (candidate->target != target || !histo_row_is(candidate->row, row) || candidate->why_not) continue;
        candidate->us = us + device->transfer.start_us;
        memcpy(candidate->params, params, sizeof params);
        return candidate;
    }
    return NULL;
}

/* List the candidates of the second target, too, unless the first finishes before the samples could arrive there. In
 * that case do not even check for a GPU, since that would start CUDA. */
static void consider_second(histo_plan *plan, const histo_candidate *first, bool measuring)
{
    histo_target *second = &plan->target[1];
    const histo_backend *backend = histo_backend_of(second->device);
    histo_transfer *way = &second->transfer;
    if (measuring)
        way->start_us = 0; /* a fill worth measuring is repeated often, so the start of CUDA does not matter
                            */
    double factor = measuring ? HISTO_HOPELESS : 1;
    if (second->left_out) return;
    if (backend->awake && first && factor * first->us <= histo_transfer_us(way, 0) &&
        !histo_split_may_pay(plan, first)) {
        second->left_out = way->start_us > 0 ? "not started: the CPU is done before CUDA and the samples would be there"
                                             : "the CPU is done before the samples would be there";
        return;
    }
    second->left_out = backend->unavailable();
    if (second->left_out)
        *way = (histo_transfer){0};
    else
        list_candidates(plan, 1);
}

/* The best candidate of a target: by measurement or wisdom if available (*measured), else by the cost model. NULL if
 * the target is excluded or has no usable candidate. */
static const histo_candidate *best_of(histo_plan *plan, int target, bool *measured)
{
    const histo_target *device = &plan->target[target];
    *measured = device->measured;
    if (device->left_out || device->measured) return device->left_out ? NULL : histo_plan_cheapest(plan, target);
    const histo_candidate *before = remembered(plan, target);
    *measured = before;
    return before ? before : histo_plan_cheapest(plan, target);
}

/* The best candidate of all targets. */
static const histo_candidate *choose_estimated(histo_plan *plan)
{
    const histo_candidate *best = NULL;
    for (int p = 0; p < plan->targets; p++) {
        bool measured;
        const histo_candidate *candidate = best_of(plan, p, &measured);
        if (!candidate || (best && candidate->us >= best->us)) continue;
        best = candidate;
        plan->origin = measured ? HISTO_REMEMBERED : HISTO_ESTIMATED;
    }
    return best;
}

/* Remember the best candidate of each target, so that later plans bound to either target can use it. */
static histo_status choose_measured(histo_plan *plan, const histo_view *const *operands, const histo_fill_options *fill,
                                    bool vary, const histo_candidate **best)
{
    histo_status status = histo_plan_measure(plan, operands, fill, vary);
    plan->origin = HISTO_MEASURED;
    for (int p = 0; p < plan->targets && status == HISTO_OK; p++) {
        const histo_target *target = &plan->target[p];
        const histo_candidate *candidate = target->measured ? histo_plan_cheapest(plan, p) : NULL;
        if (!candidate) continue;
        char signature[HISTO_SIGNATURE_BYTES];
        histo_plan_signature(plan, p, signature);
        status = histo_wisdom_add(target->device, signature, candidate->row, candidate->params, candidate->us);
        if (!*best || candidate->us < (*best)->us) *best = candidate;
    }
    return status;
}

/* All GPUs and the CPU: the best candidate of each, or the requested one. */
static histo_status choose_all(histo_plan *plan, const histo_plan_options *options, const histo_view *const *operands,
                               const histo_fill_options *fill)
{
    const char *name = histo_plan_wanted(options);
    const bool measuring = options->effort == HISTO_MEASURE;
    const histo_candidate *best = NULL;
    bool measured;
    list_candidates(plan, 0);
    list_candidates(plan, 1);
    histo_status status = name        ? force(plan, name)
                          : measuring ? choose_measured(plan, operands, fill, options->vary, &best)
                                      : HISTO_OK;
    if (status != HISTO_OK) return status;
    const histo_candidate *cpu = best_of(plan, 0, &measured), *gpu = name ? NULL : best_of(plan, 1, &measured);
    if (!name && !gpu) return histo_fail(HISTO_UNSUPPORTED, "no strategy can solve this problem");
    if (gpu) {
        histo_plan_use(plan, gpu->row, gpu->params);
        plan->origin = measuring ? HISTO_MEASURED : measured ? HISTO_REMEMBERED : HISTO_ESTIMATED;
    }
    status = histo_plan_settle(plan, 1);
    if (status == HISTO_OK && name && measuring && options->vary) status = histo_plan_vary(plan, operands, fill);
    return status == HISTO_OK ? histo_plan_split_all(plan, cpu, gpu, operands, fill) : status;
}

histo_status histo_plan_choose(histo_plan *plan, const histo_plan_options *options, const histo_view *const *operands,
                               const histo_fill_options *fill)
{
    const char *name = histo_plan_wanted(options);
    bool measuring = options->effort == HISTO_MEASURE;
    if (plan->all_gpus) return choose_all(plan, options, operands, fill);
    list_candidates(plan, 0);
    if (name) {
        histo_status status = force(plan, name);
        if (status == HISTO_OK) status = histo_plan_settle(plan, 0);
        if (status == HISTO_OK && measuring && options->vary) status = histo_plan_vary(plan, operands, fill);
        return status;
    }
    const histo_candidate *best = measuring ? NULL : remembered(plan, 0);
    histo_status status = HISTO_OK;
    if (!best && !measuring) status = consider_probe(plan, operands, fill);
    if (status != HISTO_OK) return status;
    if (!best) best = histo_plan_cheapest(plan, 0);
    if (plan->targets > 1) consider_second(plan, best, measuring);
    best = NULL;
    if (measuring)
        status = choose_measured(plan, operands, fill, options->vary, &best);
    else
        best = choose_estimated(plan);
    if (status == HISTO_OK && !best) status = histo_fail(HISTO_UNSUPPORTED, "no strategy can solve this problem");
    if (status != HISTO_OK) return status;
    histo_plan_use(plan, best->row, best->params);
    status = histo_plan_settle(plan, best->target);
    if (status != HISTO_OK && best->target > 0) {
        /* Failure of an optional GPU is not an error. */
        plan->target[1].left_out = "it could not be prepared for this plan";
        best = choose_estimated(plan);
        if (!best) return status;
        histo_plan_use(plan, best->row, best->params);
        return histo_plan_settle(plan, 0);
    }
    if (status != HISTO_OK || plan->targets == 1) return status;
    bool measured[2];
    const histo_candidate *here = best_of(plan, 0, &measured[0]), *there = best_of(plan, 1, &measured[1]);
    if (here && there) histo_plan_split(plan, here, there, measured[0] && measured[1], operands, fill);
    return HISTO_OK;
}
