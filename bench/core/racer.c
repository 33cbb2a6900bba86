#include "bench/core/racer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

enum { LEVELS = 5, LEVEL_BITS = 3, MIN_SAMPLES = 1 << 14 };

/* Images stay whole in shorter passes: these have fewer of them. */
static bool is_whole(const bench *b)
{
    return b->input->width;
}

static bool is_one_array(const racer *r)
{
    const bench_arrangement *arranged = &r->arranged;
    return !r->bench->input->layout ||
           (arranged->batch == 1 && arranged->counted == arranged->stored && !arranged->masked && !arranged->pairs);
}

void bench_view_chunk(const bench *b, const bench_arrangement *arranged, int64_t i, int64_t n,
                      histo_view views[BENCH_MAX_AXES])
{
    views[0] = b->input->layout ? bench_samples_at(arranged, b->placed) : (histo_view){.data = NULL};
    for (int a = 0; a < b->axes && !b->input->layout; a++)
        views[a] = bench_input_view(b->input, b->placed, b->chunk * b->fills, i * b->chunk, n, a);
}

/* What fill i of a pass counts; the options point into it. */
static histo_fill_options make_filling(const bench *b, const bench_arrangement *arranged, int64_t i, int64_t n,
                                       race_fill *f)
{
    bench_view_chunk(b, arranged, i, n, f->views);
    f->mask = bench_mask_at(arranged, b->mask);
    f->weights = histo_view_1d(b->weights, b->input->weights, n);
    return (histo_fill_options){.mask = b->mask ? &f->mask : NULL, .weights = b->weights ? &f->weights : NULL};
}

histo_status racer_run_pass(void *context, void *stream)
{
    racer *r = context;
    histo_status status = HISTO_OK;
    r->passes++;
    if (r->peer) return r->peer->run(r->state, stream);
    for (int64_t i = 0; i < r->fills && status == HISTO_OK; i++) {
        race_fill f;
        histo_fill_options fill = make_filling(r->bench, &r->arranged, i, r->chunk, &f);
        fill.stream = stream;
        status = histo_plan_fill(r->plan, r->hist, f.views, &fill);
    }
    return status;
}

void racer_drop(racer *r, bench_outcome outcome)
{
    r->score->outcome = r->peer ? BENCH_REFUSED : outcome;
    snprintf(r->score->reason, sizeof r->score->reason, "%s", histo_last_error());
}

void racer_forget(racer *r)
{
    histo_plan_destroy(r->plan);
    r->plan = NULL;
    histo_hist_destroy(r->hist);
    r->hist = NULL;
    if (r->state) r->peer->end(r->state);
    r->state = NULL;
    r->passes = 0;
}

static histo_status begin_peer(racer *r)
{
    const bench *b = r->bench;
    histo_fill_options fill = make_filling(b, &r->arranged, 0, r->chunk, &r->filling);
    r->task = (bench_task){.input = b->input,
                           .axis = b->axis,
                           .edges = b->edges,
                           .samples = r->filling.views[0].data,
                           .views = r->filling.views,
                           .mask = fill.mask,
                           .arranged = is_one_array(r) ? NULL : &r->arranged,
                           .weights = b->weights,
                           .count = r->chunk * r->fills,
                           .threads = b->result->threads};
    return bench_peer_begin(r->peer, &r->task, &r->state);
}

histo_status racer_begin_plan(racer *r)
{
    const bench *b = r->bench;
    const bool chooses = r->score->entry == BENCH_PLAN;
    race_fill f;
    const histo_fill_options fill = make_filling(b, &r->arranged, 0, chooses ? b->chunk : r->chunk, &f);
    const histo_hist_options kind = {.batch = r->arranged.batch,
                                     .weighting = b->input->weighting,
                                     .storage = b->input->sparse ? HISTO_SPARSE : HISTO_DENSE};
    const histo_plan_options how = {.device = b->device->device,
                                    .strategy = chooses ? NULL : r->score->name,
                                    .params = chooses || !*r->score->params ? NULL : r->score->params,
                                    .threads = b->race->threads};
    const histo_pairs pairs = {.pairing = r->arranged.pairs};
    histo_status status = histo_hist_create(&r->hist, b->axes, b->axis, &kind);
    if (status == HISTO_OK)
        status = pairs.pairing ? histo_plan_create_pairs(&r->plan, r->hist, f.views, &pairs, &fill, &how)
                               : histo_plan_create(&r->plan, r->hist, f.views, &fill, &how);
    if (status == HISTO_OK && chooses)
        snprintf(r->score->name, sizeof r->score->name, "%s", histo_plan_strategy(r->plan));
    return status;
}

/* Prepare for passes of a level. The plan's choice is made for the whole batch. */
static histo_status settle(racer *r, int level)
{
    const bench *b = r->bench;
    bool whole = is_whole(b), rearranged = b->input->layout && r->score->entry != BENCH_PLAN;
    racer_forget(r);
    r->arranged = rearranged ? bench_arrange(b->input, b->wanted >> LEVEL_BITS * level) : b->arranged;
    if (r->arranged.pairs) r->arranged.view.strides[0] = b->arranged.view.strides[0]; /* the images keep their places */
    r->chunk = b->input->layout ? r->arranged.counted : whole ? b->chunk : b->chunk >> LEVEL_BITS * level;
    r->fills = whole ? b->fills >> LEVEL_BITS * level : 1;
    return r->peer ? begin_peer(r) : racer_begin_plan(r);
}

/* The last level whose passes have some samples per bin: below it, clearing and merging would dominate the time. */
static int lowest_level(const bench *b)
{
    int level = 0;
    int64_t min_samples = b->bins > MIN_SAMPLES ? b->bins : MIN_SAMPLES;
    int64_t shrinks = is_whole(b) ? b->fills : b->chunk / min_samples;
    while (level < LEVELS - 1 && shrinks >> LEVEL_BITS * (level + 1) > 0)
        level++;
    return level;
}

/* True if a pass takes so long that the next level would be too expensive. */
static bool is_long(const bench *b, double us)
{
    return us * (1 << LEVEL_BITS) * b->race->repeat > b->race->budget_us;
}

/* The time of a pass of this level: the shorter of two, since the first may set things up; the shortest of four where
 * it would be the last level, since another process may have interfered. */
static histo_status try_level(racer *r, int level, double *us)
{
    const bench *b = r->bench;
    const bool more = level > 0;
    histo_status status = settle(r, level);
    if (status != HISTO_OK) {
        bool cannot = status == HISTO_UNSUPPORTED || status == HISTO_INVALID;
        racer_drop(r, cannot ? BENCH_REFUSED : BENCH_FAILED);
        return status;
    }
    *us = INFINITY;
    for (int pass = 0; pass < (more && is_long(b, *us) ? 4 : 2) && status == HISTO_OK; pass++) {
        double again;
        status = b->device->time(racer_run_pass, r, &again);
        if (status == HISTO_OK) *us = fmin(*us, again);
        if (*us > b->race->budget_us / 2) break;
    }
    if (status != HISTO_OK) racer_drop(r, BENCH_FAILED);
    return status;
}

histo_status racer_stop_if_broken(const racer *r, histo_status status)
{
    if (status != HISTO_DEVICE) return HISTO_OK;
    char reason[sizeof r->score->reason];
    snprintf(reason, sizeof reason, "%s", histo_last_error());
    return histo_fail(HISTO_DEVICE, "%s: %s: %s", r->bench->input->name, r->score->name, reason);
}

histo_status racer_warm_up(racer *r)
{
    const bench *b = r->bench;
    double us = 0;
    for (int level = lowest_level(b); level >= 0; level--) {
        histo_status status = try_level(r, level, &us);
        if (status != HISTO_OK) return racer_stop_if_broken(r, status);
        if (is_long(b, us)) break;
    }
    double affordable = b->race->budget_us / (us + 1);
    r->repeat = affordable < 1 ? 1 : affordable < b->race->repeat ? (int)affordable : b->race->repeat;
    r->score->samples = r->chunk * r->fills;
    r->rate = (double)r->score->samples / us;
    return HISTO_OK;
}
