/* Which strategy a plan takes: the one asked for, the one remembered, the fastest measured, or the cheapest by the cost
 * model. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "plan/bank.h"
#include "plan/plan.h"

const char *histo_plan_wanted(const histo_plan_options *options)
{
    if (options->strategy && *options->strategy) return options->strategy;
    const char *wanted = getenv("HISTO_STRATEGY");
    return wanted && *wanted ? wanted : NULL;
}

static const char *refusal(const histo_row *row, const histo_problem *problem)
{
    if (row->backend != histo_backend_of(problem->device))
        return problem->device == HISTO_DEVICE_CPU ? "the counting is on the CPU: ask for a GPU"
                                                   : "the counting is on a GPU: ask for the CPU";
    const char *why = row->backend->unavailable();
    return why ? why : row->strategy->refuses(problem);
}

static histo_status force(histo_plan *plan, const char *name)
{
    const histo_row *row = histo_row_find(name, histo_backend_of(plan->problem.device));
    if (!row) return histo_fail(HISTO_UNSUPPORTED, "no strategy is called '%s': `histo strategies` lists them", name);
    const char *why = refusal(row, &plan->problem);
    if (why) return histo_fail(HISTO_UNSUPPORTED, "strategy %s/%s: %s", row->backend->name, row->name, why);
    plan->row = row;
    plan->origin = HISTO_FORCED;
    return HISTO_OK;
}

static void list_candidates(histo_plan *plan)
{
    const histo_row *row;
    for (int i = 0; (row = histo_row_at(i)) && plan->candidates < HISTO_MAX_STRATEGIES; i++) {
        if (row->backend != histo_backend_of(plan->problem.device)) continue;
        histo_candidate *it = &plan->candidate[plan->candidates++];
        it->row = row;
        it->refusal = refusal(row, &plan->problem);
        if (!it->refusal) it->us = row->strategy->cost_us(&plan->problem, plan->threads);
    }
}

static const histo_candidate *cheapest(const histo_plan *plan)
{
    const histo_candidate *best = NULL;
    for (int c = 0; c < plan->candidates; c++) {
        const histo_candidate *it = &plan->candidate[c];
        if (!it->refusal && (!best || it->us < best->us)) best = it;
    }
    return best;
}

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

/* Best of three runs of every candidate into a histogram that is thrown away. Candidates that the model expects to take
 * far longer than the best are not tried. */
static histo_status measure(histo_plan *plan, const histo_view *const *operands, const histo_fill_options *fill)
{
    enum { RUNS = 3, HOPELESS = 20 };
    histo_bank scratch;
    histo_status status = histo_bank_make(&scratch, plan->problem.batch, plan->problem.slots, plan->problem.weighting);
    if (status != HISTO_OK) return status;
    double best = cheapest(plan)->us;
    for (int c = 0; c < plan->candidates && status == HISTO_OK; c++) {
        histo_candidate *it = &plan->candidate[c];
        if (!it->refusal && it->us > HOPELESS * best) it->refusal = "not measured: predicted to be far slower";
        if (it->refusal) continue;
        plan->row = it->row;
        for (int p = 0; it->row->strategy->params[p].name; p++)
            plan->params[p] = it->row->strategy->params[p].usual;
        for (int run = 0; run < RUNS && status == HISTO_OK; run++) {
            double start = now_us();
            status = histo_plan_run(plan, &scratch, operands, fill);
            if (status == HISTO_OK) status = histo_bank_gather(&scratch);
            double us = now_us() - start;
            if (run == 0 || us < it->us) it->us = us;
        }
    }
    histo_bank_free(&scratch);
    return status;
}

histo_status histo_plan_choose(histo_plan *plan, const histo_plan_options *options, const histo_view *const *operands,
                               const histo_fill_options *fill)
{
    list_candidates(plan);
    const char *name = histo_plan_wanted(options);
    if (name) return force(plan, name);
    plan->origin = HISTO_ESTIMATED;
    if (options->effort == HISTO_MEASURE) {
        histo_status status = measure(plan, operands, fill);
        if (status != HISTO_OK) return status;
        plan->origin = HISTO_MEASURED;
    } else {
        double us;
        const histo_row *known = histo_wisdom_find(plan->problem.device, plan->signature, &us);
        if (known && !refusal(known, &plan->problem)) {
            plan->row = known;
            plan->origin = HISTO_REMEMBERED;
            return HISTO_OK;
        }
    }
    const histo_candidate *best = cheapest(plan);
    if (!best) return histo_fail(HISTO_UNSUPPORTED, "no strategy can solve this problem");
    plan->row = best->row;
    return plan->origin == HISTO_MEASURED ? histo_wisdom_add(plan->problem.device, plan->signature, best->row, best->us)
                                          : HISTO_OK;
}
