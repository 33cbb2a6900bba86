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

void report_begin(const bench_options *options, const bench_device *device)
{
    fputs("Gsamples/s, and per cent of what reading the samples alone would reach; * is the fastest\n", options->table);
    report_open(options->json, options->command_line, device->backend);
    json_open(options->json, "results", '[');
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

static void print_heading(FILE *to, const bench_result *result)
{
    fprintf(to, "\n%s: ", result->input->name);
    if (result->input->width)
        fprintf(to, "%lld image%s", (long long)result->fills, result->fills == 1 ? "" : "s");
    else
        fprintf(to, "%lld samples", (long long)result->samples);
    fprintf(to, ", read roof %.2f GB/s", (double)result->bytes / bench_roof_us(result) * 1e-3);
    if (result->roof_one_thread.passes)
        fprintf(to, " (one thread %.2f, %d threads %.2f)",
                (double)result->bytes / bench_median(&result->roof_one_thread) * 1e-3, result->threads,
                (double)result->bytes / bench_median(&result->roof) * 1e-3);
    fputc('\n', to);
}

/* Why the parameters that were asked for do not do, once each. */
static void print_refused_parameters(FILE *to, const bench_result *result)
{
    for (int c = 0; c < result->scores; c++) {
        const bench_score *score = &result->score[c];
        bool known = !*score->params || score->outcome != BENCH_REFUSED;
        for (int other = 0; other < c && !known; other++)
            known = strcmp(result->score[other].reason, score->reason) == 0;
        if (!known) fprintf(to, "  %s\n", score->reason);
    }
}

static void print_result(FILE *to, const bench_result *result)
{
    print_heading(to, result);
    for (int c = 0; c < result->scores; c++) {
        const bench_score *score = &result->score[c];
        if (score->outcome == BENCH_REFUSED) continue;
        char name[sizeof score->name + sizeof score->params + 1];
        snprintf(name, sizeof name, "%s%s%s", score->name, *score->params ? " " : "", score->params);
        fprintf(to, "%c %-28s", score == result->best ? '*' : ' ', name);
        if (score->outcome != BENCH_EXACT) {
            fprintf(to, " %s: %s\n", score->outcome == BENCH_WRONG ? "WRONG" : "FAILED", score->reason);
            continue;
        }
        fprintf(to, "%10.4g %8.2f %%", bench_rate(score) * 1e-3, bench_percent(result, score));
        if (score->samples < result->samples) fprintf(to, "   %lld samples only", (long long)score->samples);
        if (*score->note) fprintf(to, "   %s", score->note);
        fputc('\n', to);
    }
    const char *before = "  not for this:";
    for (int c = 0; c < result->scores; c++) {
        if (result->score[c].outcome != BENCH_REFUSED) continue;
        const bool again = c > 0 && strcmp(result->score[c].name, result->score[c - 1].name) == 0;
        if (again && result->score[c - 1].outcome == BENCH_REFUSED) continue;
        fprintf(to, "%s %s", before, strchr(result->score[c].name, '/') + 1);
        before = ",";
    }
    if (*before == ',') fputc('\n', to);
    print_refused_parameters(to, result);
    fflush(to);
}

void report_result(const bench_options *options, const bench_result *result)
{
    print_result(options->table, result);
    report_open_result(options->json, result);
    json_close(options->json, '}');
}

void report_end(const bench_options *options, int inputs, int left, int cells, int wrong)
{
    fprintf(options->table, "\n%d inputs, ", inputs);
    if (left) fprintf(options->table, "%d more not measured, ", left);
    fprintf(options->table, "%d measurements: ", cells);
    if (wrong)
        fprintf(options->table, "%d FAILED or counted WRONG\n", wrong);
    else
        fputs("all counts exact\n", options->table);
    json_close(options->json, ']');
    json_print(options->json, "\"inputs_not_measured\": %d", left);
    json_close(options->json, '}');
}
