/* Plans: creation and execution. */
#include "plan/plan.h"
#include "base/memory.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/floats.h"
#include "base/threads/threads.h"
#include "plan/accumulators.h"
#include "plan/total.h"

void histo_params_default(const histo_row *row, int64_t *params)
{
    for (int p = 0; row->strategy->params[p].name; p++)
        params[p] = row->strategy->params[p].default_value;
}

void histo_plan_use(histo_plan *plan, const histo_row *row, const int64_t *params)
{
    plan->row = row;
    histo_params_default(row, plan->params);
    if (params) memcpy(plan->params, params, sizeof plan->params);
    histo_problem_stride(&plan->problem, !row->strategy->sparse);
}

/* The value with this name, of the given length, or -1. */
static int64_t value_named(const histo_param *param, const char *text, size_t length)
{
    for (int64_t v = 0; param->names && param->names[v]; v++)
        if (strlen(param->names[v]) == length && strncmp(param->names[v], text, length) == 0) return v;
    return -1;
}

histo_status histo_params_parse(const histo_row *row, const char *text, int64_t *params)
{
    const histo_param *list = row->strategy->params;
    while (text && *text) {
        size_t item = strcspn(text, ",");
        size_t key = strcspn(text, "=,");
        int p = 0;
        while (list[p].name && !(strlen(list[p].name) == key && strncmp(list[p].name, text, key) == 0))
            p++;
        if (!list[p].name || text[key] != '=')
            return histo_fail(HISTO_INVALID, "strategy %s has no parameter '%.*s' (write name=value,…)", row->name,
                              (int)key, text);
        char *end;
        long long value = strtoll(text + key + 1, &end, 10);
        int64_t named = value_named(&list[p], text + key + 1, item - key - 1);
        if (named < 0 && (end != text + item || end == text + key + 1 || value < list[p].min || value > list[p].max))
            return histo_fail(HISTO_INVALID, "parameter %s of strategy %s must be a whole number from %lld to %lld",
                              list[p].name, row->name, (long long)list[p].min, (long long)list[p].max);
        params[p] = named < 0 ? value : named;
        text += item + (text[item] == ',');
    }
    return HISTO_OK;
}

void histo_params_print(const histo_row *row, const int64_t *params, histo_text *text)
{
    const char *comma = "";
    for (int p = 0; row->strategy->params[p].name; p++) {
        const histo_param *param = &row->strategy->params[p];
        if (params[p] == param->default_value) continue;
        histo_text_add(text, "%s%s=%lld", comma, param->name, (long long)params[p]);
        comma = ",";
    }
}

static void unprepare(histo_target *target)
{
    if (target->prepared) histo_backend_of(target->device)->unprepare(target->prepared);
    target->prepared = NULL;
}

/* snprintf would take longer than counting a thousand samples. */
static void name_plan(histo_plan *plan)
{
    const char *parts[] = {plan->row->backend->name, "/", plan->row->name};
    size_t length = 0;
    for (int i = 0; i < 3; i++) {
        const size_t all = strlen(parts[i]), room = sizeof plan->name - 1 - length, part = all < room ? all : room;
        memcpy(plan->name + length, parts[i], part);
        length += part;
    }
    plan->name[length] = 0;
}

histo_status histo_plan_make(histo_plan **out, int naxes, const histo_axis *axes, const histo_hist_options *kind,
                             const histo_view *views, const histo_pairs *pairs, const histo_fill_options *fill,
                             const histo_plan_options *wanted)
{
    histo_plan_options given = wanted ? *wanted : (histo_plan_options){0};
    const histo_plan_options *options = &given;
    histo_status status = histo_check_reserved(options->reserved, sizeof options->reserved, "histo_plan_options");
    if (status != HISTO_OK) return status;
    if (options->effort > HISTO_COMPILE)
        return histo_fail(HISTO_INVALID, "unknown effort %d: use HISTO_ESTIMATE, HISTO_MEASURE or HISTO_COMPILE",
                          (int)options->effort);
    if (!histo_threads_possible(options->threads)) return histo_threads_check(options->threads);
    if (options->threads == 0 && fill) given.threads = fill->threads;
    histo_plan *plan = histo_malloc(sizeof *plan);
    if (!plan) return histo_fail_memory(sizeof *plan, "a plan");
    memset(plan, 0, offsetof(histo_plan, candidate)); /* the candidate array is large, and is set when candidates are
                                                       * listed */
    const histo_view *operands[HISTO_MAX_OPERANDS];
    status = histo_problem_bind(&plan->problem, naxes, kind, views, pairs, fill, operands);
    plan->problem.effort = options->effort;
    if (status == HISTO_OK) status = histo_problem_prepare(&plan->problem, axes);
    if (status != HISTO_OK) {
        histo_free(plan);
        return status;
    }
    status = histo_plan_find_targets(plan, options, operands);
    if (status == HISTO_OK) status = histo_plan_choose(plan, options, operands, fill);
    for (int p = 0; p < plan->targets; p++)
        if (p != plan->at && plan->split.fraction == 0) unprepare(&plan->target[p]);
    if (status == HISTO_OK) status = histo_params_parse(plan->row, options->params, plan->params);
    if (status != HISTO_OK) {
        histo_plan_destroy(plan);
        return status;
    }
    static uint64_t plans;
    plan->serial = __atomic_add_fetch(&plans, 1, __ATOMIC_RELAXED);
    name_plan(plan);
    *out = plan;
    return HISTO_OK;
}

void histo_plan_destroy(histo_plan *plan)
{
    if (!plan) return;
    histo_split_free(plan);
    for (int p = 0; p < plan->targets; p++)
        unprepare(&plan->target[p]);
    histo_problem_free(&plan->problem);
    histo_free(plan);
}

bool histo_plan_fits(const histo_problem *planned, const histo_problem *problem)
{
    bool fits = planned->operands == problem->operands && planned->weights == problem->weights &&
                planned->mask == problem->mask && planned->where == problem->where &&
                planned->weighting == problem->weighting && planned->storage == problem->storage &&
                planned->batch == problem->batch && planned->ragged == problem->ragged &&
                planned->sourced == problem->sourced && planned->pairs.pairing == problem->pairs.pairing &&
                planned->pairs.relative == problem->pairs.relative;
    for (int o = 0; fits && o < problem->operands; o++)
        fits = planned->stored[o] == problem->stored[o];
    return fits;
}

void histo_plan_job(const histo_plan *plan, const histo_view *const *operands, const histo_fill_options *fill,
                    histo_job *job)
{
    histo_problem_job(&plan->problem, operands, fill, job);
    job->prepared = plan->prepared;
    if (!fill || !fill->threads) job->threads = plan->threads;
    job->params = plan->params;
}

/* Whether counts are in host memory: on the CPU, or if the fill is split between it and GPUs, whose accumulators are
 * then the histogram's own. */
static bool counts_on_host(const histo_plan *plan, bool split)
{
    return split ? plan->split.row != NULL : plan->row->backend == &histo_backend_cpu;
}

/* Count a whole job, piece by piece. If it is cancelled, part of it has been counted. */
static histo_status run(const histo_plan *plan, histo_job *job, bool split)
{
    const int64_t n = histo_strided_iter_samples(&job->iter);
    const bool exact = histo_is_reproducible(plan->problem.weighting);
    histo_status status = counts_on_host(plan, split) ? histo_accumulators_own(job->accumulators) : HISTO_OK;
    if (status != HISTO_OK) return status;
    int64_t piece = exact && (int64_t)HISTO_EXACT_MAX_ADDS < n ? (int64_t)HISTO_EXACT_MAX_ADDS : n;
    histo_reading *const reading = job->reading;
    for (; job->end < n && status == HISTO_OK; job->begin = job->end, job->replace = false) {
        job->end = n - job->begin < piece ? n : job->begin + piece;
        job->reading = !split && job->end == n ? reading : NULL;
        status = split ? histo_split_run(plan, job) : plan->row->backend->run(plan->row->strategy, job);
    }
    if (status == HISTO_CANCELLED) job->accumulators->incomplete = true;
    return status;
}

histo_status histo_job_replace(histo_job *job, histo_status (*count)(const void *by, histo_job *job), const void *by)
{
    histo_accumulators *replaced = job->accumulators, fresh;
    const histo_problem *problem = job->problem;
    const histo_hist_options kind = {
        .batch = problem->batch, .weighting = problem->weighting, .storage = problem->storage};
    histo_status status = histo_accumulators_make(&fresh, replaced->slots, &kind);
    if (status != HISTO_OK) return status;
    job->accumulators = &fresh;
    status = count(by, job);
    job->accumulators = replaced;
    fresh.most = (uint64_t)histo_strided_iter_samples(&job->iter);
    if (status == HISTO_OK) histo_accumulators_replace(replaced, &fresh);
    histo_accumulators_free(&fresh);
    return status;
}

static histo_status run_unsplit(const void *plan, histo_job *job)
{
    return run(plan, job, false);
}

/* Refuse, before anything has happened, what a graph cannot capture: a split fill, or a replacing one. */
static histo_status check_captured(const histo_plan *plan, const histo_job *job, bool split)
{
    const histo_backend *backend = plan->row->backend;
    const histo_device_accumulators *first = job->accumulators->on_devices;
    if (!backend->capturing || (!split && !(first && first->next)) || !backend->capturing(job->stream)) return HISTO_OK;
    if (split) return histo_fail(HISTO_UNSUPPORTED, "samples in host memory cannot be counted in a graph");
    const histo_device_accumulators *home = histo_accumulators_home(job->accumulators);
    if (home && home->device == plan->problem.device) return HISTO_OK;
    return histo_fail(HISTO_UNSUPPORTED, "a graph can replace only what its GPU alone has counted");
}

histo_status histo_plan_run(const histo_plan *plan, histo_accumulators *accumulators, const histo_view *const *operands,
                            const histo_fill_options *fill, bool resident, histo_reading *reading)
{
    histo_job job;
    histo_plan_job(plan, operands, fill, &job);
    job.accumulators = accumulators;
    job.resident = resident;
    job.reading = reading;
    const bool split = histo_split_fits(plan, operands), replaces = fill && fill->replace;
    const uint64_t samples = (uint64_t)histo_strided_iter_samples(&job.iter);
    histo_status status = replaces ? HISTO_OK : histo_accumulators_check(accumulators);
    if (status == HISTO_OK && (split || replaces)) status = check_captured(plan, &job, split);
    if (status == HISTO_OK && !replaces) status = histo_total_admit(accumulators, samples);
    if (status != HISTO_OK) return status;
    if (split) {
        const int planned = plan->split.threads;
        job.threads = fill && fill->threads && fill->threads < planned ? fill->threads : planned;
    }
    if (!replaces) return run(plan, &job, split);
    if (!split && counts_on_host(plan, false)) return histo_job_replace(&job, run_unsplit, plan);
    job.replace = !split && samples > 0;
    if (!job.replace) histo_accumulators_clear(accumulators, split ? NULL : job.stream);
    if (accumulators->most < samples) accumulators->most = samples;
    return run(plan, &job, split);
}

const char *histo_plan_strategy(const histo_plan *plan)
{
    return plan ? plan->name : NULL;
}

int histo_plan_threads(const histo_plan *plan)
{
    if (!plan) return 0;
    return plan->split.row ? plan->split.threads : plan->threads;
}

size_t histo_machine_describe(char *out, size_t capacity)
{
    HISTO_STANDARD_FLOATS;
    histo_text text = {.out = out, .capacity = out ? capacity : 0};
    const histo_backend *described = NULL;
    for (int i = 0; histo_row_at(i); i++) {
        const histo_backend *backend = histo_row_at(i)->backend;
        if (backend == described) continue; /* rows are grouped by backend */
        described = backend;
        const char *why = backend->unavailable();
        if (why)
            histo_text_add(&text, "%s: %s\n", backend->name, why);
        else
            backend->describe(&text);
    }
    return text.length;
}
