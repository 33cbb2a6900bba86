/* Measuring one random problem: the plan, every other strategy and all peers take turns. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "bench/core/times.h"
#include "bench/random/random.h"
#include "bench/random/random_peers.h"
#include "plan/strategy.h"

/* ---- Entries that take turns ---- */

/* Fills by one plan. */
typedef struct filler {
    problem_fill fill;
    histo_plan *plan;
    histo_hist *hist;
    int fills;
} filler;

typedef struct entry {
    random_score *score;
    bench_work *work;
    void *context; /* of a strategy or the plan: its filler */
    void (*end)(void *context);
    filler filler;
    int repeat; /* 0: it is so slow that the time of its warming up is all */
    bench_times times;
} entry;

typedef struct runner {
    const bench_random_options *options;
    const bench_device *device;
    const random_roof *roof; /* of the problem's place */
    random_verdict *verdict;
    problem_data data;
    reference_counts counts;
    entry entries[RANDOM_ENTRIES]; /* as many as the verdict has scores */
    problem_task task;
    int threads;
} runner;

static histo_status fill_once(void *context, void *stream)
{
    filler *f = context;
    f->fill.options.stream = stream;
    f->fills++;
    return histo_plan_fill(f->plan, f->hist, f->fill.samples, &f->fill.options);
}

static void end_filler(void *context)
{
    filler *f = context;
    histo_plan_destroy(f->plan);
    histo_hist_destroy(f->hist);
}

/* On a CPU, samples that fit the caches are counted there, as in a program that has just made them: a pass is the mean
 * of many fills. Others come from memory. */
static histo_status time_work(const runner *r, bench_work *work, void *context, double *us)
{
    const size_t cached = 4 << 20;
    const double shortest_us = 50;
    const int max_fills = 4096;
    if (r->verdict->problem.place != PROBLEM_CPU || r->data.bytes > cached) return r->device->time(work, context, us);
    histo_status status = HISTO_OK;
    double begun = histo_now_us();
    int done = 0;
    do {
        status = work(context, NULL);
        *us = (histo_now_us() - begun) / ++done;
    } while (status == HISTO_OK && *us * done < shortest_us && done < max_fills);
    return status;
}

/* The time of an entry's second pass; of the first, which may set things up, if that takes so long. */
static histo_status warm_up(const runner *r, const entry *e, double long_us, double *us)
{
    histo_status status = HISTO_OK;
    *us = 0;
    for (int pass = 0; pass < 2 && status == HISTO_OK && *us <= long_us; pass++)
        status = time_work(r, e->work, e->context, us);
    return status;
}

/* How many passes to time of work that takes so long. */
static int passes_for(const bench_random_options *options, double us)
{
    const double budget_us = options->common.quick ? 1e4 : 3e4;
    int passes = options->common.repeat ? options->common.repeat : options->common.quick ? 3 : 7;
    int affordable = us > 0 ? (int)fmin(budget_us / us, passes) : passes;
    return affordable < 2 ? (passes < 2 ? passes : 2) : affordable;
}

/* The next entry, which is none until keep_entry. */
static entry *next_entry(runner *r, const char *name, bench_work *work, void *context, void (*end)(void *context))
{
    random_score *score = &r->verdict->score[r->verdict->scores];
    entry *e = &r->entries[r->verdict->scores];
    *score = (random_score){.us = 0};
    *e = (entry){.score = score, .work = work, .context = context ? context : &e->filler, .end = end};
    snprintf(score->name, sizeof score->name, "%s", name);
    return e;
}

/* us: its time; slow: it is not worth more. */
static void keep_entry(runner *r, entry *e, double us, bool slow)
{
    r->verdict->scores++;
    e->repeat = slow ? 0 : passes_for(r->options, us);
    if (slow) e->times.us[e->times.passes++] = us;
}

static void fail_entry(random_verdict *v, const char *name, random_outcome outcome, const char *reason)
{
    if (v->outcome != RANDOM_EXACT) return;
    v->outcome = outcome;
    snprintf(v->reason, sizeof v->reason, "%s: %s", name, reason);
}

/* A histogram and a plan for the problem; strategy is NULL for the plan's choice. End it also after a failure. */
static histo_status begin_filler(const runner *r, const char *strategy, filler *f)
{
    const random_problem *p = &r->verdict->problem;
    histo_hist_options kind = {.batch = p->batch, .weighting = p->weighting, .storage = p->storage};
    histo_plan_options how = {.effort = r->options->effort,
                              .device = r->device->device,
                              .strategy = strategy,
                              .threads = r->options->common.threads};
    problem_fill_make(&r->data, false, &f->fill);
    histo_status status = histo_hist_create(&f->hist, p->axes, r->data.axes, &kind);
    return status == HISTO_OK ? histo_plan_create(&f->plan, f->hist, f->fill.samples, &f->fill.options, &how) : status;
}

/* Compare the histogram of an entry with the reference. */
static histo_status check_entry(runner *r, const entry *e)
{
    char wrong[300];
    if (!e->filler.hist) return HISTO_OK;
    histo_status status = reference_compare(&r->counts, e->filler.hist, e->filler.fills, wrong, sizeof wrong);
    if (status == HISTO_OK && *wrong) fail_entry(r->verdict, e->score->name, RANDOM_WRONG, wrong);
    return status;
}

/* ---- The plan, its rivals and its peers ---- */

static histo_status add_plan(runner *r)
{
    random_verdict *v = r->verdict;
    entry *e = next_entry(r, "", fill_once, NULL, end_filler);
    double begun = histo_now_us();
    histo_status status = begin_filler(r, NULL, &e->filler);
    v->planning_us = histo_now_us() - begun;
    if (status != HISTO_OK) {
        end_filler(&e->filler);
        return status;
    }
    snprintf(v->strategy, sizeof v->strategy, "%s", histo_plan_strategy(e->filler.plan));
    snprintf(e->score->name, sizeof e->score->name, "%s", v->strategy);
    e->score->is_plan = true;
    begun = histo_now_us();
    status = time_work(r, e->work, e->context, &v->us); /* allocates, and may compile */
    v->first_us = histo_now_us() - begun;
    if (status == HISTO_OK) status = time_work(r, e->work, e->context, &v->us);
    keep_entry(r, e, v->us, false);
    return status;
}

/* Keep what explain says of the plan's kernels: the line of a compiled one if there is any. */
static void see_kernel(random_verdict *v, const histo_plan *plan)
{
    static const char begin[] = "\n  kernel: ", compiled[] = "compiled", impossible[] = "because none can be compiled";
    char text[16384] = "";
    histo_plan_explain(plan, text, sizeof text);
    for (const char *at = strstr(text, begin); at && strcmp(v->kernel, compiled) != 0; at = strstr(at, begin)) {
        at += sizeof begin - 1;
        snprintf(v->kernel_line, sizeof v->kernel_line, "%.*s", (int)strcspn(at, "\n"), at);
        snprintf(v->kernel, sizeof v->kernel, "%s",
                 strstr(v->kernel_line, impossible)                            ? "unavailable"
                 : strncmp(v->kernel_line, compiled, sizeof compiled - 1) == 0 ? compiled
                                                                               : "general");
    }
}

/* Make a fill of a 64th of the samples, by a shorter last dimension; false if there are too few. */
static bool shorten(problem_fill *fill, const random_problem *p)
{
    enum { PART = 64, MIN_SAMPLES = 1 << 10, MIN_LENGTH = 16 };
    const int last = fill->samples[0].ndim - 1;
    const int64_t length = fill->samples[0].shape[last] / PART;
    if (fill->options.offsets || p->samples / p->batch / PART < MIN_SAMPLES || length < MIN_LENGTH) return false;
    for (int a = 0; a < p->axes; a++)
        fill->samples[a].shape[last] = length;
    fill->weights.shape[last] = fill->mask.shape[last] = fill->where.shape[last] = length;
    return true;
}

/* Would this strategy take several times as long as the plan's? Estimated by a fill of a part of the samples. */
static histo_status try_part(runner *r, entry *e, bool *hopeless)
{
    const double times = 3, part = 64, overhead_us = 100;
    filler *f = &e->filler;
    double us = 0;
    *hopeless = false;
    if (!shorten(&f->fill, &r->verdict->problem)) return HISTO_OK;
    histo_status status = warm_up(r, e, INFINITY, &us);
    *hopeless = us > overhead_us && (us - overhead_us) * part > times * r->verdict->us;
    problem_fill_make(&r->data, false, &f->fill);
    f->fills = 0;
    return status == HISTO_OK ? histo_hist_reset(f->hist, NULL) : status;
}

/* Time another strategy, unless it cannot count the problem. */
static histo_status add_rival(runner *r, const char *name)
{
    const double plan_us = r->verdict->us;
    entry *e = next_entry(r, name, fill_once, NULL, end_filler);
    double us = 0;
    bool hopeless = false;
    histo_status status = begin_filler(r, name, &e->filler);
    const bool cannot = status == HISTO_UNSUPPORTED || status == HISTO_INVALID;
    if (status == HISTO_OK) status = try_part(r, e, &hopeless);
    if (status == HISTO_OK && !hopeless) status = warm_up(r, e, 10 * plan_us + 1000, &us);
    if (status == HISTO_OK && !hopeless) {
        keep_entry(r, e, us, us > 3 * plan_us + 100);
        return HISTO_OK;
    }
    end_filler(&e->filler);
    return cannot || status == HISTO_NO_MEMORY ? HISTO_OK : status;
}

static histo_status add_rivals(runner *r)
{
    histo_strategy_info info;
    histo_status status = HISTO_OK;
    for (int i = 0; histo_strategy_describe(i, &info) == HISTO_OK && status == HISTO_OK; i++) {
        char name[48];
        snprintf(name, sizeof name, "%s/%s", info.backend, info.name);
        if (strcmp(info.backend, r->device->backend) != 0 || strcmp(name, r->verdict->strategy) == 0) continue;
        if (info.storage != r->verdict->problem.storage || r->verdict->scores == RANDOM_ENTRIES) continue;
        status = add_rival(r, name);
        if (status != HISTO_OK) fail_entry(r->verdict, name, RANDOM_FAILED, histo_last_error());
        if (status != HISTO_DEVICE) status = HISTO_OK;
    }
    return status;
}

/* Time a peer that has begun. One that fails is left out; one that takes much longer than the plan is timed only once.
 */
static histo_status add_peer(runner *r, const char *name, histo_status begun, bench_work *run, void *state,
                             void (*end)(void *state))
{
    const double long_us = 10 * r->verdict->us + 1000;
    double us = 0;
    entry *e = next_entry(r, name, run, state, end);
    e->score->is_peer = true;
    histo_status status = begun == HISTO_OK ? warm_up(r, e, long_us, &us) : begun;
    if (status == HISTO_OK) keep_entry(r, e, us, us > long_us);
    if (status != HISTO_OK && state) end(state);
    return status == HISTO_DEVICE ? status : HISTO_OK;
}

/* The naive loop on a CPU, atomic additions on a GPU, and other libraries. */
static histo_status add_peers(runner *r)
{
    const random_device *device = r->device->random;
    histo_status begun, status = HISTO_OK;
    void *state;
    if (r->verdict->problem.place == PROBLEM_CPU) {
        begun = problem_naive_create(&r->data, &state);
        status = add_peer(r, "naive loop", begun, problem_naive_run, state, problem_naive_destroy);
    }
    if (device) {
        begun = problem_atomics_begin(&r->data, device, &state);
        status = add_peer(r, "strided atomics", begun, device->atomics_run, state, device->atomics_end);
    }
    if (!problem_task_make(&r->data, r->threads, &r->task)) return status;
    for (int i = 0; r->device->peers[i] && status == HISTO_OK; i++) {
        const bench_peer *peer = r->device->peers[i];
        if (peer->loop) continue;
        begun = bench_peer_begin(peer, &r->task.task, &state);
        add_peer(r, peer->name, begun, peer->run, state, peer->end); /* what a library cannot do fails nothing */
    }
    return status;
}

static histo_status take_turns(runner *r)
{
    histo_status status = HISTO_OK;
    bool more = true;
    for (int turn = 0; more && status == HISTO_OK; turn++) {
        more = false;
        for (int i = 0; i < r->verdict->scores && status == HISTO_OK; i++) {
            entry *e = &r->entries[i];
            if (turn >= e->repeat) continue;
            status = time_work(r, e->work, e->context, &e->times.us[e->times.passes++]);
            more = true;
        }
    }
    return status;
}

static void judge(runner *r)
{
    random_verdict *v = r->verdict;
    for (int i = 0; i < v->scores; i++) {
        random_score *s = &v->score[i];
        bench_times_sort(&r->entries[i].times);
        s->us = bench_median(&r->entries[i].times);
        if (s->is_plan) v->us = s->us;
        double *best = s->is_peer ? &v->peer_us : &v->best_us;
        if (*best > 0 && *best <= s->us) continue;
        *best = s->us;
        snprintf(s->is_peer ? v->peer : v->best, sizeof v->best, "%s", s->name);
    }
    if (r->options->common.quick) v->best_us = 0;
}

/* ---- A problem ---- */

static random_class class_of(const random_problem *p)
{
    if (p->place == PROBLEM_CPU) return RANDOM_CPU;
    if (p->place != PROBLEM_DEVICE) return RANDOM_TRANSFER;
    return p->samples > 1 << 22 ? RANDOM_DEVICE : p->samples > 1 << 20 ? RANDOM_MIDDLE : RANDOM_SMALL;
}

static histo_status place_arrays(runner *r)
{
    histo_status status = HISTO_OK;
    const problem_place place = r->verdict->problem.place;
    for (int i = 0; i < PROBLEM_ARRAYS && status == HISTO_OK; i++) {
        problem_array *array = &r->data.arrays[i];
        if (!array->host || place == PROBLEM_CPU || place == PROBLEM_PAGEABLE) continue;
        status = bench_device_place(r->device, array->host, array->bytes, &array->placed);
    }
    return status;
}

static void release_arrays(runner *r)
{
    for (int i = 0; i < PROBLEM_ARRAYS; i++) {
        problem_array *array = &r->data.arrays[i];
        if (array->placed && array->placed != array->host) r->device->release(array->placed);
        array->placed = NULL;
    }
}

/* Who makes and counts the samples: a GPU if they are many and in its memory; else NULL, the host. */
static const bench_device *maker_of(const runner *r)
{
    const int64_t few = 1 << 16;
    const random_problem *p = &r->verdict->problem;
    return p->samples > few && p->storage == HISTO_DENSE && r->device->random ? r->device : NULL;
}

static histo_status measure(runner *r)
{
    random_verdict *v = r->verdict;
    const int makers = histo_backend_cpu.threads(0);
    const double begun = histo_now_us();
    histo_status status = problem_data_make(&v->problem, makers, maker_of(r), &r->data);
    if (status == HISTO_OK) status = place_arrays(r);
    if (status == HISTO_OK) status = problem_counts_make(&r->data, makers, &r->counts);
    v->preparing_us = histo_now_us() - begun;
    if (status == HISTO_OK) random_find_bound(&r->data, &r->counts, r->roof, v);
    if (status == HISTO_OK) status = add_plan(r);
    if (status == HISTO_OK) status = add_peers(r);
    if (status == HISTO_OK && !r->options->common.quick) status = add_rivals(r);
    if (status == HISTO_OK) status = take_turns(r);
    for (int i = 0; i < v->scores && status == HISTO_OK; i++)
        status = check_entry(r, &r->entries[i]);
    if (status == HISTO_OK) judge(r);
    if (status == HISTO_OK) see_kernel(v, r->entries[0].filler.plan);
    return status;
}

static void clean_up(runner *r)
{
    for (int i = 0; i < r->verdict->scores; i++)
        r->entries[i].end(r->entries[i].context);
    reference_counts_free(&r->counts);
    release_arrays(r);
    problem_data_free(&r->data);
    free(r);
}

static const bench_device *device_of(histo_device device, problem_place place)
{
    return bench_device_find(device, place == PROBLEM_PINNED     ? BENCH_PINNED
                                     : place == PROBLEM_PAGEABLE ? BENCH_PAGEABLE
                                                                 : BENCH_RESIDENT);
}

histo_status random_run(const bench_random_options *options, random_roof roofs[PROBLEM_PLACES], const random_problem *p,
                        random_verdict *v)
{
    const bench_device *device = device_of(options->common.device, p->place);
    const double begun = histo_now_us();
    random_roof *roof = &roofs[p->place];
    *v = (random_verdict){.problem = *p, .class = class_of(p)};
    if (!device) return HISTO_UNSUPPORTED;
    const int threads = bench_device_threads(device, options->common.threads);
    histo_status status = roof->sizes ? HISTO_OK : random_roof_measure(device, p->place, threads, roof);
    if (status != HISTO_OK) return status;
    runner *r = calloc(1, sizeof *r);
    if (!r) return histo_fail_memory(sizeof *r, "random problems");
    r->options = options;
    r->device = device;
    r->roof = roof;
    r->verdict = v;
    r->threads = threads;
    status = measure(r);
    if (status != HISTO_OK)
        fail_entry(v, *v->strategy ? v->strategy : "planning",
                   status == HISTO_NO_MEMORY ? RANDOM_NO_MEMORY : RANDOM_FAILED, histo_last_error());
    clean_up(r);
    v->all_us = histo_now_us() - begun;
    return status == HISTO_DEVICE ? status : HISTO_OK;
}
