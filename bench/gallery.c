/* Every strategy on every input. */
#include "bench/gallery.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "bench/report.h"

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

/* The inputs to measure: those selected, or each of their distributions and types with all of options->bins. */
static bench_input *select_inputs(const bench_gallery_options *options, const bench_input *all, int count,
                                  int *selected)
{
    const size_t each = options->bins ? (size_t)options->bins_count : 1;
    bench_input *list = malloc(each * (size_t)count * sizeof *list);
    *selected = 0;
    for (int i = 0; list && i < count; i++) {
        if (options->inputs && !bench_input_selected(&all[i], options->inputs)) continue;
        if (!options->bins) {
            list[(*selected)++] = all[i];
            continue;
        }
        char name[sizeof all->name];
        snprintf(name, sizeof name, "%s", all[i].name);
        char *last = strrchr(name, '/') + 1;
        for (size_t b = 0; b < each && !all[i].width; b++) {
            bench_input *next = &list[*selected];
            snprintf(last, sizeof name - (size_t)(last - name), "%lld", (long long)options->bins[b]);
            bool known = bench_input_parse(name, next) != HISTO_OK;
            for (int j = 0; j < *selected && !known; j++)
                known = strcmp(list[j].name, next->name) == 0;
            *selected += !known;
        }
    }
    return list;
}

histo_status bench_gallery(const bench_gallery_options *options, int *measured, int *wrong)
{
    *measured = *wrong = 0;
    bool quick = options->quick;
    bench_race race = {.device = bench_device_find(options->device, BENCH_RESIDENT),
                       .samples = options->samples,
                       .bytes = options->bytes,
                       .repeat = options->repeat ? options->repeat
                                 : quick         ? 3
                                                 : 9,
                       .threads = options->threads};
    if (!race.device) return HISTO_UNSUPPORTED;
    if (quick && !race.bytes) race.bytes = (int64_t)race.device->quick_bytes;
    race.budget_us = quick ? race.device->default_budget_us / 10 : race.device->default_budget_us;
    int count, cells = 0, selected = 0, runs = options->sweep_samples ? options->sweep_samples_count : 1;
    double start = bench_now_s();
    bench_contender *contenders =
        bench_contenders_list(race.device->backend, options->strategies, options->params, &race.contender_count);
    if (!contenders) return HISTO_INVALID;
    race.contenders = contenders;
    bench_input *all = bench_inputs_list(options->photos, options->photo_count, &count);
    bench_input *inputs = all ? select_inputs(options, all, count, &selected) : NULL;
    histo_status status = inputs ? HISTO_OK : histo_fail_memory(sizeof *inputs, "the inputs");
    for (int i = 0; i < selected * runs; i++) {
        bench_result result;
        if (i == 0) report_begin(options, race.device);
        if (status != HISTO_OK || bench_patience_over(&options->patience, start)) continue;
        race.input = &inputs[i / runs];
        if (options->sweep_samples) race.samples = options->sweep_samples[i % runs];
        status = bench_race_run(&race, &result);
        if (status == HISTO_OK) report_result(options, &result, (*measured)++ == 0);
        for (int s = 0; s < result.scores; s++) {
            cells += result.score[s].outcome != BENCH_REFUSED;
            *wrong += result.score[s].outcome == BENCH_FAILED || result.score[s].outcome == BENCH_WRONG;
        }
        bench_result_free(&result);
    }
    if (inputs && selected == 0 && options->bins && options->inputs)
        status = histo_fail(HISTO_INVALID, "%s has no input of so many bins", options->inputs);
    else if (inputs && selected == 0)
        status = fail_selection(options, all, count);
    selected *= runs;
    if (status == HISTO_OK || *measured) report_end(options, *measured, selected - *measured, cells, *wrong);
    free(inputs);
    free(all);
    free(contenders);
    return status;
}
