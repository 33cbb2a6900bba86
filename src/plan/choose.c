/* Which strategy a plan takes: the one asked for, the one remembered, the fastest measured, or the cheapest by the cost
 * model. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "plan/bank.h"
#include "plan/plan.h"

static const char *wanted_name(const histo_plan_options *options)
{
    if (options->strategy && *options->strategy) return options->strategy;
    const char *wanted = getenv("HISTO_STRATEGY");
    return wanted && *wanted ? wanted : NULL;
}

static histo_status force(histo_plan *plan, const char *name)
{
    const histo_row *row = histo_row_find(name);
    if (!row) return histo_fail(HISTO_UNSUPPORTED, "no strategy is called '%s': `histo strategies` lists them", name);
    const char *why = row->backend->unavailable();
    if (!why) why = row->strategy->refuses(&plan->problem);
    if (why) return histo_fail(HISTO_UNSUPPORTED, "strategy %s/%s: %s", row->backend->name, row->name, why);
    plan->row = row;
    plan->origin = HISTO_FORCED;
    return HISTO_OK;
}

static void list_candidates(histo_plan *plan)
{
    const histo_row *row;
    for (int i = 0; (row = histo_row_at(i)) && i < HISTO_MAX_STRATEGIES; i++) {
        histo_candidate *it = &plan->candidate[plan->candidates++];
        it->row = row;
        it->refusal = row->backend->unavailable();
        if (!it->refusal) it->refusal = row->strategy->refuses(&plan->problem);
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
    const char *name = wanted_name(options);
    if (name) return force(plan, name);
    plan->origin = HISTO_ESTIMATED;
    if (options->effort == HISTO_MEASURE) {
        histo_status status = measure(plan, operands, fill);
        if (status != HISTO_OK) return status;
        plan->origin = HISTO_MEASURED;
    } else {
        double us;
        const histo_row *known = histo_wisdom_find(plan->signature, &us);
        if (known && !known->backend->unavailable() && !known->strategy->refuses(&plan->problem)) {
            plan->row = known;
            plan->origin = HISTO_REMEMBERED;
            return HISTO_OK;
        }
    }
    const histo_candidate *best = cheapest(plan);
    if (!best) return histo_fail(HISTO_UNSUPPORTED, "no strategy can solve this problem");
    plan->row = best->row;
    return plan->origin == HISTO_MEASURED ? histo_wisdom_add(plan->signature, best->row, best->us) : HISTO_OK;
}
