#include "bench/core/race.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "bench/core/racer.h"
#include "plan/strategy.h"

double bench_rate(const bench_score *score)
{
    return (double)score->samples / bench_median(&score->times);
}

double bench_roof_us(const bench_result *result)
{
    double us = bench_median(&result->roof);
    bool one = result->roof_one_thread.passes;
    return one ? fmin(us, bench_median(&result->roof_one_thread)) : us;
}

double bench_percent(const bench_result *result, const bench_score *score)
{
    return 100 * bench_rate(score) * bench_roof_us(result) / (double)result->samples;
}

/* ---- Turns ---- */

/* Entries slower than this cost more time than they are worth. */
static void drop_hopeless(const bench *b)
{
    double best = 0;
    for (int i = 0; i < b->result->scores; i++) {
        const racer *r = &b->racers[i];
        if (r->score->entry == BENCH_STRATEGY && r->score->outcome == BENCH_EXACT) best = fmax(best, r->rate);
    }
    for (int i = 0; i < b->result->scores; i++) {
        racer *r = &b->racers[i];
        if (r->score->entry != BENCH_STRATEGY || r->score->outcome != BENCH_EXACT) continue;
        if (r->rate * b->race->hopeless >= best) continue;
        histo_fail(HISTO_UNSUPPORTED, "given up: about %.0f times slower than the best", best / r->rate);
        racer_drop(r, BENCH_SLOW);
        racer_forget(r);
    }
}

/* Bytes that a pass reads. */
static size_t bytes_of_samples(const bench *b)
{
    return bench_input_bytes(b->input, b->input->layout ? b->arranged.touched : b->chunk * b->fills);
}

static size_t bytes_of_mask(const bench *b)
{
    return b->mask ? bytes_of_samples(b) / histo_dtype_size(b->input->dtype) : 0;
}

static size_t bytes_of_weights(const bench *b)
{
    return b->weights ? (size_t)(b->chunk * b->fills) * histo_dtype_size(b->input->weights) : 0;
}

typedef struct roof_reader {
    const bench *bench;
    int threads;
} roof_reader;

static histo_status read_pass(void *context, void *stream)
{
    const roof_reader *r = context;
    const bench *b = r->bench;
    const size_t bytes = bytes_of_samples(b);
    histo_status status = b->device->read(b->placed, bytes, r->threads, stream);
    if (status == HISTO_OK && b->mask) status = b->device->read(b->mask, bytes_of_mask(b), r->threads, stream);
    if (status != HISTO_OK || !b->weights) return status;
    return b->device->read(b->weights, bytes_of_weights(b), r->threads, stream);
}

static histo_status time_reading(const bench *b, int threads, bench_times *times)
{
    roof_reader r = {b, threads};
    return b->device->time(read_pass, &r, &times->us[times->passes++]);
}

static histo_status take_turns(const bench *b)
{
    bench_result *result = b->result;
    histo_status status = HISTO_OK;
    for (int turn = 0; turn < b->race->repeat && status == HISTO_OK; turn++) {
        status = time_reading(b, result->threads, &result->roof);
        if (status == HISTO_OK && result->threads > 1) status = time_reading(b, 1, &result->roof_one_thread);
        for (int i = 0; i < result->scores && status == HISTO_OK; i++) {
            bench_times *times = &result->score[i].times;
            if (result->score[i].outcome != BENCH_EXACT || turn >= b->racers[i].repeat) continue;
            status = b->device->time(racer_run_pass, &b->racers[i], &times->us[times->passes++]);
            if (status == HISTO_OK) continue;
            racer_drop(&b->racers[i], BENCH_FAILED);
            status = racer_stop_if_broken(&b->racers[i], status);
        }
    }
    return status;
}

/* Warm up, and ask the strategy about its fills since then. */
static histo_status warm_up(racer *r)
{
    bench_score *score = r->score;
    const histo_row *row = score->entry == BENCH_STRATEGY ? histo_row_find(score->name, NULL) : NULL;
    const bool tells = row && row->strategy && row->strategy->tell;
    histo_text before = {0}, note = {.out = score->note, .capacity = sizeof score->note};
    if (tells) row->strategy->tell(&before);
    histo_status status = racer_warm_up(r);
    if (tells && status == HISTO_OK) row->strategy->tell(&note);
    return status;
}

/* ---- The race ---- */

static racer *add_entry(bench *b, bench_entry entry)
{
    bench_score *score = &b->result->score[b->result->scores];
    score->entry = entry;
    b->racers[b->result->scores] = (racer){.bench = b, .score = score};
    return &b->racers[b->result->scores++];
}

static void add_contender(bench *b, const bench_contender *c)
{
    const bool plan = strcmp(c->name, "plan") == 0;
    racer *r = add_entry(b, c->peer ? BENCH_PEER : plan ? BENCH_PLAN : BENCH_STRATEGY);
    bench_score *score = r->score;
    r->peer = c->peer;
    memcpy(score->name, c->name, sizeof score->name);
    memcpy(score->params, c->params, sizeof score->params);
}

/* The contenders or all strategies, the plan and the peers. */
static histo_status list_entries(bench *b)
{
    const bench_race *race = b->race;
    size_t entries = (size_t)histo_strategy_count() + 1 + (size_t)race->contender_count;
    for (int p = 0; b->device->peers[p]; p++)
        entries++;
    histo_strategy_info info;
    b->result->score = calloc(entries, sizeof *b->result->score);
    b->racers = calloc(entries, sizeof *b->racers);
    if (!b->result->score || !b->racers) return histo_fail_memory(entries * sizeof *b->result->score, "results");
    for (int c = 0; c < race->contender_count; c++)
        add_contender(b, &race->contenders[c]);
    for (int i = 0; !race->contenders && histo_strategy_describe(i, &info) == HISTO_OK; i++) {
        if (strcmp(info.backend, b->device->backend) != 0) continue;
        bench_score *score = add_entry(b, BENCH_STRATEGY)->score;
        snprintf(score->name, sizeof score->name, "%s/%s", info.backend, info.name);
    }
    if (race->plan) add_entry(b, BENCH_PLAN);
    for (int p = 0; race->peers && b->device->peers[p]; p++) {
        racer *r = add_entry(b, BENCH_PEER);
        r->peer = b->device->peers[p];
        snprintf(r->score->name, sizeof r->score->name, "%s", r->peer->name);
    }
    return HISTO_OK;
}

static void find_best(bench_result *result)
{
    for (int i = 0; i < result->scores; i++) {
        bench_score *score = &result->score[i];
        bench_times_sort(&score->times);
        if (score->entry == BENCH_PLAN) result->plan = score;
        if (score->outcome != BENCH_EXACT || score->entry == BENCH_PLAN) continue;
        const bench_score **best = score->entry == BENCH_PEER ? &result->best_peer : &result->best;
        if (!*best || bench_rate(score) > bench_rate(*best)) *best = score;
    }
    bench_times_sort(&result->roof);
    bench_times_sort(&result->roof_one_thread);
}

static histo_status make_arranged(bench *b, int64_t wanted)
{
    static const bench_input of_mask = {.kind = BENCH_DISTINCT, .shape = 2, .dtype = HISTO_U8, .bins = 256};
    const histo_axis bytes = histo_axis_integer(0, 256);
    b->wanted = wanted;
    b->arranged = bench_arrange(b->input, wanted);
    b->chunk = b->result->samples = b->arranged.counted;
    histo_status status = bench_device_make(b->device, b->input, b->axis, b->arranged.stored, &b->placed);
    if (status == HISTO_OK && b->arranged.masked)
        status = bench_device_make(b->device, &of_mask, &bytes, b->arranged.counted, &b->mask);
    return status;
}

/* Arrays are made in place; images are drawn and stored one after the other. */
static histo_status make_samples(bench *b)
{
    enum { EVEN = 64 /* so that columns are aligned */ };
    const bench_input *input = b->input;
    size_t size = bench_input_bytes(input, 1);
    size_t wished = b->race->bytes ? (size_t)b->race->bytes : b->device->default_bytes;
    int64_t wanted = b->race->samples ? b->race->samples : (int64_t)((wished + size - 1) / size);
    bool image = input->width;
    b->chunk = image ? input->width * input->height : wanted;
    b->fills = image && wanted > b->chunk ? wanted / b->chunk : 1;
    b->result->fills = b->fills;
    if (input->layout) return make_arranged(b, wanted);
    if (input->axes) b->chunk = (b->chunk + EVEN - 1) / EVEN * EVEN;
    b->result->samples = b->chunk * b->fills;
    if (!image) return bench_device_make(b->device, input, b->axis, b->chunk, &b->placed);
    size_t bytes = (size_t)b->chunk * size, all = bytes * (size_t)b->fills;
    char *host = malloc(all);
    if (!host) return histo_fail_memory(all, "samples: ask for fewer");
    bench_input_make(input, b->axis, b->chunk, host);
    for (int64_t i = 1; i < b->fills; i++)
        memcpy(host + (size_t)i * bytes, host, bytes);
    histo_status status = bench_device_place(b->device, host, all, &b->placed);
    free(host);
    return status;
}

static histo_status make_weights(bench *b)
{
    const bench_input weights = {.kind = BENCH_WEIGHTS, .dtype = b->input->weights};
    const histo_axis axis = histo_axis_regular(1, 0, 1);
    if (!b->input->weighting) return HISTO_OK;
    return bench_device_make(b->device, &weights, &axis, b->chunk, &b->weights);
}

static histo_status make_axis(bench *b, int a, const histo_axis *axis)
{
    histo_status status = histo_axis_own(axis, &b->axis[a]);
    b->axes = a + 1;
    b->bins *= axis->bins;
    b->slots *= axis->bins + 3;
    return status;
}

static histo_status make_axes(bench *b)
{
    b->bins = b->slots = 1;
    histo_status status = HISTO_OK;
    for (int a = 0; a < b->input->axes && status == HISTO_OK; a++) {
        histo_axis axis = bench_joint_axis(b->input, a);
        status = make_axis(b, a, &axis);
    }
    if (b->input->axes) return status;
    size_t bytes = (size_t)(b->input->bins + 1) * sizeof *b->edges;
    b->edges = malloc(bytes);
    if (!b->edges) return histo_fail_memory(bytes, "edges");
    histo_axis axis = bench_input_axis(b->input, b->edges);
    status = make_axis(b, 0, &axis);
    return status == HISTO_OK ? histo_axis_edges(b->axis, b->edges) : status;
}

histo_status bench_race_run(const bench_race *race, bench_result *result)
{
    *result = (bench_result){.input = race->input, .threads = bench_device_threads(race->device, race->threads)};
    bench b = {.race = race, .device = race->device, .input = race->input, .result = result, .arranged = {.batch = 1}};
    histo_status status = make_axes(&b);
    if (status == HISTO_OK) status = make_samples(&b);
    if (status == HISTO_OK) status = make_weights(&b);
    if (status == HISTO_OK) status = list_entries(&b);
    result->bytes = (int64_t)(bytes_of_samples(&b) + bytes_of_mask(&b) + bytes_of_weights(&b));
    for (int i = 0; i < result->scores && status == HISTO_OK; i++)
        status = warm_up(&b.racers[i]);
    if (status == HISTO_OK && race->hopeless > 0) drop_hopeless(&b);
    if (status == HISTO_OK) status = take_turns(&b);
    if (status == HISTO_OK) status = bench_check_counts(&b);
    for (int i = 0; i < result->scores; i++)
        racer_forget(&b.racers[i]);
    free(b.racers);
    if (b.placed) b.device->release(b.placed);
    if (b.weights) b.device->release(b.weights);
    if (b.mask) b.device->release(b.mask);
    for (int a = 0; a < b.axes; a++)
        histo_axis_disown(&b.axis[a]);
    free(b.edges);
    if (status == HISTO_OK) find_best(result);
    return status;
}

void bench_result_free(bench_result *result)
{
    free(result->score);
    result->score = NULL;
}
