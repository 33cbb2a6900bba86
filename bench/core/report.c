#include "bench/core/report.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/core/json.h"

static void put_cpu_model(FILE *to)
{
    char line[256];
    FILE *info = fopen("/proc/cpuinfo", "r");
    bool found = false;
    while (info && !found && fgets(line, sizeof line, info)) {
        const char *colon = strchr(line, ':');
        found = strncmp(line, "model name", 10) == 0 && colon;
        if (found) json_text(to, colon + 2, strcspn(colon + 2, "\n"));
    }
    if (!found) fputs("null", to);
    if (info) fclose(info);
}

/* The CPU, and the library's description of the machine, line by line. */
static void put_machine(FILE *to)
{
    size_t length = histo_machine_describe(NULL, 0);
    char *text = malloc(length + 1);
    if (text) histo_machine_describe(text, length + 1);
    fputs(", \"cpu\": ", to);
    put_cpu_model(to);
    fputs(", \"machine\": [", to);
    for (const char *line = text ? text : ""; *line;) {
        size_t n = strcspn(line, "\n");
        json_text(to, line, n);
        line += n + (line[n] == '\n');
        if (*line) fputs(", ", to);
    }
    fputs("]", to);
    free(text);
}

void report_put_run(FILE *to, const char *command_line)
{
    char date[32];
    time_t now = time(NULL);
    struct tm utc;
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    json_member(to, "{", "histo", histo_version());
    json_member(to, ", ", "command", command_line);
    json_member(to, ", ", "date", date);
    put_machine(to);
}

void report_json_begin(FILE *to, const char *command_line, const bench_device *device)
{
    report_put_run(to, command_line);
    json_member(to, ", ", "device", device->backend);
    fputs(", \"results\": [", to);
}

void report_begin(const bench_options *options, const bench_device *device)
{
    fputs("Gsamples/s, and per cent of what reading the samples alone would reach; * is the fastest\n", options->table);
    if (options->json) report_json_begin(options->json, options->command_line, device);
}

static void put_times(FILE *to, const bench_times *times)
{
    fprintf(to, "\"passes\": %d, \"median_us\": %.3f, \"min_us\": %.3f, \"max_us\": %.3f", times->passes,
            bench_median(times), times->us[0], times->us[times->passes - 1]);
}

static void put_roof(FILE *to, const char *name, const bench_result *result, const bench_times *times)
{
    fprintf(to, ", \"%s\": {\"GBps\": %.5g, ", name, (double)result->bytes / bench_median(times) * 1e-3);
    put_times(to, times);
    fputc('}', to);
}

static void put_score(FILE *to, const bench_result *result, const bench_score *score)
{
    static const char *const outcomes[] = {[BENCH_EXACT] = "exact",
                                           [BENCH_REFUSED] = "refused",
                                           [BENCH_FAILED] = "failed",
                                           [BENCH_WRONG] = "wrong",
                                           [BENCH_SLOW] = "slow"};
    static const char *const entries[] = {[BENCH_STRATEGY] = "strategy", [BENCH_PLAN] = "plan", [BENCH_PEER] = "peer"};
    json_member(to, "{", entries[score->entry], score->name);
    if (*score->params) json_member(to, ", ", "params", score->params);
    json_member(to, ", ", "outcome", outcomes[score->outcome]);
    if (score->outcome == BENCH_EXACT) {
        fprintf(to, ", \"Gsamples_per_s\": %.5g, \"percent_of_read_roof\": %.5g, \"best\": %s, \"samples\": %lld, ",
                bench_rate(score) * 1e-3, bench_percent(result, score), score == result->best ? "true" : "false",
                (long long)score->samples);
        put_times(to, &score->times);
        if (score->entry == BENCH_PEER) fprintf(to, ", \"misplaced\": %lld", (long long)score->misplaced);
        if (*score->note) json_member(to, ", ", "note", score->note);
    } else {
        json_member(to, ", ", "reason", score->reason);
    }
    fputc('}', to);
}

void report_json_result(FILE *to, const bench_result *result, bool first)
{
    const bench_input *input = result->input;
    json_member(to, first ? "\n{" : ",\n{", "input", input->name);
    json_member(to, ", ", "dtype", histo_dtype_name(input->dtype));
    fprintf(to, ", \"bins\": %lld, \"samples\": %lld, \"fills\": %lld, \"threads\": %d", (long long)input->bins,
            (long long)result->samples, (long long)result->fills, result->threads);
    put_roof(to, "read_roof", result, &result->roof);
    if (result->roof_one_thread.passes) put_roof(to, "read_roof_one_thread", result, &result->roof_one_thread);
    fputs(", \"strategies\": [", to);
    for (int c = 0; c < result->scores; c++) {
        fputs(c ? ",\n  " : "\n  ", to);
        put_score(to, result, &result->score[c]);
    }
    fputc(']', to);
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

void report_result(const bench_options *options, const bench_result *result, bool first)
{
    print_result(options->table, result);
    if (options->json) {
        report_json_result(options->json, result, first);
        fputc('}', options->json);
    }
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
    if (options->json) fprintf(options->json, "],\n \"inputs_not_measured\": %d}\n", left);
}
