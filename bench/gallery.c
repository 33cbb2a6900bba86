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
                       .threads = options->threads,
                       .strategies = options->strategies,
                       .params = options->params};
    if (!race.device) return HISTO_UNSUPPORTED;
    if (quick && !race.bytes) race.bytes = (int64_t)race.device->quick_bytes;
    race.budget_us = quick ? race.device->default_budget_us / 10 : race.device->default_budget_us;
    int count, cells = 0, selected = 0;
    double start = bench_now_s();
    bench_input *inputs = bench_inputs_list(options->photos, options->photo_count, &count);
    if (!inputs) return histo_fail_memory(sizeof *inputs, "the inputs");
    histo_status status = HISTO_OK;
    for (int i = 0; i < count; i++) {
        bench_result result;
        if (options->inputs && !bench_input_selected(&inputs[i], options->inputs)) continue;
        if (selected++ == 0) report_begin(options, race.device);
        if (status != HISTO_OK || bench_patience_over(&options->patience, start)) continue;
        race.input = &inputs[i];
        status = bench_race_run(&race, &result);
        if (status == HISTO_OK) report_result(options, &result, (*measured)++ == 0);
        for (int s = 0; s < result.scores; s++) {
            cells += result.score[s].outcome != BENCH_REFUSED;
            *wrong += result.score[s].outcome == BENCH_FAILED || result.score[s].outcome == BENCH_WRONG;
        }
        bench_result_free(&result);
    }
    if (selected == 0) status = fail_selection(options, inputs, count);
    if (status == HISTO_OK || *measured) report_end(options, *measured, selected - *measured, cells, *wrong);
    free(inputs);
    return status;
}
