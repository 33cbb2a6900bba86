#include "bench/map/tune.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "bench/core/device.h"
#include "bench/core/report.h"
#include "plan/plan.h"

/* ---- The map ---- */

bench_tuned *bench_tuning_cell(const bench_tuning *map, int dtype, int bins, int samples)
{
    const bench_tune_options *o = map->options;
    return &map->cell[((size_t)dtype * (size_t)o->bins + (size_t)bins) * (size_t)o->samples + (size_t)samples];
}

static histo_status make_map(const bench_tune_options *o, bench_tuning *map)
{
    *map = (bench_tuning){.options = o, .strategies = histo_strategy_count()};
    map->cells = o->dtypes * o->bins * o->samples;
    size_t each = (size_t)(o->distributions * map->strategies), all = each * (size_t)map->cells;
    map->cell = calloc((size_t)map->cells, sizeof *map->cell);
    map->us = malloc(all * sizeof *map->us);
    map->params = calloc(all, HISTO_MAX_PARAMS * sizeof *map->params);
    if (!map->cell || !map->us || !map->params)
        return histo_fail_memory(all * sizeof *map->us, "a map: ask for fewer cells");
    for (size_t i = 0; i < all; i++)
        map->us[i] = (double)NAN;
    int next = 0;
    for (int d = 0; d < o->dtypes; d++)
        for (int b = 0; b < o->bins; b++)
            for (int s = 0; s < o->samples; s++, next++)
                map->cell[next] = (bench_tuned){.dtype = o->dtype[d],
                                                .bins = o->bin[b],
                                                .samples = o->sample[s],
                                                .us = map->us + each * (size_t)next,
                                                .params = map->params + each * (size_t)next * HISTO_MAX_PARAMS,
                                                .best = -1};
    return HISTO_OK;
}

void bench_tuning_free(bench_tuning *map)
{
    free(map->cell);
    free(map->us);
    free(map->params);
    *map = (bench_tuning){0};
}

static int64_t *params_of(const bench_tuning *map, const bench_tuned *cell, int distribution, int strategy)
{
    return cell->params + (distribution * map->strategies + strategy) * HISTO_MAX_PARAMS;
}

/* ---- Measuring ---- */

enum { MAX_DEVICES = 2 };

typedef struct tuning {
    const bench_tune_options *options;
    bench_tuning *map;
    const bench_device *device[MAX_DEVICES];
    int devices;
    double begun_s;
    bool stopped;
} tuning;

static histo_status find_devices(tuning *t)
{
    const histo_device wanted = t->options->device;
    t->device[0] = bench_device_find(wanted == HISTO_DEVICE_AUTO ? HISTO_DEVICE_CPU : wanted, BENCH_RESIDENT);
    if (!t->device[0]) return HISTO_UNSUPPORTED;
    t->devices = 1;
    if (wanted != HISTO_DEVICE_AUTO) return HISTO_OK;
    t->device[1] = bench_device_find(HISTO_DEVICE_AUTO, BENCH_RESIDENT);
    t->devices += t->device[1] != t->device[0];
    return HISTO_OK;
}

static int index_of(const histo_row *row)
{
    int i = 0;
    while (histo_row_at(i) != row)
        i++;
    return i;
}

static histo_device device_of(const tuning *t, int strategy)
{
    for (int i = 0; i < t->devices; i++)
        if (strcmp(t->device[i]->backend, histo_row_at(strategy)->backend->name) == 0) return t->device[i]->device;
    return HISTO_DEVICE_AUTO;
}

/* The strategy with the fastest worst case over the distributions measured, on one device or on any
 * (HISTO_DEVICE_AUTO). -1: none. */
static int winner(const tuning *t, const bench_tuned *cell, histo_device device, double *best_us, int *worst)
{
    const bench_tuning *map = t->map;
    int best = -1;
    for (int s = 0; s < map->strategies; s++) {
        double us = 0;
        int slowest = 0;
        bool any = false;
        for (int d = 0; d < t->options->distributions; d++) {
            const double *times = cell->us + d * map->strategies;
            bool measured = false; /* this distribution was measured with some strategy on the device of s */
            for (int other = 0; other < map->strategies; other++)
                measured |= device_of(t, other) == device_of(t, s) && !isnan(times[other]);
            if (!measured) continue;
            any = true;
            if (isnan(times[s])) us = INFINITY;
            if (times[s] > us) us = times[s], slowest = d;
        }
        if (!any || isinf(us) || (device != HISTO_DEVICE_AUTO && device != device_of(t, s))) continue;
        if (best >= 0 && us >= *best_us) continue;
        best = s;
        *best_us = us;
        *worst = slowest;
    }
    return best;
}

/* Measure every strategy of a device on the samples at `data`, and remember the best so far as wisdom. */
static histo_status measure(tuning *t, histo_device device, bench_tuned *cell, int distribution,
                            const bench_input *input, const void *data)
{
    histo_axis axis = bench_input_axis(input, NULL);
    histo_view view = histo_view_1d(data, input->dtype, cell->samples);
    histo_plan_options how = {
        .effort = HISTO_MEASURE, .device = device, .threads = t->options->threads, .vary = t->options->vary};
    histo_hist *hist;
    histo_plan *plan = NULL;
    histo_status status = histo_hist_create(&hist, 1, &axis, NULL);
    if (status != HISTO_OK) return status;
    status = histo_plan_create(&plan, hist, &view, NULL, &how);
    histo_hist_destroy(hist);
    if (status != HISTO_OK) return status;
    for (int c = 0; c < plan->candidates; c++) {
        const histo_candidate *candidate = &plan->candidate[c];
        if (candidate->why_not) continue;
        cell->us[distribution * t->map->strategies + index_of(candidate->row)] = candidate->us;
        memcpy(params_of(t->map, cell, distribution, index_of(candidate->row)), candidate->params,
               sizeof candidate->params);
    }
    double us;
    int worst, best = winner(t, cell, how.device, &us, &worst);
    char signature[HISTO_SIGNATURE_BYTES];
    histo_plan_signature(plan, plan->at, signature);
    if (best >= 0)
        status = histo_wisdom_add(how.device, signature, histo_row_at(best), params_of(t->map, cell, worst, best), us);
    histo_plan_destroy(plan);
    return status;
}

/* Make the samples of a cell and measure them on every device: in its memory, unless their transfer counts. */
static histo_status measure_cell(tuning *t, bench_tuned *cell, int distribution)
{
    bench_input input = bench_input_of(&t->options->distribution[distribution], cell->dtype, cell->bins);
    size_t bytes = (size_t)cell->samples * histo_dtype_size(cell->dtype);
    void *host = malloc(bytes);
    if (!host) return histo_fail_memory(bytes, "samples: ask for fewer");
    histo_axis axis = bench_input_axis(&input, NULL);
    bench_input_make(&input, &axis, cell->samples, host);
    histo_status status = HISTO_OK;
    for (int i = 0; i < t->devices && status == HISTO_OK; i++) {
        const bench_device *device = t->device[i];
        const void *placed = NULL;
        if (device->device != HISTO_DEVICE_CPU && !t->options->transfers)
            status = bench_device_place(device, host, bytes, &placed);
        if (status == HISTO_OK) status = measure(t, device->device, cell, distribution, &input, placed ? placed : host);
        if (placed) device->release(placed);
    }
    free(host);
    cell->best = winner(t, cell, HISTO_DEVICE_AUTO, &cell->best_us, &cell->worst);
    return status;
}

/* All numbers of samples, smallest first, while there is time. */
static histo_status measure_column(tuning *t, int dtype, int bins, int distribution)
{
    const bench_tune_options *o = t->options;
    histo_status status = HISTO_OK;
    double took_s = 0;
    for (int s = 0; s < o->samples && status == HISTO_OK && !t->stopped; s++) {
        bench_tuned *cell = bench_tuning_cell(t->map, dtype, bins, s);
        double now = bench_now_s(), growth = s ? (double)o->sample[s] / (double)o->sample[s - 1] : 0;
        t->stopped = bench_is_over(&o->budget, t->begun_s);
        if (t->stopped || now - t->begun_s + took_s * growth > o->budget.seconds) break;
        char what[128];
        snprintf(what, sizeof what, "tuning %s, %lld bins, %lld samples, %s", histo_dtype_name(cell->dtype),
                 (long long)cell->bins, (long long)cell->samples, o->distribution[distribution].name);
        if (o->progress) o->progress(o->budget.context, what, t->map->done, t->map->total);
        status = measure_cell(t, cell, distribution);
        if (status == HISTO_NO_MEMORY && s > 0) return HISTO_OK; /* up to the memory available */
        t->map->done += status == HISTO_OK;
        took_s = bench_now_s() - now;
    }
    return status;
}

/* The ends first, then the midpoints and so on, so that an unfinished map is a coarse one. order: [n] */
static void refine(int *order, int n)
{
    int used = 0;
    order[used++] = 0;
    if (n > 1) order[used++] = n - 1;
    for (int step = n; step > 0; step /= 2)
        for (int i = 0; i < n; i += step) {
            bool is_used = false;
            for (int k = 0; k < used; k++)
                is_used |= order[k] == i;
            if (!is_used) order[used++] = i;
        }
}

static int64_t count_measurements(const bench_tune_options *o)
{
    int64_t total = 0;
    for (int d = 0; d < o->dtypes; d++)
        for (int b = 0; b < o->bins; b++)
            for (int k = 0; k < o->distributions; k++)
                if (bench_bins_possible(&o->distribution[k], o->dtype[d], o->bin[b])) total += o->samples;
    return total;
}

histo_status bench_tune(const bench_tune_options *o, bench_tuning *map)
{
    tuning t = {.options = o, .map = map, .begun_s = bench_now_s()};
    histo_status status = make_map(o, map);
    if (status == HISTO_OK) status = find_devices(&t);
    int *order = calloc((size_t)o->bins, sizeof *order);
    if (!order && status == HISTO_OK) status = histo_fail_memory((size_t)o->bins * sizeof *order, "a map");
    if (status == HISTO_OK) refine(order, o->bins);
    map->total = count_measurements(o);
    for (int b = 0; b < o->bins && status == HISTO_OK; b++)
        for (int d = 0; d < o->dtypes && status == HISTO_OK; d++)
            for (int k = 0; k < o->distributions && status == HISTO_OK; k++)
                if (bench_bins_possible(&o->distribution[k], o->dtype[d], o->bin[order[b]]))
                    status = measure_column(&t, d, order[b], k);
    free(order);
    return status;
}

/* ---- JSON ---- */

static const char *full_name(int strategy, char name[64])
{
    const histo_row *row = histo_row_at(strategy);
    snprintf(name, 64, "%s/%s", row->backend->name, row->name);
    return name;
}

static void put_samples(const bench_tuned *cell, json_writer *json)
{
    json_text(json, "dtype", histo_dtype_name(cell->dtype));
    json_print(json, "\"bins\": %lld, \"samples\": %lld", (long long)cell->bins, (long long)cell->samples);
}

static void put_time(const bench_tuned *cell, double us, json_writer *json)
{
    json_print(json, "\"us\": %.6g, \"Gsamples_per_s\": %.5g", us, (double)cell->samples / us * 1e-3);
}

static void put_times(const bench_tuning *map, const bench_tuned *cell, int distribution, json_writer *json)
{
    const bench_tune_options *o = map->options;
    const double *us = cell->us + distribution * map->strategies;
    char name[64];
    json_open(json, NULL, '{');
    json_print(json, "\"input\": \"%s/%s/%lld\"", o->distribution[distribution].name, histo_dtype_name(cell->dtype),
               (long long)cell->bins);
    put_samples(cell, json);
    json_print(json, "\"threads\": %d, \"transfers\": %s", histo_backend_cpu.threads(o->threads),
               o->transfers ? "true" : "false");
    json_open(json, "strategies", '[');
    for (int s = 0; s < map->strategies; s++) {
        if (isnan(us[s])) continue;
        char params[512] = "";
        histo_params_print(histo_row_at(s), params_of(map, cell, distribution, s),
                           &(histo_text){.out = params, .capacity = sizeof params});
        json_open(json, NULL, '{');
        json_text(json, "strategy", full_name(s, name));
        if (*params) json_text(json, "params", params);
        put_time(cell, us[s], json);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_close(json, '}');
}

static bool has_times(const bench_tuning *map, const bench_tuned *cell, int distribution)
{
    for (int s = 0; s < map->strategies; s++)
        if (!isnan(cell->us[distribution * map->strategies + s])) return true;
    return false;
}

void bench_tuning_json(const bench_tuning *map, const char *command_line, FILE *to)
{
    json_writer json = {.to = to};
    char name[64];
    report_open(&json, command_line, NULL);
    json_open(&json, "results", '[');
    for (int c = 0; c < map->cells; c++)
        for (int d = 0; d < map->options->distributions; d++)
            if (has_times(map, &map->cell[c], d)) put_times(map, &map->cell[c], d, &json);
    json_close(&json, ']');
    json_open(&json, "map", '[');
    for (int c = 0; c < map->cells; c++) {
        const bench_tuned *cell = &map->cell[c];
        if (cell->best < 0) continue;
        json_open(&json, NULL, '{');
        put_samples(cell, &json);
        json_text(&json, "best", full_name(cell->best, name));
        json_text(&json, "worst_distribution", map->options->distribution[cell->worst].name);
        put_time(cell, cell->best_us, &json);
        json_close(&json, '}');
    }
    report_close(&json);
}
