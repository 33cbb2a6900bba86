/* Measuring. On each input, the strategies and plain reading take turns, so that what slows the machine down slows all
 * of them; the median of each counts. */
#include "bench/gallery.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "bench/device.h"
#include "bench/report.h"

typedef struct bench {
    const bench_gallery_options *options;
    const bench_device *device;
    int repeat;
    double budget_us; /* for all passes of one strategy on one input */
    const bench_input *input;
    histo_axis axis;
    void *host;
    const void *placed;
    int64_t chunk; /* samples of a fill: all, or one image */
    int64_t fills; /* of a whole pass */
} bench;

/* A strategy that takes its turns. Level l of a pass has 8^-l of its samples. */
typedef struct racer {
    const bench *bench;
    bench_cell *cell;
    int level;
    int64_t chunk, fills; /* of its level */
    int repeat;           /* timed passes that it can afford */
    int passes;           /* since the histogram was empty */
    histo_plan *plan;
    histo_hist *hist;
    bool checked; /* its counts */
} racer;

enum { LEVELS = 5, LEVEL_BITS = 3, LEAST_SAMPLES = 1 << 14 };

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(const bench_times *times)
{
    int middle = times->passes / 2;
    return times->passes % 2 ? times->us[middle] : (times->us[middle - 1] + times->us[middle]) / 2;
}

double bench_rate(const bench_cell *cell)
{
    return (double)cell->samples / bench_median(&cell->times);
}

double bench_roof_us(const bench_result *result)
{
    double us = bench_median(&result->roof);
    bool one = result->roof_one_thread.passes;
    return one ? fmin(us, bench_median(&result->roof_one_thread)) : us;
}

double bench_percent(const bench_result *result, const bench_cell *cell)
{
    return 100 * bench_rate(cell) * bench_roof_us(result) / (double)result->samples;
}

static void sort_times(bench_times *times)
{
    qsort(times->us, (size_t)times->passes, sizeof *times->us, compare_doubles);
}

/* Fill i of a pass begins with this sample. */
static const void *chunk_at(const bench *b, int64_t i)
{
    return (const char *)b->placed + (size_t)(i * b->chunk) * histo_dtype_size(b->input->dtype);
}

static histo_status fill_pass(void *context, void *stream)
{
    racer *r = context;
    histo_status status = HISTO_OK;
    for (int64_t i = 0; i < r->fills && status == HISTO_OK; i++) {
        histo_view view = histo_view_1d(chunk_at(r->bench, i), r->bench->input->dtype, r->chunk);
        status = histo_plan_fill(r->plan, r->hist, &view, &(histo_fill_options){.stream = stream});
    }
    r->passes++;
    return status;
}

/* Give up on it, with the library's last sentence. */
static void drop(racer *r, bench_outcome outcome)
{
    r->cell->outcome = outcome;
    snprintf(r->cell->reason, sizeof r->cell->reason, "%s", histo_last_error());
}

/* An empty histogram and a plan for the passes of a level. */
static histo_status settle(racer *r, int level)
{
    const bench *b = r->bench;
    bool image = b->input->width;
    r->level = level;
    r->chunk = image ? b->chunk : b->chunk >> LEVEL_BITS * level;
    r->fills = image ? b->fills >> LEVEL_BITS * level : 1;
    r->passes = 0;
    histo_plan_destroy(r->plan);
    r->plan = NULL;
    histo_view view = histo_view_1d(b->placed, b->input->dtype, r->chunk);
    histo_status status =
        r->hist ? histo_hist_reset(r->hist) : histo_hist_create(&r->hist, 1, &b->axis, &(histo_hist_options){0});
    if (status != HISTO_OK) return status;
    return histo_plan_create(&r->plan, r->hist, &view, NULL,
                             &(histo_plan_options){.device = b->device->device,
                                                   .strategy = r->cell->name,
                                                   .params = b->options->params,
                                                   .threads = b->options->threads});
}

static int lowest_level(const bench *b)
{
    int level = 0;
    int64_t shrinks = b->input->width ? b->fills : b->chunk / LEAST_SAMPLES;
    while (level < LEVELS - 1 && shrinks >> LEVEL_BITS * (level + 1) > 0)
        level++;
    return level;
}

/* The time of a pass of this level: the shorter of two, because the first may have things to set up. */
static histo_status try_level(racer *r, int level, double *us)
{
    const bench *b = r->bench;
    double again;
    histo_status status = settle(r, level);
    if (status != HISTO_OK) {
        drop(r, status == HISTO_UNSUPPORTED || status == HISTO_INVALID ? BENCH_REFUSED : BENCH_FAILED);
        return status;
    }
    status = b->device->time(fill_pass, r, us);
    if (status == HISTO_OK && *us < b->budget_us / 2) {
        status = b->device->time(fill_pass, r, &again);
        if (again < *us) *us = again;
    }
    if (status != HISTO_OK) drop(r, BENCH_FAILED);
    return status;
}

/* Warm up, on ever more samples until a pass is a whole one or the next would be too expensive. */
static void warm_up(racer *r)
{
    const bench *b = r->bench;
    double us = 0;
    for (int level = lowest_level(b); level >= 0; level--) {
        if (try_level(r, level, &us) != HISTO_OK) return;
        if (us * (1 << LEVEL_BITS) * b->repeat > b->budget_us) break;
    }
    double affordable = b->budget_us / (us + 1);
    r->repeat = affordable < 1 ? 1 : affordable < b->repeat ? (int)affordable : b->repeat;
    r->cell->samples = r->chunk * r->fills;
}

typedef struct reader {
    const bench *bench;
    int threads;
} reader;

static histo_status read_pass(void *context, void *stream)
{
    const reader *r = context;
    const bench *b = r->bench;
    size_t bytes = (size_t)(b->chunk * b->fills) * histo_dtype_size(b->input->dtype);
    return b->device->read(b->placed, bytes, r->threads, stream);
}

static histo_status time_reading(const bench *b, int threads, bench_times *times)
{
    reader r = {b, threads};
    return b->device->time(read_pass, &r, &times->us[times->passes++]);
}

static histo_status take_turns(const bench *b, racer *racers, bench_result *result)
{
    histo_status status = HISTO_OK;
    for (int turn = 0; turn < b->repeat && status == HISTO_OK; turn++) {
        status = time_reading(b, result->threads, &result->roof);
        if (status == HISTO_OK && result->threads > 1) status = time_reading(b, 1, &result->roof_one_thread);
        for (int c = 0; c < result->cells && status == HISTO_OK; c++) {
            bench_cell *cell = racers[c].cell;
            if (cell->outcome != BENCH_EXACT || turn >= racers[c].repeat) continue;
            if (b->device->time(fill_pass, &racers[c], &cell->times.us[cell->times.passes++]) != HISTO_OK)
                drop(&racers[c], BENCH_FAILED);
        }
    }
    return status;
}

/* The counts of one fill, by the sequential strategy, or for many samples by a faster one that equals it. */
static histo_status count_by_oracle(const bench *b, int64_t chunk, uint64_t *counts, int64_t slots)
{
    enum { PATIENCE = 1 << 24 };
    histo_hist *hist;
    histo_plan *plan = NULL;
    histo_view view = histo_view_1d(b->host, b->input->dtype, chunk);
    histo_plan_options how = {.device = HISTO_DEVICE_CPU,
                              .strategy = chunk <= PATIENCE ? "cpu/sequential" : "cpu/privatized"};
    histo_status status = histo_hist_create(&hist, 1, &b->axis, NULL);
    if (status != HISTO_OK) return status;
    status = histo_plan_create(&plan, hist, &view, NULL, &how);
    if (status == HISTO_OK) status = histo_plan_fill(plan, hist, &view, NULL);
    if (status == HISTO_OK) status = histo_hist_read_counts(hist, HISTO_FLOW, counts, slots);
    histo_plan_destroy(plan);
    histo_hist_destroy(hist);
    return status;
}

static void compare(racer *r, const uint64_t *once, uint64_t *counts, int64_t slots)
{
    if (histo_hist_read_counts(r->hist, HISTO_FLOW, counts, slots) != HISTO_OK) {
        drop(r, BENCH_FAILED);
        return;
    }
    for (int64_t s = 0; s < slots; s++) {
        uint64_t wanted = once[s] * (uint64_t)(r->fills * r->passes);
        if (counts[s] == wanted) continue;
        histo_fail(HISTO_CORRUPT, "slot %lld has %llu samples instead of %llu", (long long)s,
                   (unsigned long long)counts[s], (unsigned long long)wanted);
        drop(r, BENCH_WRONG);
        return;
    }
}

/* All images of a pass are the same, and so are all its fills. Strategies that fill with as many samples share the
 * oracle's counts. */
static histo_status check_counts(const bench *b, racer *racers, int count)
{
    int64_t slots = b->axis.bins + 3;
    uint64_t *once = calloc((size_t)slots, sizeof *once), *counts = calloc((size_t)slots, sizeof *counts);
    histo_status status = once && counts ? HISTO_OK : histo_fail_memory((size_t)slots * 16, "checking the counts");
    for (int c = 0; c < count && status == HISTO_OK; c++) {
        int64_t chunk = racers[c].chunk;
        bool ready = false;
        for (int d = c; d < count && status == HISTO_OK; d++) {
            racer *r = &racers[d];
            if (r->cell->outcome != BENCH_EXACT || r->checked || r->chunk != chunk) continue;
            if (!ready) status = count_by_oracle(b, chunk, once, slots);
            ready = r->checked = true;
            if (status == HISTO_OK) compare(r, once, counts, slots);
        }
    }
    free(once);
    free(counts);
    return status;
}

static bool is_listed(const char *list, const char *name)
{
    const char *bare = strchr(name, '/') + 1;
    for (size_t length; *list; list += length + (list[length] == ',')) {
        length = strcspn(list, ",");
        bool whole = strncmp(list, name, length) == 0 && !name[length];
        if (length && (whole || (strncmp(list, bare, length) == 0 && !bare[length]))) return true;
    }
    return false;
}

/* A cell for each strategy that was asked for. */
static histo_status make_cells(const bench *b, bench_result *result, racer **racers)
{
    size_t most = (size_t)histo_strategy_count();
    histo_strategy_info info;
    result->cell = calloc(most, sizeof *result->cell);
    *racers = calloc(most, sizeof **racers);
    if (!result->cell || !*racers) return histo_fail_memory(most * sizeof *result->cell, "results");
    for (int i = 0; histo_strategy_describe(i, &info) == HISTO_OK; i++) {
        bench_cell *cell = &result->cell[result->cells];
        if (strcmp(info.backend, b->device->backend) != 0) continue;
        snprintf(cell->name, sizeof cell->name, "%s/%s", info.backend, info.name);
        if (b->options->strategies && !is_listed(b->options->strategies, cell->name)) continue;
        (*racers)[result->cells++] = (racer){.bench = b, .cell = cell};
    }
    if (result->cells) return HISTO_OK;
    return histo_fail(HISTO_INVALID, "no strategy of %s is called %s: 'histo strategies' lists them",
                      b->device->backend, b->options->strategies);
}

static void find_best(bench_result *result)
{
    for (int c = 0; c < result->cells; c++) {
        bench_cell *cell = &result->cell[c];
        sort_times(&cell->times);
        if (cell->outcome != BENCH_EXACT) continue;
        if (!result->best || bench_rate(cell) > bench_rate(result->best)) result->best = cell;
    }
    sort_times(&result->roof);
    sort_times(&result->roof_one_thread);
}

static histo_status measure(const bench *b, bench_result *result)
{
    racer *racers;
    histo_status status = make_cells(b, result, &racers);
    for (int c = 0; c < result->cells; c++)
        warm_up(&racers[c]);
    if (status == HISTO_OK) status = take_turns(b, racers, result);
    if (status == HISTO_OK) status = check_counts(b, racers, result->cells);
    for (int c = 0; c < result->cells; c++) {
        histo_plan_destroy(racers[c].plan);
        histo_hist_destroy(racers[c].hist);
    }
    free(racers);
    if (status == HISTO_OK) find_best(result);
    return status;
}

/* Make the samples of b->input in host memory: all, or images one behind the other. */
static histo_status make_samples(bench *b)
{
    size_t size = histo_dtype_size(b->input->dtype);
    size_t usual = b->options->quick ? b->device->quick_bytes : b->device->usual_bytes;
    int64_t wanted = b->options->samples ? b->options->samples : (int64_t)(usual / size);
    bool image = b->input->width;
    b->chunk = image ? b->input->width * b->input->height : wanted;
    b->fills = image && wanted > b->chunk ? wanted / b->chunk : 1;
    size_t bytes = (size_t)b->chunk * size;
    b->host = malloc(bytes * (size_t)b->fills);
    if (!b->host) return histo_fail_memory(bytes * (size_t)b->fills, "samples: ask for fewer");
    bench_input_make(b->input, b->chunk, b->host);
    for (int64_t i = 1; i < b->fills; i++)
        memcpy((char *)b->host + (size_t)i * bytes, b->host, bytes);
    return b->device->place(b->host, bytes * (size_t)b->fills, &b->placed);
}

static histo_status run_input(bench *b, const bench_input *input, bool first, int *cells, int *wrong)
{
    bench_result result = {.input = input, .threads = b->device->threads(b->options->threads)};
    b->input = input;
    b->axis = bench_input_axis(input);
    b->placed = NULL;
    histo_status status = make_samples(b);
    result.samples = b->chunk * b->fills;
    result.fills = b->fills;
    if (status == HISTO_OK) status = measure(b, &result);
    if (status == HISTO_OK) report_result(b->options, &result, first);
    for (int c = 0; c < result.cells; c++) {
        *cells += result.cell[c].outcome != BENCH_REFUSED;
        *wrong += result.cell[c].outcome == BENCH_FAILED || result.cell[c].outcome == BENCH_WRONG;
    }
    free(result.cell);
    if (b->placed) b->device->release(b->placed);
    free(b->host);
    return status;
}

static histo_status fail_selection(const bench_gallery_options *options, const bench_input *inputs, int count)
{
    char names[512] = "";
    size_t used = 0;
    for (int i = 0; i < count; i++) {
        size_t length = strcspn(inputs[i].name, "/-");
        bool known = false;
        for (int j = 0; j < i && !known; j++)
            known = strncmp(inputs[i].name, inputs[j].name, length) == 0 && strcspn(inputs[j].name, "/-") == length;
        if (known || used + length + 3 > sizeof names) continue;
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%.*s", used ? ", " : "", (int)length,
                                 inputs[i].name);
    }
    return histo_fail(HISTO_INVALID, "no input is called %s: there are %s", options->inputs, names);
}

histo_status bench_gallery(const bench_gallery_options *options, int *wrong)
{
    *wrong = 0;
    bench b = {.options = options, .device = bench_device_find(options->device)};
    if (!b.device) return HISTO_UNSUPPORTED;
    b.repeat = options->repeat ? options->repeat : options->quick ? 3 : 9;
    if (b.repeat > BENCH_MOST_REPEATS) b.repeat = BENCH_MOST_REPEATS;
    b.budget_us = options->quick ? b.device->usual_budget_us / 10 : b.device->usual_budget_us;
    int count, cells = 0, done = 0;
    bench_input *inputs = bench_inputs_list(options->photos, options->photo_count, &count);
    if (!inputs) return histo_fail_memory(sizeof *inputs, "the inputs");
    histo_status status = HISTO_OK;
    for (int i = 0; i < count && status == HISTO_OK; i++) {
        if (options->inputs && !bench_input_selected(&inputs[i], options->inputs)) continue;
        if (done == 0) report_begin(options, b.device);
        status = run_input(&b, &inputs[i], done++ == 0, &cells, wrong);
    }
    if (status == HISTO_OK && done == 0) status = fail_selection(options, inputs, count);
    if (status == HISTO_OK) report_end(options, done, cells, *wrong);
    free(inputs);
    return status;
}
