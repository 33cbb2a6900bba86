/* What `histo bench` does for the papers: every strategy on their inputs, their figures and tables, and bank conflicts
 * of images. */
#include <stdlib.h>

#include "base/failure.h"
#include "base/process/process.h"
#include "bench/command/measuring.h"
#include "bench/command/picture.h"
#include "bench/core/device.h"
#include "bench/core/report.h"
#include "papers/experiments/conflicts.h"
#include "papers/experiments/gallery.h"
#include "papers/experiments/papers.h"

/* The lists of --samples and --bins. */
typedef struct sweeps {
    int64_t samples[BENCH_MAX_LISTED], bins[BENCH_MAX_LISTED];
    int samples_count, bins_count;
} sweeps;

static int take_sweeps(const bench_settings *s, sweeps *to, fault *f)
{
    const int64_t most = INT64_C(1) << 40;
    *to = (sweeps){.samples_count = 0};
    if (s->sample_list)
        to->samples_count = bench_parse_numbers("samples", s->sample_list, most, to->samples, BENCH_MAX_LISTED, f);
    if (s->common.bins)
        to->bins_count = bench_parse_numbers("bins", s->common.bins, HISTO_MAX_BINS, to->bins, BENCH_MAX_LISTED, f);
    return to->samples_count < 0 || to->bins_count < 0 ? -1 : 0;
}

int papers_run_gallery(measuring *m, int *wrong, fault *f)
{
    const bench_settings *s = m->settings;
    sweeps listed;
    if (take_sweeps(s, &listed, f) != 0) return -1;
    for (int i = 0; i < m->count; i++)
        if (m->photos[i].dtype != HISTO_U8)
            return fault_set(f, EXIT_DATA, "%s has samples of %s: the gallery is for images of 8 bits",
                             s->common.files[i + 1], histo_dtype_name(m->photos[i].dtype));
    bench_gallery_options options = {
        .common = *measuring_options(m),
        .sweep_samples = listed.samples_count ? listed.samples : NULL,
        .sweep_samples_count = listed.samples_count,
        .bins = listed.bins_count ? listed.bins : NULL,
        .bins_count = listed.bins_count,
        .inputs = s->inputs,
        .strategies = s->common.strategy,
        .params = s->common.params,
        .photos = m->names,
        .photo_count = m->count,
    };
    int measured;
    const histo_status status = bench_gallery(&options, &measured, wrong);
    return measuring_end(m, status, measured, f);
}

static int print_photo_conflicts(const measuring *m, fault *f)
{
    for (int i = 0; i < m->count; i++) {
        const photo *p = &m->photos[i];
        if (bench_conflicts_print(m->names[i].name, p->pixels, p->dtype, p->width * p->height, m->options.table,
                                  m->options.json, i == 0) != HISTO_OK)
            return fault_of_library(f, EXIT_DATA, m->settings->common.files[i + 1]);
    }
    return 0;
}

static int print_synthetic_conflicts(const measuring *m, fault *f)
{
    int count;
    bool first = true;
    histo_status status = HISTO_OK;
    bench_input *inputs = bench_inputs_list(NULL, 0, &count);
    for (int i = 0; inputs && i < count && status == HISTO_OK; i++) {
        if (!inputs[i].width) continue;
        int64_t n = inputs[i].width * inputs[i].height;
        void *pixels = malloc((size_t)n);
        if (!pixels) break;
        histo_axis axis = bench_input_axis(&inputs[i], NULL);
        bench_input_make(&inputs[i], &axis, n, pixels);
        status = bench_conflicts_print(inputs[i].name, pixels, HISTO_U8, n, m->options.table, m->options.json, first);
        first = false;
        free(pixels);
    }
    free(inputs);
    return status == HISTO_OK && !first ? 0 : fault_set(f, EXIT_DATA, "no memory for the images");
}

int papers_run_conflicts(measuring *m, int *wrong, fault *f)
{
    (void)wrong;
    json_open(m->options.json, NULL, '[');
    int result = m->count ? print_photo_conflicts(m, f) : print_synthetic_conflicts(m, f);
    json_close(m->options.json, ']');
    return result;
}

/* ---- The papers ---- */

/* By the paper's name, --figure, --table and --section. */
static bool is_selected(const papers_experiment *e, const bench_settings *s, const char *paper)
{
    const struct {
        const char *kind, *number;
    } wanted[] = {{"figure", s->figure}, {"table", s->paper_table}, {"section", s->section}};
    bool any = false;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        if (wanted[i].number && papers_selected(e, paper, wanted[i].kind, wanted[i].number)) return true;
        any |= wanted[i].number != NULL;
    }
    return !any && papers_selected(e, paper, NULL, NULL);
}

static int count_experiments(const bench_settings *s, const char *paper)
{
    const papers_experiment *e;
    int count = 0;
    for (int i = 0; (e = papers_at(i)) != NULL; i++)
        count += is_selected(e, s, paper);
    return count;
}

static papers_result *results;
static int results_count;

static int draw_results(const bench_settings *s, fault *f)
{
    int failed = 0;
    for (int i = 0; i < results_count && !failed; i++)
        failed = picture_of_paper(results, i, results_count, s, f);
    for (int i = 0; i < results_count; i++)
        papers_free(&results[i]);
    return failed;
}

/* One experiment, to the table and to the file. */
static int run_experiment(measuring *m, const papers_experiment *e, const papers_options *options, int *wrong, fault *f)
{
    const bench_settings *s = m->settings;
    papers_result *result = &results[results_count++];
    histo_status status = papers_run(e, options, result);
    for (int p = 0; p < result->points; p++)
        for (int c = 0; c < result->series_count; c++)
            *wrong += result->cell[p][c].wrong;
    json_writer *json = options->common.json;
    papers_print(result, options->common.table);
    if (json && bench_path_ends_in(s->common.output, ".tsv"))
        papers_tsv(result, json->to);
    else if (json)
        papers_json(result, json);
    return measuring_end(m, status, result->points, f);
}

int papers_run_experiments(measuring *m, int *wrong, fault *f)
{
    const bench_settings *s = m->settings;
    const char *paper = s->common.files_count > 1 ? s->common.files[1] : NULL;
    const int count = count_experiments(s, paper);
    if (!paper && !s->figure && !s->paper_table && !s->section) {
        if (s->common.output || s->image)
            return fault_set(f, EXIT_USAGE, "name a paper, a --figure, a --table or a --section to measure");
        papers_list(m->options.table);
        return 0;
    }
    if (!count)
        return fault_set(f, EXIT_USAGE,
                         "there is no such experiment: 'histo bench paper' lists the papers' figures and tables");
    if (s->common.device >= HISTO_DEVICE_CUDA(0) && !bench_device_find(s->common.device, BENCH_RESIDENT))
        return fault_set(f, EXIT_DATA, "%s", histo_last_error());
    sweeps listed;
    if (take_sweeps(s, &listed, f) != 0) return -1;
    const papers_options options = {.common = *measuring_options(m),
                                    .samples = s->samples ? &s->samples : listed.samples,
                                    .samples_count = s->samples ? 1 : listed.samples_count,
                                    .bins = listed.bins,
                                    .bins_count = listed.bins_count,
                                    .begun_s = bench_now_s()};
    const papers_experiment *e;
    json_writer *json = m->options.json;
    const bool tsv = json && bench_path_ends_in(s->common.output, ".tsv");
    if (tsv) papers_tsv_begin(json->to);
    if (!tsv) {
        report_open(json, process_command_line(), NULL);
        json_open(json, "experiments", '[');
    }
    int failed = 0;
    results = calloc((size_t)count, sizeof *results);
    m->draw = draw_results;
    if (!results) return fault_set(f, EXIT_DATA, "no memory for %d experiments", count);
    for (int i = 0; (e = papers_at(i)) != NULL && !failed; i++)
        if (is_selected(e, s, paper)) failed = run_experiment(m, e, &options, wrong, f);
    if (!tsv) report_close(json);
    return failed;
}
