/* Plans: made, run, explained. */
#include "plan/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view/dtype.h"

/* "name=value,…" into params, which hold the usual values; refuses what the strategy does not know. */
static histo_status parse_params(const histo_row *row, const char *text, int64_t *params)
{
    const histo_param *list = row->strategy->params;
    for (int p = 0; list[p].name; p++)
        params[p] = list[p].usual;
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
        if (end != text + item || end == text + key + 1 || value < list[p].smallest || value > list[p].largest)
            return histo_fail(HISTO_INVALID, "parameter %s of strategy %s must be a whole number from %lld to %lld",
                              list[p].name, row->name, (long long)list[p].smallest, (long long)list[p].largest);
        params[p] = value;
        text += item + (text[item] == ',');
    }
    return HISTO_OK;
}

/* Where the plan counts: on the device asked for, or where the samples are, or where the strategy asked for runs. */
static histo_status place(histo_problem *problem, const histo_plan_options *options)
{
    histo_device device = options->device;
    const char *wanted = histo_plan_wanted(options);
    if (device == HISTO_DEVICE_AUTO) {
        device = problem->home;
        const histo_row *row = wanted ? histo_row_find(wanted, histo_backend_of(device)) : NULL;
        if (row && row->backend != histo_backend_of(device) && !problem->bound)
            device = row->backend == &histo_backend_cpu ? HISTO_DEVICE_CPU : HISTO_DEVICE_CUDA(0);
    }
    if (device < HISTO_DEVICE_CPU)
        return histo_fail(
            HISTO_INVALID,
            "there is no device %d: use HISTO_DEVICE_AUTO, HISTO_DEVICE_CPU or HISTO_DEVICE_CUDA(0) and up", device);
    const histo_backend *backend = histo_backend_of(device);
    const char *why = backend->unavailable();
    if (why) return histo_fail(HISTO_UNSUPPORTED, "%s cannot be used: %s", backend->name, why);
    int gpu = device - HISTO_DEVICE_CUDA(0);
    if (gpu >= 0 && gpu >= backend->devices())
        return histo_fail(HISTO_UNSUPPORTED, "there is no GPU %d: this machine has %d, numbered from 0", gpu,
                          backend->devices());
    if (problem->bound && device != problem->home)
        return histo_fail(HISTO_UNSUPPORTED, "the samples are in the memory of GPU %d: plan for that device",
                          problem->home - HISTO_DEVICE_CUDA(0));
    problem->device = device;
    return HISTO_OK;
}

histo_status histo_plan_make(histo_plan **out, int naxes, const histo_axis *axes, int64_t batch,
                             histo_weighting weighting, const histo_view *views, const histo_fill_options *fill,
                             const histo_plan_options *options)
{
    static const histo_plan_options defaults;
    if (!options) options = &defaults;
    if ((unsigned)options->effort > HISTO_MEASURE)
        return histo_fail(HISTO_INVALID, "unknown effort %d: use HISTO_ESTIMATE or HISTO_MEASURE",
                          (int)options->effort);
    if (options->threads < 0)
        return histo_fail(HISTO_INVALID, "%d threads are not possible: give 1 or more, or 0 for the default",
                          options->threads);
    histo_plan *plan = calloc(1, sizeof *plan);
    if (!plan) return histo_fail_memory(sizeof *plan, "a plan");
    const histo_view *operands[HISTO_MAX_OPERANDS];
    histo_status status = histo_problem_bind(&plan->problem, naxes, batch, weighting, views, fill, operands);
    if (status == HISTO_OK) status = place(&plan->problem, options);
    if (status == HISTO_OK) status = histo_problem_prepare(&plan->problem, axes);
    if (status != HISTO_OK) {
        free(plan);
        return status;
    }
    const histo_backend *backend = histo_backend_of(plan->problem.device);
    plan->threads = backend->threads(options->threads);
    histo_problem_signature(&plan->problem, plan->threads, plan->signature, sizeof plan->signature);
    if (backend->prepare) status = backend->prepare(&plan->problem, &plan->prepared);
    if (status == HISTO_OK) status = histo_plan_choose(plan, options, operands, fill);
    if (status == HISTO_OK) status = parse_params(plan->row, options->params, plan->params);
    if (status != HISTO_OK) {
        histo_plan_destroy(plan);
        return status;
    }
    snprintf(plan->name, sizeof plan->name, "%s/%s", plan->row->backend->name, plan->row->name);
    *out = plan;
    return HISTO_OK;
}

void histo_plan_destroy(histo_plan *plan)
{
    if (!plan) return;
    if (plan->prepared) histo_backend_of(plan->problem.device)->unprepare(plan->prepared);
    histo_problem_free(&plan->problem);
    free(plan);
}

bool histo_plan_fits(const histo_plan *plan, const histo_problem *problem)
{
    const histo_problem *planned = &plan->problem;
    bool fits = planned->operands == problem->operands && planned->weights == problem->weights &&
                planned->mask == problem->mask && planned->where == problem->where &&
                planned->weighting == problem->weighting && planned->batch == problem->batch;
    for (int o = 0; fits && o < problem->operands; o++)
        fits = planned->dtypes[o] == problem->dtypes[o];
    return fits;
}

histo_status histo_plan_run(const histo_plan *plan, histo_bank *bank, const histo_view *const *operands,
                            const histo_fill_options *fill)
{
    histo_job job = {.problem = &plan->problem,
                     .bank = bank,
                     .prepared = plan->prepared,
                     .threads = plan->threads,
                     .params = plan->params};
    if (fill) {
        job.where_lo = fill->where_lo;
        job.where_hi = fill->where_hi;
        job.stream = fill->stream;
    }
    histo_nest_make(&job.nest, plan->problem.operands, operands);
    int64_t n = job.nest.batch * job.nest.per_batch;
    bool exact = plan->problem.weighting == HISTO_WEIGHT_REPRODUCIBLE;
    int64_t piece = exact ? (int64_t)HISTO_EXACT_MAX_ADDS : n;
    histo_status status = HISTO_OK;
    for (; job.end < n && status == HISTO_OK; job.begin = job.end) {
        job.end = n - job.begin < piece ? n : job.begin + piece;
        status = plan->row->backend->run(plan->row->strategy, &job);
    }
    return status;
}

const char *histo_plan_strategy(const histo_plan *plan)
{
    return plan->name;
}

int histo_plan_threads(const histo_plan *plan)
{
    return plan->threads;
}

static void explain_problem(const histo_plan *plan, histo_text *text)
{
    const histo_problem *p = &plan->problem;
    double bytes = 0;
    for (int o = 0; o < p->operands; o++)
        bytes += (double)histo_dtype_size(p->dtypes[o]);
    histo_text_add(text, "problem: %s\n", plan->signature);
    histo_text_add(text, "reads %g bytes a sample; %lld slots%s, %lld of them bins\n", bytes, (long long)p->slots,
                   p->batch > 1 ? " in each histogram of the batch" : "", (long long)p->bins);
}

size_t histo_plan_explain(const histo_plan *plan, char *out, size_t capacity)
{
    static const char *const origins[] = {
        [HISTO_FORCED] = "because it was asked for by name",
        [HISTO_ESTIMATED] = "by the cost model",
        [HISTO_MEASURED] = "by measurement",
        [HISTO_REMEMBERED] = "by wisdom",
    };
    histo_text text = {.out = out, .capacity = capacity};
    explain_problem(plan, &text);
    histo_text_add(&text, "chosen: %s ", plan->name);
    if (plan->problem.device == HISTO_DEVICE_CPU)
        histo_text_add(&text, "with %d thread%s", plan->threads, plan->threads == 1 ? "" : "s");
    else
        histo_text_add(&text, "on GPU %d", plan->problem.device - HISTO_DEVICE_CUDA(0));
    histo_text_add(&text, ", %s\n", origins[plan->origin]);
    for (int p = 0; plan->row->strategy->params[p].name; p++)
        histo_text_add(&text, "  %s = %lld: %s\n", plan->row->strategy->params[p].name, (long long)plan->params[p],
                       plan->row->strategy->params[p].about);
    for (int c = 0; c < plan->candidates; c++) {
        const histo_candidate *it = &plan->candidate[c];
        const char *mark = it->row == plan->row ? "*" : " ";
        if (it->refusal)
            histo_text_add(&text, "%s %s/%s: %s\n", mark, it->row->backend->name, it->row->name, it->refusal);
        else
            histo_text_add(&text, "%s %s/%s: %s %.4g us, %.3g Gsamples/s\n", mark, it->row->backend->name,
                           it->row->name, plan->origin == HISTO_MEASURED ? "measured" : "predicted", it->us,
                           (double)plan->problem.samples / it->us * 1e-3);
    }
    const histo_backend *chosen = plan->row->backend;
    const histo_backend *other = chosen == &histo_backend_cpu ? &histo_backend_cuda : &histo_backend_cpu;
    const char *why = other->unavailable();
    histo_text_add(&text, "  %s: %s\n", other->name, why ? why : "not asked for, and the samples are not there");
    return text.length;
}

size_t histo_machine_describe(char *out, size_t capacity)
{
    histo_text text = {.out = out, .capacity = capacity};
    const histo_backend *described = NULL;
    for (int i = 0; histo_row_at(i); i++) {
        const histo_backend *backend = histo_row_at(i)->backend;
        if (backend == described) continue; /* rows stand together by backend */
        described = backend;
        const char *why = backend->unavailable();
        if (why)
            histo_text_add(&text, "%s: %s\n", backend->name, why);
        else
            backend->describe(&text);
    }
    return text.length;
}
