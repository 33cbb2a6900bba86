#include "bench/random/random_check.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

histo_status problem_rule_make(const problem_data *data, bool on_host, reference_rule *rule)
{
    const random_problem *p = data->problem;
    problem_fill fill;
    problem_fill_make(data, on_host, &fill);
    *rule = (reference_rule){.axes = p->axes,
                             .samples = p->samples,
                             .batch = p->batch,
                             .slots = problem_slots(p) / p->batch,
                             .weights = fill.weights,
                             .mask = fill.mask,
                             .where = fill.where,
                             .weighting = p->weighting,
                             .masked = fill.options.mask,
                             .filtered = fill.options.where,
                             .where_lo = data->where_lo,
                             .where_hi = data->where_hi,
                             .offsets = fill.options.offsets};
    memcpy(rule->view, fill.samples, sizeof fill.samples);
    histo_status status = HISTO_OK;
    for (int a = 0; a < p->axes && status == HISTO_OK; a++)
        status = reference_finder_make(&rule->finder[a], data->edges[a], data->axes[a].bins, data->axes[a].closed);
    return status;
}

void problem_rule_free(reference_rule *rule)
{
    for (int a = 0; a < rule->axes; a++)
        free((void *)rule->finder[a].below);
    *rule = (reference_rule){0};
}

histo_status problem_counts_make(const problem_data *data, int threads, reference_counts *counts)
{
    reference_rule rule = {0};
    *counts = (reference_counts){0};
    if (problem_slots(data->problem) < 0)
        return histo_fail(HISTO_INVALID, "a random problem has at most 2^62 slots: make bins less");
    histo_status status = problem_rule_make(data, !data->device, &rule);
    if (status == HISTO_OK) status = reference_counts_begin(&rule, data->problem->storage == HISTO_SPARSE, counts);
    if (status == HISTO_OK) status = reference_count(&rule, data->device ? data->device->count : NULL, threads, counts);
    problem_rule_free(&rule);
    return status;
}
