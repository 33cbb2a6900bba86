/* Timing a plan's candidates with a temporary histogram. A time covers one fill until the device has finished counting.
 * It excludes the first run, which allocates accumulators, workspaces and buffers, and the transfer of the counts to
 * the host. Only for samples in host memory, where the GPU competes with the CPU, does it include that transfer. */
#include "plan/costs/measure.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/threads/monitor.h"
#include "plan/accumulators.h"

/* A trial plan, set to one candidate after the other. */
typedef struct trial {
    histo_plan *plan;
    histo_accumulators accumulators;
    const histo_view *const *operands;
    const histo_fill_options *fill;
    int tried; /* candidates */
} trial;

static const char measuring[] = "measuring"; /* the stage of the call */

/* Measure the time per fill over `fills` consecutive fills. */
static histo_status time_fills(trial *t, int fills, double *us)
{
    histo_status status = HISTO_OK;
    double start = histo_now_us();
    for (int i = 0; i < fills && status == HISTO_OK; i++)
        status = histo_plan_run(t->plan, &t->accumulators, t->operands, t->fill, false, NULL);
    if (status == HISTO_OK) status = histo_accumulators_wait(&t->accumulators);
    *us = (histo_now_us() - start) / fills;
    return status;
}

/* Short fills are timed in large groups; long fills are timed again if they may still win. */
static histo_status time_candidate(trial *t, double best_us, double *us)
{
    enum { ROUNDS = 3, MAX_FILLS = 4096 };
    const double enough_us = 200, long_us = 2e5, lost = 3;
    histo_status status = time_fills(t, 1, us);
    if (status != HISTO_OK || (*us > long_us && *us > lost * best_us)) return status;
    int fills = 1;
    double again;
    for (int round = 0; round < ROUNDS && status == HISTO_OK;) {
        status = time_fills(t, fills, &again);
        if (again < *us) *us = again;
        if (again * fills > long_us) break;
        if (again * fills < enough_us && fills < MAX_FILLS)
            fills *= 4;
        else
            round++;
    }
    return status;
}

/* Measure how long it takes to transfer the counts of a fill from the device. */
static histo_status time_reading_back(trial *t, double *us)
{
    histo_status status = histo_accumulators_to_host(&t->accumulators); /* fault in the host memory first */
    if (status == HISTO_OK) status = histo_plan_run(t->plan, &t->accumulators, t->operands, t->fill, false, NULL);
    if (status == HISTO_OK) status = histo_accumulators_wait(&t->accumulators);
    double start = histo_now_us();
    if (status == HISTO_OK) status = histo_accumulators_to_host(&t->accumulators);
    *us = histo_now_us() - start;
    return status;
}

/* The untried candidate of the target with the best prediction. */
static histo_candidate *next_best(histo_plan *plan, int target, const bool *tried)
{
    histo_candidate *best = NULL;
    for (int c = 0; c < plan->candidates; c++) {
        histo_candidate *candidate = &plan->candidate[c];
        if (candidate->why_not || candidate->target != target || tried[c]) continue;
        if (!best || candidate->us < best->us) best = candidate;
    }
    return best;
}

/* Time one more value of a parameter, and keep it if it is clearly faster. What cannot run like that is left out. */
static histo_status try_value(trial *t, int p, int64_t value, double *best_us)
{
    const double clearly = 0.98;
    histo_plan *plan = t->plan;
    const histo_strategy *strategy = plan->row->strategy;
    const int64_t before = plan->params[p];
    if (value == before) return HISTO_OK;
    plan->params[p] = value;
    double us = 0;
    histo_status status = HISTO_OK;
    if (plan->problem.device == HISTO_DEVICE_CPU &&
        !histo_memory_suffices(histo_strategy_workspace(strategy, &plan->problem, plan->threads, plan->params)))
        status = HISTO_NO_MEMORY;
    if (status == HISTO_OK) status = time_candidate(t, *best_us, &us);
    if (status == HISTO_OK && us < clearly * *best_us) {
        *best_us = us;
        return HISTO_OK;
    }
    plan->params[p] = before;
    if (status != HISTO_OK) histo_accumulators_clear(&t->accumulators, NULL); /* discard a fill that failed halfway */
    return status == HISTO_DEVICE || status == HISTO_CANCELLED ? status : HISTO_OK;
}

/* One parameter after the other: its ends and the powers of two between them. */
static histo_status vary_all(trial *t, double *best_us)
{
    const histo_param *list = t->plan->row->strategy->params;
    histo_status status = HISTO_OK;
    for (int p = 0; list[p].name && status == HISTO_OK; p++) {
        status = try_value(t, p, list[p].min, best_us);
        for (int64_t value = 1; value < list[p].max && status == HISTO_OK; value *= 2)
            if (value > list[p].min) status = try_value(t, p, value, best_us);
        if (status == HISTO_OK) status = try_value(t, p, list[p].max, best_us);
    }
    return status;
}

/* Best first, so that hopeless candidates can be stopped early. */
static histo_status measure_target(trial *t, int target, bool varies)
{
    histo_plan *plan = t->plan;
    histo_target *device = &plan->target[target];
    const histo_candidate *expected = histo_plan_cheapest(plan, target);
    double predicted_us = expected ? expected->us : 0;
    bool tried[HISTO_MAX_STRATEGIES] = {false};
    double best_us = 1e300, gather_us = 0;
    histo_candidate *c;
    histo_status status = histo_plan_settle(plan, target);
    while (status == HISTO_OK && (c = next_best(plan, target, tried))) {
        tried[c - plan->candidate] = true;
        if (c->us > HISTO_HOPELESS * predicted_us) {
            c->why_not = c->row->strategy->cost_us ? "not measured: predicted to be far slower"
                                                   : "not measured: it is kept to be compared with";
            continue;
        }
        histo_plan_use(plan, c->row, c->params);
        histo_monitor_stage(measuring, (double)t->tried++ / plan->candidates);
        status = time_candidate(t, best_us, &c->us);
        if (status == HISTO_NO_MEMORY && device->device != HISTO_DEVICE_CPU) {
            c->why_not = "not measured: the memory of the GPU is too small for it";
            histo_accumulators_clear(&t->accumulators, NULL); /* discard a fill that failed halfway */
            status = HISTO_OK;
            continue;
        }
        if (status == HISTO_OK && c->us < best_us) best_us = c->us;
        if (status == HISTO_OK && device->transfer.bytes > 0 && !device->measured)
            status = time_reading_back(t, &gather_us);
        device->measured = status == HISTO_OK;
    }
    histo_candidate *fastest =
        status == HISTO_OK && varies && device->measured ? histo_plan_cheapest(plan, target) : NULL;
    if (fastest) {
        histo_plan_use(plan, fastest->row, fastest->params);
        status = vary_all(t, &fastest->us);
        memcpy(fastest->params, plan->params, sizeof plan->params);
    }
    for (int i = 0; i < plan->candidates; i++)
        if (tried[i] && !plan->candidate[i].why_not) plan->candidate[i].us += gather_us;
    return status;
}

/* Start a trial with new accumulators. Unless this fails, end() follows. */
static histo_status begin(trial *t, histo_plan *plan, const histo_view *const *operands, const histo_fill_options *fill)
{
    const histo_problem *p = &plan->problem;
    *t = (trial){.plan = plan, .operands = operands, .fill = fill};
    const histo_status status = histo_accumulators_make(
        &t->accumulators, p->slots,
        &(histo_hist_options){.batch = p->batch, .weighting = p->weighting, .storage = p->storage});
    if (status == HISTO_OK) histo_monitor_stage(measuring, NAN);
    return status;
}

static histo_status end(trial *t, histo_status status)
{
    histo_monitor_stage(NULL, 0);
    histo_accumulators_free(&t->accumulators);
    return status;
}

histo_status histo_plan_time(histo_plan *plan, const histo_view *const *operands, const histo_fill_options *fill,
                             double *us)
{
    trial t;
    histo_status status = begin(&t, plan, operands, fill);
    if (status != HISTO_OK) return status;
    status = time_candidate(&t, 1e300, us);
    return end(&t, status);
}

histo_status histo_plan_vary(histo_plan *plan, const histo_view *const *operands, const histo_fill_options *fill)
{
    trial t;
    double us;
    histo_status status = begin(&t, plan, operands, fill);
    if (status != HISTO_OK) return status;
    status = time_candidate(&t, 1e300, &us);
    if (status == HISTO_OK) status = vary_all(&t, &us);
    return end(&t, status);
}

histo_status histo_plan_measure(histo_plan *plan, const histo_view *const *operands, const histo_fill_options *fill,
                                bool vary)
{
    trial t;
    histo_status status = begin(&t, plan, operands, fill);
    if (status != HISTO_OK) return status;
    for (int target = 0; target < plan->targets && status == HISTO_OK; target++) {
        histo_target *device = &plan->target[target];
        if (device->left_out) continue;
        status = measure_target(&t, target, vary);
        if (status != HISTO_OK && status != HISTO_CANCELLED && plan->free_choice && target > 0) {
            device->left_out = "measuring there failed";
            device->measured = false;
            status = HISTO_OK;
        }
    }
    return end(&t, status);
}
