#include "bench/core/report.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/core/json.h"

static void put_cpu_model(json_writer *json)
{
    char line[256];
    FILE *info = fopen("/proc/cpuinfo", "r");
    const char *model = NULL;
    while (info && !model && fgets(line, sizeof line, info)) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon) continue;
        line[strcspn(line, "\n")] = '\0';
        model = colon + 2;
    }
    if (model)
        json_text(json, "cpu", model);
    else
        json_print(json, "\"cpu\": null");
    if (info) fclose(info);
}

void report_open(json_writer *json, const char *command_line, const char *device)
{
    char date[32], machine[4096], *rest;
    time_t now = time(NULL);
    struct tm utc;
    if (!json) return;
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    histo_machine_describe(machine, sizeof machine);
    json_open(json, NULL, '{');
    json_text(json, "histo", histo_version());
    json_text(json, "command", command_line);
    json_text(json, "date", date);
    put_cpu_model(json);
    json_open(json, "machine", '[');
    for (char *line = strtok_r(machine, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        json_text(json, NULL, line);
    json_close(json, ']');
    if (device) json_text(json, "device", device);
}

void report_close(json_writer *json)
{
    json_close(json, ']');
    json_close(json, '}');
}

static void put_times(json_writer *json, const bench_times *times)
{
    json_print(json, "\"passes\": %d, \"median_us\": %.3f, \"min_us\": %.3f, \"max_us\": %.3f", times->passes,
               bench_median(times), times->us[0], times->us[times->passes - 1]);
}

static void put_roof(json_writer *json, const char *name, const bench_result *result, const bench_times *times)
{
    json_open(json, name, '{');
    json_print(json, "\"GBps\": %.5g", (double)result->bytes / bench_median(times) * 1e-3);
    put_times(json, times);
    json_close(json, '}');
}

static void put_score(json_writer *json, const bench_result *result, const bench_score *score)
{
    static const char *const outcomes[] = {[BENCH_EXACT] = "exact",
                                           [BENCH_REFUSED] = "refused",
                                           [BENCH_FAILED] = "failed",
                                           [BENCH_WRONG] = "wrong",
                                           [BENCH_SLOW] = "slow"};
    static const char *const entries[] = {[BENCH_STRATEGY] = "strategy", [BENCH_PLAN] = "plan", [BENCH_PEER] = "peer"};
    json_open(json, NULL, '{');
    json_text(json, entries[score->entry], score->name);
    if (*score->params) json_text(json, "params", score->params);
    json_text(json, "outcome", outcomes[score->outcome]);
    if (score->outcome == BENCH_EXACT) {
        json_print(json, "\"Gsamples_per_s\": %.5g, \"percent_of_read_roof\": %.5g, \"best\": %s, \"samples\": %lld",
                   bench_rate(score) * 1e-3, bench_percent(result, score), score == result->best ? "true" : "false",
                   (long long)score->samples);
        put_times(json, &score->times);
        if (score->entry == BENCH_PEER) json_print(json, "\"misplaced\": %lld", (long long)score->misplaced);
        if (*score->note) json_text(json, "note", score->note);
    } else {
        json_text(json, "reason", score->reason);
    }
    json_close(json, '}');
}

void report_open_result(json_writer *json, const bench_result *result)
{
    const bench_input *input = result->input;
    if (!json) return;
    json_open(json, NULL, '{');
    json_text(json, "input", input->name);
    json_text(json, "dtype", histo_dtype_name(input->dtype));
    json_print(json, "\"bins\": %lld, \"samples\": %lld, \"fills\": %lld, \"threads\": %d", (long long)input->bins,
               (long long)result->samples, (long long)result->fills, result->threads);
    put_roof(json, "read_roof", result, &result->roof);
    if (result->roof_one_thread.passes) put_roof(json, "read_roof_one_thread", result, &result->roof_one_thread);
    json_open(json, "strategies", '[');
    for (int c = 0; c < result->scores; c++)
        put_score(json, result, &result->score[c]);
    json_close(json, ']');
}
