/* Every strategy on every input. */
#include "papers/experiments/gallery.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "bench/core/report.h"

/* The inputs of the gallery, and those that --input names besides: bench_input_parse knows any type, size and bins. */
typedef struct input_selection {
    bench_input *all, *inputs;
    int count, selected; /* of all; of inputs */
} input_selection;

static histo_status fail_selection(const input_selection *s, const char *wanted)
{
    char names[512] = "";
    size_t used = 0;
    for (int i = 0; i < s->count; i++) {
        size_t length = strcspn(s->all[i].name, "/-");
        bool known = false;
        for (int j = 0; j < i && !known; j++)
            known = strncmp(s->all[i].name, s->all[j].name, length) == 0 && strcspn(s->all[j].name, "/-") == length;
        if (known || used + length + 3 > sizeof names) continue;
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%.*s", used ? ", " : "", (int)length,
                                 s->all[i].name);
    }
    return histo_fail(HISTO_INVALID, "no input is called %s: there are %s", wanted, names);
}

static void add_once(input_selection *s, const bench_input *input)
{
    for (int i = 0; i < s->selected; i++)
        if (strcmp(s->inputs[i].name, input->name) == 0) return;
    s->inputs[s->selected++] = *input;
}

/* An input; with a sweep, its distribution and type with each number of bins that it can have. */
static void add(input_selection *s, const bench_gallery_options *options, const bench_input *input)
{
    if (!options->bins) add_once(s, input);
    if (!options->bins || input->width) return;
    char name[sizeof input->name];
    snprintf(name, sizeof name, "%s", input->name);
    char *last = strrchr(name, '/') + 1;
    for (int b = 0; b < options->bins_count; b++) {
        bench_input next;
        snprintf(last, sizeof name - (size_t)(last - name), "%lld", (long long)options->bins[b]);
        if (bench_input_parse(name, &next) == HISTO_OK) add_once(s, &next);
    }
}

/* The inputs that one name of --input means. */
static histo_status add_named(input_selection *s, const bench_gallery_options *options, const char *name)
{
    bool known = false;
    for (int i = 0; i < s->count; i++) {
        if (!bench_input_selected(&s->all[i], name)) continue;
        add(s, options, &s->all[i]);
        known = true;
    }
    bench_input other;
    if (known) return HISTO_OK;
    if (bench_input_parse(name, &other) != HISTO_OK) return fail_selection(s, name);
    add(s, options, &other);
    return HISTO_OK;
}

static histo_status select_inputs(const bench_gallery_options *options, input_selection *s)
{
    size_t names = 1;
    for (const char *c = options->inputs; c && *c; c++)
        names += *c == ',';
    s->all = bench_inputs_list(options->photos, options->photo_count, &s->count);
    if (!s->all) return histo_fail_memory(sizeof *s->all, "the inputs");
    const size_t most = ((size_t)s->count + names) * (options->bins ? (size_t)options->bins_count : 1);
    s->inputs = malloc(most * sizeof *s->inputs);
    if (!s->inputs) return histo_fail_memory(most * sizeof *s->inputs, "the inputs");
    for (int i = 0; i < s->count && !options->inputs; i++)
        add(s, options, &s->all[i]);
    histo_status status = HISTO_OK;
    for (const char *at = options->inputs; at && *at && status == HISTO_OK;) {
        const int length = (int)strcspn(at, ",");
        char name[sizeof s->all->name];
        snprintf(name, sizeof name, "%.*s", length, at);
        status = add_named(s, options, name);
        at += length + (at[length] == ',');
    }
    if (status == HISTO_OK && !s->selected)
        status = histo_fail(HISTO_INVALID, "%s has no input of so many bins", options->inputs);
    return status;
}

/* ---- The report ---- */

static void report_begin(const bench_options *options, const bench_device *device)
{
    fputs("Gsamples/s, and per cent of what reading the samples alone would reach; * is the fastest\n", options->table);
    report_open(options->json, options->command_line, device->backend);
    json_open(options->json, "results", '[');
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

static void report_result(const bench_options *options, const bench_result *result)
{
    print_result(options->table, result);
    report_open_result(options->json, result);
    json_close(options->json, '}');
}

static void report_end(const bench_options *options, int inputs, int left, int cells, int wrong)
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

/* ---- The race on each input ---- */

histo_status bench_gallery(const bench_gallery_options *options, int *measured, int *wrong)
{
    *measured = *wrong = 0;
    const bench_options *o = &options->common;
    const bool quick = o->quick;
    bench_race race = {.device = bench_device_find(o->device, BENCH_RESIDENT),
                       .samples = o->samples,
                       .bytes = o->bytes,
                       .repeat = o->repeat ? o->repeat
                                 : quick   ? 3
                                           : 9,
                       .threads = o->threads};
    if (!race.device) return HISTO_UNSUPPORTED;
    if (quick && !race.bytes) race.bytes = (int64_t)race.device->quick_bytes;
    race.budget_us = quick ? race.device->default_budget_us / 10 : race.device->default_budget_us;
    int cells = 0, runs = options->sweep_samples ? options->sweep_samples_count : 1;
    double start = bench_now_s();
    bench_contender *contenders =
        bench_contenders_list(race.device->backend, options->strategies, options->params, &race.contender_count);
    if (!contenders) return HISTO_INVALID;
    race.contenders = contenders;
    input_selection chosen = {0};
    histo_status status = select_inputs(options, &chosen);
    const int wanted = status == HISTO_OK ? chosen.selected * runs : 0;
    for (int i = 0; i < wanted; i++) {
        bench_result result;
        if (i == 0) report_begin(o, race.device);
        if (status != HISTO_OK || bench_is_over(&o->budget, start)) continue;
        race.input = &chosen.inputs[i / runs];
        if (options->sweep_samples) race.samples = options->sweep_samples[i % runs];
        status = bench_race_run(&race, &result);
        if (status == HISTO_OK) report_result(o, &result), ++*measured;
        for (int s = 0; s < result.scores; s++) {
            cells += result.score[s].outcome != BENCH_REFUSED;
            *wrong += result.score[s].outcome == BENCH_FAILED || result.score[s].outcome == BENCH_WRONG;
        }
        bench_result_free(&result);
    }
    if (status == HISTO_OK || *measured) report_end(o, *measured, wanted - *measured, cells, *wrong);
    free(chosen.inputs);
    free(chosen.all);
    free(contenders);
    return status;
}
