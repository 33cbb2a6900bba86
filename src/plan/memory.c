/* How much host memory fills with a plan take. */
#include "base/error.h"
#include "plan/accumulators.h"
#include "plan/plan.h"

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* The list that counters become, and what it is merged with: all other lists together are at most as long. */
static size_t bytes_of_lists(const histo_problem *p)
{
    const double slots = (double)p->slots * (double)p->batch, samples = (double)p->samples;
    return (size_t)((slots < samples ? slots : samples) + (double)p->batch) * 2 * sizeof(histo_entry);
}

/* For a strategy that counts on the CPU. */
static size_t bytes_of_fill(const histo_problem *p, const histo_strategy *strategy, int threads, const int64_t *params)
{
    const histo_hist_options dense = {.batch = p->batch, .weighting = p->weighting};
    const size_t huge_page = 2 << 20; /* large workspaces are in huge pages */
    size_t bytes = histo_strategy_workspace(strategy, p, threads, params);
    bytes += bytes < huge_page ? huge_page / 1024 : huge_page;
    if (strategy->memory) bytes += strategy->memory(p, threads, params);
    if (p->storage == HISTO_SPARSE) bytes += bytes_of_lists(p);
    if (p->storage == HISTO_SPARSE && !strategy->sparse) bytes += histo_accumulators_bytes(&dense, p->slots);
    return bytes;
}

histo_status histo_plan_memory(const histo_plan *plan, size_t *fill, size_t *histogram)
{
    if (!plan || !fill || !histogram) return histo_fail(HISTO_INVALID, "plan, fill or histogram is NULL");
    const histo_problem *p = &plan->problem;
    const histo_hist_options kind = {.batch = p->batch, .weighting = p->weighting, .storage = p->storage};
    *histogram = histo_accumulators_bytes(&kind, p->slots);
    *fill = plan->row->backend == &histo_backend_cpu
                ? bytes_of_fill(p, plan->row->strategy, plan->threads, plan->params)
                : 0;
    if (plan->split.row)
        *fill = larger(*fill, bytes_of_fill(p, plan->split.row->strategy, plan->split.threads, plan->split.params));
    return HISTO_OK;
}
