/* `histo bench`: the map of cells, random problems, applications, small calls and several GPUs. papers/command does
 * what only the papers need. */
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "base/process/interrupt.h"
#include "base/process/process.h"
#include "base/text.h"
#include "bench/apps/apps.h"
#include "bench/calls/calls.h"
#include "bench/command/measuring.h"
#include "bench/command/picture.h"
#include "bench/map/map.h"
#include "bench/random/random.h"
#include "bench/several_gpus/several_gpus.h"

bool bench_path_ends_in(const char *path, const char *suffix)
{
    size_t length = strlen(path), end = strlen(suffix);
    return length > end && strcmp(path + length - end, suffix) == 0;
}

/* Find out now what would otherwise fail after minutes of measuring. */
static int check_image(const bench_settings *s, fault *f)
{
    if (s->common.output && s->image && strcmp(s->common.output, s->image) == 0)
        return fault_set(f, EXIT_USAGE, "-o and --image are both %s: name another file", s->image);
    if (s->common.output &&
        (bench_path_ends_in(s->common.output, ".png") || bench_path_ends_in(s->common.output, ".svg") ||
         bench_path_ends_in(s->common.output, ".pdf")))
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
        m->names[m->count] = (bench_photo){text_file_name(path), p->pixels, p->width, p->height};
    }
    if (check_image(s, f) != 0) return -1;
    if (!s->common.output) return 0;
    m->file = outfile_open(s->common.output, f);
    if (!m->file) return -1;
    m->json = (json_writer){.to = outfile_stream(m->file)};
    m->options.json = &m->json;
    if (strcmp(s->common.output, "-") == 0) m->options.table = stderr;
    return 0;
}

const bench_options *measuring_options(measuring *m)
{
    interrupt_defer(&m->interrupted);
    return &m->options;
}

int measuring_end(measuring *m, histo_status status, int measured, fault *f)
{
    m->has_results |= measured > 0;
    if (status == HISTO_OK) return 0;
    return fault_set(f, status == HISTO_INVALID ? EXIT_USAGE : EXIT_DATA, "%s", histo_last_error());
}

static int keep(const measuring *m, fault *f)
{
    if (m->file && outfile_commit(m->file, f) != 0) return -1;
    return m->draw && m->settings->image ? m->draw(m->settings, f) : 0;
}

static int end(measuring *m, int result, fault *f)
{
    for (int i = 0; i < m->count; i++)
        free(m->photos[i].pixels);
    free(m->photos);
    free(m->names);
    if (result == 0) return keep(m, f);
    fault second = {0}; /* report the first failure */
    if (m->has_results)
        keep(m, &second);
    else
        outfile_abandon(m->file);
    return result;
}

static bench_map_result map;

static int draw_map(const bench_settings *s, fault *f)
{
    return picture_of_map(&map, s, f);
}

static int run_map(measuring *m, int *wrong, fault *f)
{
    const histo_status status = bench_map(measuring_options(m), m->settings->cells, &map, wrong);
    if (map.measured) m->draw = draw_map;
    return measuring_end(m, status, map.measured, f);
}

static random_result problems;

static int draw_problems(const bench_settings *s, fault *f)
{
    const int failed = picture_of_random(&problems, s, f);
    random_result_free(&problems);
    return failed;
}

static int run_random(measuring *m, int *wrong, fault *f)
{
    const bench_settings *s = m->settings;
    const bench_random_options options = {
        .common = *measuring_options(m),
        .seed = s->seed ? (uint64_t)s->seed : 1,
        .count = s->count,
        .only = s->only,
        .line = s->problem,
        .effort = s->effort,
    };
    const histo_status status = bench_random(&options, &problems);
    const int count = problems.count;
    *wrong = problems.wrong;
    if (count && s->image)
        m->draw = draw_problems;
    else
        random_result_free(&problems);
    return measuring_end(m, status, count, f);
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
    const histo_status status = bench_apps(measuring_options(m), &picture, m->settings->cells, &measured, wrong);
    free(made);
    return measuring_end(m, status, measured, f);
}

static int run_calls(measuring *m, int *wrong, fault *f)
{
    int measured;
    const histo_status status = bench_calls(measuring_options(m), &measured, wrong);
    return measuring_end(m, status, measured, f);
}

static int run_several_gpus(measuring *m, int *wrong, fault *f)
{
    int measured;
    const histo_status status = bench_several_gpus(measuring_options(m), &measured, wrong);
    return measuring_end(m, status, measured, f);
}

static int (*const runs[SUBJECT_COUNT])(measuring *m, int *wrong, fault *f) = {
    [SUBJECT_map] = run_map,
    [SUBJECT_random] = run_random,
    [SUBJECT_gallery] = papers_run_gallery,
    [SUBJECT_paper] = papers_run_experiments,
    [SUBJECT_apps] = run_apps,
    [SUBJECT_calls] = run_calls,
    [SUBJECT_several_gpus] = run_several_gpus,
    [SUBJECT_conflicts] = papers_run_conflicts,
};

int bench_command_bench(const bench_settings *s)
{
    fault f = {0};
    measuring m;
    int wrong = 0;
    const char *what = s->common.files_count ? s->common.files[0] : "";
    const command_row *subject = subject_find(what);
    if (!subject) {
        fault_set(&f, EXIT_USAGE,
                  "%s%s%sfor 'histo bench map', 'histo bench random', 'histo bench gallery', 'histo bench paper', "
                  "'histo bench apps', 'histo bench calls', 'histo bench several-gpus' or 'histo bench conflicts'",
                  *what ? "'" : "", what, *what ? "' cannot be measured: ask " : "say what to measure: ask ");
        return fault_report(&f);
    }
    if (s->sample_list && !strstr(subject->options, "bins")) { /* what sweeps over bins sweeps over samples, too */
        fault_set(&f, EXIT_USAGE, "'%s' takes one number of --samples, not '%s'", subject->name, s->sample_list);
        return fault_report(&f);
    }
    int result = begin(&m, s, subject->max_operands < 0, &f);
    if (result == 0) result = runs[subject - subject_rows](&m, &wrong, &f);
    result = end(&m, result, &f);
    interrupt_obey(m.interrupted, false);
    if (result != 0) return fault_report(&f);
    return wrong ? EXIT_DATA : EXIT_OK;
}
