/* Explains a plan in plain words: which strategy was chosen, on which device, what bounds its speed, and why each other
 * candidate lost. */
#include <math.h>

#include "base/floats.h"
#include "plan/plan.h"

static void explain_problem(const histo_plan *plan, histo_text *text)
{
    const histo_problem *p = &plan->problem;
    char signature[HISTO_SIGNATURE_BYTES];
    histo_plan_signature(plan, plan->at, signature);
    histo_text_add(text, "problem: %s\n", signature);
    histo_text_add(text, "reads %g bytes a sample; %lld slots%s, %lld of them bins\n", histo_sample_bytes(p),
                   (long long)p->slots, p->batch > 1 ? " in each histogram of the batch" : "", (long long)p->bins);
    if (p->probes)
        histo_text_add(text, "a probe at %d samples: %.3g %% of them lie in an eighth of the slots\n", p->probes,
                       100 * histo_problem_fraction(p, p->slots / 8));
}

static void explain_split(const histo_plan *plan, histo_text *text)
{
    const histo_split *split = &plan->split;
    histo_text_add(text, "split: each device takes the next part when it is free");
    if (split->row && split->us > 0)
        histo_text_add(text, "; about %.0f %% of the samples go to GPUs", 100 * split->fraction);
    if (split->row)
        histo_text_add(text, "; the CPU counts the others by %s/%s with %d thread%s", split->row->backend->name,
                       split->row->name, split->threads, split->threads == 1 ? "" : "s");
    if (split->us > 0) histo_text_add(text, ", %s %.4g us in all", split->timed ? "measured" : "predicted", split->us);
    histo_text_add(text, "\n");
}

static void explain_choice(const histo_plan *plan, histo_text *text)
{
    static const char *const origins[] = {
        [HISTO_FORCED] = "because it was asked for by name",
        [HISTO_ESTIMATED] = "by the cost model",
        [HISTO_MEASURED] = "by measurement",
        [HISTO_REMEMBERED] = "by wisdom",
        [HISTO_UNPLANNED] = "without a plan, which would take longer to make than so few samples take to count",
    };
    const histo_strategy *strategy = plan->row->strategy;
    histo_text_add(text, "chosen: %s ", plan->name);
    if (plan->problem.device == HISTO_DEVICE_CPU)
        histo_text_add(text, "with %d thread%s", plan->threads, plan->threads == 1 ? "" : "s");
    else
        histo_text_add(text, "on GPU %d", plan->problem.device - HISTO_DEVICE_CUDA(0));
    for (int p = 0; p < plan->split.partners; p++)
        histo_text_add(text, "%s %d", p + 1 < plan->split.partners ? "," : " and",
                       plan->split.partner[p].problem.device - HISTO_DEVICE_CUDA(0));
    histo_text_add(text, ", %s\n", origins[plan->origin]);
    if (plan->split.fraction > 0) explain_split(plan, text);
    if (plan->one_gpu) histo_text_add(text, "one GPU alone: %s\n", plan->one_gpu);
    if (plan->row->backend->explain) plan->row->backend->explain(plan->prepared, text);
    if (strategy->explain) {
        histo_text_add(text, "layout: ");
        strategy->explain(&plan->problem, plan->params, text);
        histo_text_add(text, "\n");
    }
    for (int p = 0; strategy->params[p].name; p++)
        histo_text_add(text, "  %s = %lld: %s\n", strategy->params[p].name, (long long)plan->params[p],
                       strategy->params[p].about);
}

static histo_speed speed_of(const histo_target *target)
{
    const histo_backend *backend = histo_backend_of(target->device);
    return backend->speed ? backend->speed(target->device) : (histo_speed){0, 0};
}

static double max(double a, double b)
{
    return a > b ? a : b;
}

/* Explain what bounds the speed of the chosen candidate. */
static void explain_bound(const histo_plan *plan, const histo_candidate *candidate, histo_text *text)
{
    const histo_target *target = &plan->target[candidate->target];
    const histo_transfer *way = &target->transfer;
    double bytes = (double)plan->problem.samples * histo_sample_bytes(&plan->problem);
    histo_speed speed = speed_of(target);
    double read_us = histo_read_us(&plan->problem, &speed);
    if (plan->problem.samples == 0) return;
    if (way->bytes > 0 && way->bytes_us >= max(candidate->count_us, way->start_us + way->setup_us + way->gather_us))
        histo_text_add(text, "bound: the samples' way to the GPU, %.4g us at %.3g GB/s\n", way->bytes_us,
                       way->bytes / way->bytes_us * 1e-3);
    else if (way->bytes > 0 && way->start_us + way->setup_us + way->gather_us > candidate->count_us)
        histo_text_add(text, "bound: starting, setting up and bringing the counts back, %.4g us\n",
                       way->start_us + way->setup_us + way->gather_us);
    else if (read_us > 0)
        histo_text_add(text, "bound: %s; reading alone takes %.4g us at %.4g GB/s, %.0f %% of the time\n",
                       read_us >= 0.8 * candidate->us                   ? "reading the samples"
                       : candidate->cost.fixed_us > 0.5 * candidate->us ? "launching kernels and adding up"
                                                                        : "counting, not reading",
                       read_us, bytes / read_us * 1e-3, 100 * read_us / candidate->us);
    else
        histo_text_add(text, "bound: the CPU, %s %.3g GB/s\n",
                       plan->origin == HISTO_MEASURED ? "measured" : "predicted", bytes / candidate->us * 1e-3);
}

/* Why a candidate is slow: the part of its time without which it might have won. */
static const char *blame(const histo_plan *plan, const histo_candidate *candidate, double best_us)
{
    const histo_transfer *way = &plan->target[candidate->target].transfer;
    if (plan->origin == HISTO_MEASURED) return "";
    if (way->bytes > 0 && candidate->count_us < best_us) {
        if (candidate->us - way->start_us < best_us) return ", most of it to start CUDA";
        if (way->bytes_us >= best_us) return ", most of it the samples' way to the GPU";
        return ", most of it setting up and the way there and back";
    }
    if (!(candidate->cost.read_us > 0) || candidate->cost.fixed_us >= best_us) return "";
    return candidate->cost.read_us > candidate->cost.count_us ? ", reading" : ", counting";
}

static void explain_candidate(const histo_plan *plan, const histo_candidate *candidate, double best_us,
                              histo_text *text)
{
    bool chosen = candidate->row == plan->row && candidate->target == plan->at;
    const char *how = plan->origin == HISTO_MEASURED               ? "measured"
                      : plan->origin == HISTO_REMEMBERED && chosen ? "remembered"
                                                                   : "predicted";
    histo_text_add(text, "%s %s/%s: ", chosen ? "*" : " ", candidate->row->backend->name, candidate->row->name);
    if (candidate->why_not) {
        histo_text_add(text, "%s\n", candidate->why_not);
        return;
    }
    if (isinf(candidate->us)) {
        histo_text_add(text, "no estimate: it is kept to be compared with, and runs only by name\n");
        return;
    }
    histo_text_add(text, "%s %.4g us, %.3g Gsamples/s", how, candidate->us,
                   (double)plan->problem.samples / candidate->us * 1e-3);
    if (!chosen && candidate->us > best_us)
        histo_text_add(text, ": %.3g times as long%s", candidate->us / best_us, blame(plan, candidate, best_us));
    histo_text_add(text, "\n");
}

/* Explain the time for transferring the samples to a GPU. */
static void explain_way(const histo_target *target, histo_text *text)
{
    const histo_transfer *way = &target->transfer;
    if (!(way->bytes > 0)) return;
    histo_text_add(text, "  cuda: %.3g MB from host memory in %.4g us, while others are counted; ", way->bytes * 1e-6,
                   way->bytes_us);
    if (way->start_us > 0) histo_text_add(text, "starting CUDA %.4g us, ", way->start_us);
    histo_text_add(text, "setting up %.4g us, counts back %.4g us\n", way->setup_us, way->gather_us);
}

static void explain_others(const histo_plan *plan, histo_text *text)
{
    for (int p = 0; p < plan->targets; p++)
        if (plan->target[p].left_out)
            histo_text_add(text, "  %s: %s\n", histo_backend_of(plan->target[p].device)->name,
                           plan->target[p].left_out);
    if (plan->targets > 1) return;
    const histo_backend *chosen = plan->row->backend;
    const histo_backend *other = chosen == &histo_backend_cpu ? &histo_backend_cuda : &histo_backend_cpu;
    const bool named = plan->origin == HISTO_FORCED, unplanned = plan->origin == HISTO_UNPLANNED;
    const char *why = named || unplanned ? NULL : other->unavailable();
    histo_text_add(text, "  %s: %s\n", other->name,
                   why                   ? why
                   : plan->problem.bound ? "the samples are in the GPU's memory, and stay there"
                   : unplanned           ? "not looked for: the CPU is done before"
                   : named               ? "another strategy was asked for"
                                         : "not asked for");
}

size_t histo_plan_explain(const histo_plan *plan, char *out, size_t capacity)
{
    HISTO_STANDARD_FLOATS;
    histo_text text = {.out = out, .capacity = out ? capacity : 0};
    if (!plan) {
        histo_text_add(&text, "%s", "");
        return 0;
    }
    const histo_candidate *best = NULL;
    for (int c = 0; c < plan->candidates; c++)
        if (plan->candidate[c].row == plan->row && plan->candidate[c].target == plan->at) best = &plan->candidate[c];
    explain_problem(plan, &text);
    explain_choice(plan, &text);
    if (best) explain_bound(plan, best, &text);
    for (int c = 0; c < plan->candidates; c++)
        if (!plan->target[plan->candidate[c].target].left_out)
            explain_candidate(plan, &plan->candidate[c], best ? best->us : 0, &text);
    for (int p = 0; p < plan->targets; p++)
        explain_way(&plan->target[p], &text);
    explain_others(plan, &text);
    return text.length;
}
