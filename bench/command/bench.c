/* `histo bench`: the map of cells, random problems, the strategies on the papers' inputs, the papers' experiments,
 * applications, small calls, several GPUs, and bank conflicts of images. */
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "base/interrupt.h"
#include "base/process.h"
#include "bench/apps/apps.h"
#include "bench/calls/calls.h"
#include "bench/command/command.h"
#include "bench/command/picture.h"
#include "bench/command/settings.h"
#include "bench/core/device.h"
#include "bench/core/report.h"
#include "bench/map/map.h"
#include "bench/random/random.h"
#include "bench/several_gpus/several_gpus.h"
#include "input/readers/images/photo.h"
#include "output/outfile.h"
#include "papers/experiments/conflicts.h"
#include "papers/experiments/gallery.h"
#include "papers/experiments/papers.h"

/* What is measured, and where the results go: a table to the terminal, JSON to -o. */
typedef struct measuring {
    const bench_settings *settings;
    int count;
    photo *photos;
    bench_photo *names;
    outfile *file;
    bench_options options;
    json_writer json;
    bool kept;                   /* something was measured: keep it even if a later step fails */
    const bench_map_result *map; /* to be drawn; NULL: none */
    const random_result *random; /* likewise */
    papers_result *papers;
    int papers_count;
    int64_t samples[MOST_LISTED], bins[MOST_LISTED]; /* sweeps of the gallery */
    int samples_count, bins_count;
    volatile sig_atomic_t interrupted;
} measuring;

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool ends_in(const char *path, const char *suffix)
{
    size_t length = strlen(path), end = strlen(suffix);
    return length > end && strcmp(path + length - end, suffix) == 0;
}

static int take_sweeps(measuring *m, fault *f)
{
    const bench_settings *s = m->settings;
    const int64_t most = INT64_C(1) << 40;
    if (s->sample_list)
        m->samples_count = bench_parse_numbers("samples", s->sample_list, most, m->samples, MOST_LISTED, f);
    if (s->common.bins)
        m->bins_count = bench_parse_numbers("bins", s->common.bins, HISTO_MAX_BINS, m->bins, MOST_LISTED, f);
    return m->samples_count < 0 || m->bins_count < 0 ? -1 : 0;
}

/* Find out now what would otherwise fail after minutes of measuring. */
static int check_image(const bench_settings *s, fault *f)
{
    if (s->common.output && s->image && strcmp(s->common.output, s->image) == 0)
        return fault_set(f, EXIT_USAGE, "-o and --image are both %s: name another file", s->image);
    if (s->common.output &&
        (ends_in(s->common.output, ".png") || ends_in(s->common.output, ".svg") || ends_in(s->common.output, ".pdf")))
        return fault_set(f, EXIT_USAGE, "-o %s is for tables, JSON or .tsv: pictures go to --image", s->common.output);
    return picture_check(s->image, f);
}

static bool is_interrupted(void *context)
{
    return ((measuring *)context)->interrupted;
}

static int begin(measuring *m, const bench_settings *s, bool takes_images, fault *f)
{
    int count = takes_images ? s->common.files_count - 1 : 0;
    *m = (measuring){.settings = s,
                     .options = {.device = s->common.device,
                                 .samples = s->samples,
                                 .bytes = s->bytes,
                                 .repeat = s->repeat,
                                 .threads = s->common.threads,
                                 .quick = s->quick,
                                 .table = stdout,
                                 .command_line = process_command_line(),
                                 .budget = {.seconds = s->budget_s, .stop = is_interrupted, .context = m}}};
    if (outfile_spare_inputs(&s->common, f) != 0) return -1;
    m->photos = calloc((size_t)count + 1, sizeof *m->photos);
    m->names = calloc((size_t)count + 1, sizeof *m->names);
    if (!m->photos || !m->names) return fault_set(f, EXIT_DATA, "no memory for %d images", count);
    for (; m->count < count; m->count++) {
        const char *path = s->common.files[m->count + 1];
        photo *p = &m->photos[m->count];
        if (photo_read(path, &s->common.read, p, f) != 0) return -1;
        m->names[m->count] = (bench_photo){base_name(path), p->pixels, p->width, p->height};
    }
    if (take_sweeps(m, f) != 0 || check_image(s, f) != 0) return -1;
    if (!s->common.output) return 0;
    m->file = outfile_open(s->common.output, f);
    if (!m->file) return -1;
    m->json = (json_writer){.to = outfile_stream(m->file)};
    m->options.json = &m->json;
    if (strcmp(s->common.output, "-") == 0) m->options.table = stderr;
    return 0;
}

/* From here on, an interrupt ends the measurement, not the process. */
static const bench_options *options_of(measuring *m)
{
    interrupt_defer(&m->interrupted);
    return &m->options;
}

static int end_run(measuring *m, histo_status status, int measured, fault *f)
{
    m->kept |= measured > 0;
    if (status == HISTO_OK) return 0;
    return fault_set(f, status == HISTO_INVALID ? EXIT_USAGE : EXIT_DATA, "%s", histo_last_error());
}

/* Wrong counts are a failure, but the results are kept. */
static int run_gallery(measuring *m, int *wrong, fault *f)
{
    const bench_settings *s = m->settings;
    for (int i = 0; i < m->count; i++)
        if (m->photos[i].dtype != HISTO_U8)
            return fault_set(f, EXIT_DATA, "%s has samples of %s: the gallery is for images of 8 bits",
                             s->common.files[i + 1], histo_dtype_name(m->photos[i].dtype));
    bench_gallery_options options = {
        .common = *options_of(m),
        .sweep_samples = m->samples_count ? m->samples : NULL,
        .sweep_samples_count = m->samples_count,
        .bins = m->bins_count ? m->bins : NULL,
        .bins_count = m->bins_count,
        .inputs = s->inputs,
        .strategies = s->common.strategy,
        .params = s->common.params,
        .photos = m->names,
        .photo_count = m->count,
    };
    int measured;
    const histo_status status = bench_gallery(&options, &measured, wrong);
    return end_run(m, status, measured, f);
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

static int run_conflicts(measuring *m, int *wrong, fault *f)
{
    (void)wrong;
    json_open(m->options.json, NULL, '[');
    int result = m->count ? print_photo_conflicts(m, f) : print_synthetic_conflicts(m, f);
    json_close(m->options.json, ']');
    return result;
}

static int keep(const measuring *m, fault *f)
{
    if (m->file && outfile_commit(m->file, f) != 0) return -1;
    int failed = 0;
    for (int i = 0; i < m->papers_count && m->settings->image && !failed; i++)
        failed = picture_of_paper(m->papers, i, m->papers_count, m->settings, f);
    if (failed) return -1;
    if (m->random) return picture_of_random(m->random, m->settings, f);
    return m->map ? picture_of_map(m->map, m->settings, f) : 0;
}

static void free_papers(measuring *m)
{
    for (int i = 0; i < m->papers_count; i++)
        papers_free(&m->papers[i]);
    free(m->papers);
}

static int end(measuring *m, int result, fault *f)
{
    for (int i = 0; i < m->count; i++)
        free(m->photos[i].pixels);
    free(m->photos);
    free(m->names);
    if (result == 0) return keep(m, f);
    fault second = {0}; /* report the first failure */
    if (m->kept)
        keep(m, &second);
    else
        outfile_abandon(m->file);
    return result;
}

static int run_map(measuring *m, int *wrong, fault *f)
{
    const bench_settings *s = m->settings;
    static bench_cell cells[BENCH_MAX_CELLS];
    static bench_map_result result;
    const histo_status status = bench_map(options_of(m), s->cells, cells, bench_map_cells(cells), &result, wrong);
    if (result.measured && s->image) m->map = &result;
    return end_run(m, status, result.measured, f);
}

static int run_random(measuring *m, int *wrong, fault *f)
{
    const bench_settings *s = m->settings;
    static random_result result;
    const bench_random_options options = {
        .common = *options_of(m),
        .seed = s->seed ? (uint64_t)s->seed : 1,
        .count = s->count,
        .only = s->only,
        .line = s->problem,
        .effort = s->effort,
    };
    const histo_status status = bench_random(&options, &result);
    *wrong = result.wrong;
    if (result.count && s->image) m->random = &result;
    return end_run(m, status, result.count, f);
}

/* ---- The papers ---- */

/* How many experiments are selected, by --figure, --table and the paper's name. */
static int count_experiments(const bench_settings *s, const char *paper)
{
    const papers_experiment *e;
    int count = 0;
    for (int i = 0; (e = papers_at(i)) != NULL; i++)
        count += papers_selected(e, paper, s->figure, s->paper_table);
    return count;
}

/* One experiment, to the table and to the file. */
static int run_experiment(measuring *m, const papers_experiment *e, const papers_options *options, int *wrong, fault *f)
{
    const bench_settings *s = m->settings;
    papers_result *result = &m->papers[m->papers_count++];
    histo_status status = papers_run(e, options, result);
    for (int p = 0; p < result->points; p++)
        for (int c = 0; c < result->series_count; c++)
            *wrong += result->cell[p][c].wrong;
    json_writer *json = options->common.json;
    papers_print(result, options->common.table);
    if (json && ends_in(s->common.output, ".tsv"))
        papers_tsv(result, json->to);
    else if (json)
        papers_json(result, json);
    return end_run(m, status, result->points, f);
}

static int run_papers(measuring *m, int *wrong, fault *f)
{
    const bench_settings *s = m->settings;
    const char *paper = s->common.files_count > 1 ? s->common.files[1] : NULL;
    const int count = count_experiments(s, paper);
    if (!paper && !s->figure && !s->paper_table) {
        if (s->common.output || s->image)
            return fault_set(f, EXIT_USAGE, "name a paper, a --figure or a --table to measure");
        papers_list(m->options.table);
        return 0;
    }
    if (!count)
        return fault_set(f, EXIT_USAGE,
                         "there is no such experiment: 'histo bench paper' lists the papers' figures and tables");
    if (s->common.device >= HISTO_DEVICE_CUDA(0) && !bench_device_find(s->common.device, BENCH_RESIDENT))
        return fault_set(f, EXIT_DATA, "%s", histo_last_error());
    const papers_options options = {.common = *options_of(m),
                                    .samples = s->samples ? &s->samples : m->samples,
                                    .samples_count = s->samples ? 1 : m->samples_count,
                                    .bins = m->bins,
                                    .bins_count = m->bins_count,
                                    .begun_s = bench_now_s()};
    const papers_experiment *e;
    json_writer *json = m->options.json;
    const bool tsv = json && ends_in(s->common.output, ".tsv");
    if (tsv) papers_tsv_begin(json->to);
    if (!tsv) {
        report_open(json, process_command_line(), NULL);
        json_open(json, "experiments", '[');
    }
    int failed = 0;
    m->papers = calloc((size_t)count, sizeof *m->papers);
    if (!m->papers) return fault_set(f, EXIT_DATA, "no memory for %d experiments", count);
    for (int i = 0; (e = papers_at(i)) != NULL && !failed; i++)
        if (papers_selected(e, paper, s->figure, s->paper_table)) failed = run_experiment(m, e, &options, wrong, f);
    if (!tsv) report_close(json);
    return failed;
}

/* The colours of a photograph, or the synthetic one. */
static int take_photo(const measuring *m, apps_photo *picture, uint8_t **made, fault *f)
{
    const bench_settings *s = m->settings;
    if (!m->count)
        return apps_photo_make(picture, made) == HISTO_OK ? 0 : fault_set(f, EXIT_DATA, "%s", histo_last_error());
    const photo *p = m->photos;
    if (m->count > 1) return fault_set(f, EXIT_USAGE, "'bench apps' takes one image, not %d", m->count);
    if (p->dtype != HISTO_U8)
        return fault_set(f, EXIT_DATA, "%s has samples of %s: applications take a photograph of 8 bits",
                         s->common.files[1], histo_dtype_name(p->dtype));
    *picture = (apps_photo){{0}, p->width, p->height};
    for (int c = 0; c < 3; c++)
        picture->planes[c] = (const uint8_t *)p->pixels + (p->channels == 3 ? c : 0) * p->width * p->height;
    return 0;
}

static int run_apps(measuring *m, int *wrong, fault *f)
{
    apps_photo picture;
    uint8_t *made = NULL;
    int measured;
    if (take_photo(m, &picture, &made, f) != 0) return -1;
    const histo_status status = bench_apps(options_of(m), &picture, m->settings->cells, &measured, wrong);
    free(made);
    return end_run(m, status, measured, f);
}

static int run_calls(measuring *m, int *wrong, fault *f)
{
    int measured;
    const histo_status status = bench_calls(options_of(m), &measured, wrong);
    return end_run(m, status, measured, f);
}

static int run_several_gpus(measuring *m, int *wrong, fault *f)
{
    int measured;
    const histo_status status = bench_several_gpus(options_of(m), &measured, wrong);
    return end_run(m, status, measured, f);
}

static const struct {
    const char *name;
    int (*run)(measuring *m, int *wrong, fault *f);
    bool images, sweeps;
} subjects[] = {{"map", run_map, false, false},       {"random", run_random, false, false},
                {"gallery", run_gallery, true, true}, {"paper", run_papers, false, true},
                {"apps", run_apps, true, false},      {"conflicts", run_conflicts, true, false},
                {"calls", run_calls, false, false},   {"several-gpus", run_several_gpus, false, false}};
enum { SUBJECTS = sizeof subjects / sizeof subjects[0] };

/* Options that this subject would ignore. */
static int check_subject(const bench_settings *s, int which, fault *f)
{
    const char *name = subjects[which].name;
    const struct {
        bool given;
        const char *option, *takers; /* subjects */
    } options[] = {{s->image, "--image", "map random paper"},
                   {s->common.bins, "--bins", "gallery paper"},
                   {s->figure, "--figure", "paper"},
                   {s->paper_table, "--table", "paper"},
                   {s->common.strategy, "--strategy", "gallery"},
                   {s->common.params, "--param", "gallery"},
                   {s->inputs, "--input", "gallery"},
                   {s->cells, "--cells", "map apps"},
                   {s->count, "--count", "random"},
                   {s->seed, "--seed", "random"},
                   {s->only, "--only", "random"},
                   {s->problem, "--problem", "random"},
                   {s->quick, "--quick", "random gallery paper apps"}};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (options[i].given && !strstr(options[i].takers, name))
            return fault_set(f, EXIT_USAGE, "'bench %s' takes no %s: leave it out", name, options[i].option);
    if (s->sample_list && !subjects[which].sweeps)
        return fault_set(f, EXIT_USAGE, "'bench %s' takes one number of --samples, not '%s'", name, s->sample_list);
    const int most = subjects[which].run == run_papers ? 2 : 1;
    if (!subjects[which].images && s->common.files_count > most)
        return fault_set(f, EXIT_USAGE, "'bench %s' takes %s, and '%s' is one too many", name,
                         most == 2 ? "one paper" : "no files", s->common.files[most]);
    return 0;
}

int bench_command_bench(const bench_settings *s)
{
    fault f = {0};
    measuring m;
    int wrong = 0, which = 0;
    const char *what = s->common.files_count ? s->common.files[0] : "";
    while (which < SUBJECTS && strcmp(what, subjects[which].name) != 0)
        which++;
    if (which == SUBJECTS) {
        fault_set(&f, EXIT_USAGE,
                  "%s%s%sfor 'histo bench map', 'histo bench random', 'histo bench gallery', 'histo bench paper', "
                  "'histo bench apps', 'histo bench calls', 'histo bench several-gpus' or 'histo bench conflicts'",
                  *what ? "'" : "", what, *what ? "' cannot be measured: ask " : "say what to measure: ask ");
        return fault_report(&f);
    }
    if (check_subject(s, which, &f) != 0) return fault_report(&f);
    int result = begin(&m, s, subjects[which].images, &f);
    if (result == 0) result = subjects[which].run(&m, &wrong, &f);
    result = end(&m, result, &f);
    free_papers(&m);
    interrupt_obey(m.interrupted);
    if (result != 0) return fault_report(&f);
    return wrong ? EXIT_DATA : EXIT_OK;
}
