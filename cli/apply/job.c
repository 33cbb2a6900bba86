#include "apply/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apply/video.h"
#include "base/failure.h"
#include "base/progress.h"

const char *job_name(const job *j)
{
    return input_name(pages_reader(j->pages)->in);
}

static int fault_memory(const job *j, fault *f)
{
    return fault_set(f, EXIT_DATA, "no memory for the histograms of %s", job_name(j));
}

/* ---- Passes over the samples ---- */

/* Where the samples of a band count. */
typedef struct counted {
    histo_view mask;
    histo_fill_options fill;
    int64_t y, x, rows, cols; /* of the band */
} counted;

/* Stay in step with the mask's page. */
static int turn_mask(job *j, int page, fault *f)
{
    if (!j->mask || j->mask_page == page) return 0;
    if (j->mask_page >= 0 && mask_rewind(j->mask, f) != 0) return -1;
    j->mask_page = page;
    return 0;
}

/* 1 if some samples of the band count, 0 if none does. */
static int find_counted(job *j, const band *b, counted *c, fault *f)
{
    const settings *s = j->settings;
    *c = (counted){.rows = b->rows, .cols = b->cols};
    if (s->has_roi) {
        const int64_t top = s->roi[1] > b->y ? s->roi[1] : b->y, end = s->roi[1] + s->roi[3];
        const int64_t bottom = end < b->y + b->rows ? end : b->y + b->rows;
        *c = (counted){.y = top - b->y, .x = s->roi[0], .rows = bottom - top, .cols = s->roi[2]};
        if (top >= bottom) return 0;
    }
    if (!j->mask) return 1;
    if (turn_mask(j, b->page, f) != 0 || mask_view(j->mask, b->y + c->y, c->x, c->rows, c->cols, &c->mask, f) != 0)
        return -1;
    c->fill.mask = &c->mask;
    return 1;
}

static void crop(histo_view *v, const counted *c)
{
    v->data = (const char *)v->data + c->y * v->strides[0] + c->x * v->strides[1];
    v->shape[0] = c->rows;
    v->shape[1] = c->cols;
}

static int check_page(const job *j, const band *b, fault *f)
{
    const int64_t *roi = j->settings->roi;
    if (b->y > 0 || !j->settings->has_roi) return 0;
    if (roi[0] + roi[2] <= pages_width(j->pages) && roi[1] + roi[3] <= pages_height(j->pages)) return 0;
    return fault_set(f, EXIT_USAGE, "--roi reaches outside page %d of %s, which has %lld x %lld pixels", b->page,
                     job_name(j), (long long)pages_width(j->pages), (long long)pages_height(j->pages));
}

typedef int take_tone(job *j, int i, const histo_view *view, const histo_fill_options *fill, fault *f);

/* Pass the tones of all counted samples to `take`. */
static int visit(job *j, take_tone *take, fault *f)
{
    band b;
    int more;
    j->pages_read = 0;
    while ((more = pages_next(j->pages, &b, f)) > 0) {
        counted c;
        j->pages_read += b.y == 0;
        if (check_page(j, &b, f) != 0) return -1;
        const int some = find_counted(j, &b, &c, f);
        if (some < 0) return -1;
        for (int i = 0; i < j->tones.count && some; i++) {
            histo_view view;
            if (tones_view(&j->tones, i, &b, &view, f) != 0) return -1;
            crop(&view, &c);
            if (take(j, i, &view, &c.fill, f) != 0) return -1;
        }
        if (j->mask && !j->settings->has_roi && b.y + b.rows == pages_height(j->pages) &&
            mask_end_page(j->mask, pages_height(j->pages), f) != 0)
            return -1;
        const input *in = pages_reader(j->pages)->in;
        progress_update(input_position(in), input_size(in));
    }
    if (more == 0) more = turn_mask(j, -1, f);
    return more < 0 ? -1 : pages_again(j->pages, f);
}

static int survey_tone(job *j, int i, const histo_view *view, const histo_fill_options *fill, fault *f)
{
    return levels_survey(&j->levels[j->tones.tone[i].table], view, fill, job_name(j), f);
}

/* Does any table need a pass? */
static bool next_pass(job *j)
{
    bool any = false;
    for (int t = 0; t < j->tones.tables; t++)
        any |= levels_next_pass(&j->levels[t]);
    return any;
}

static int find_levels(job *j, fault *f)
{
    const settings *s = j->settings;
    for (int t = 0; t < j->tones.tables; t++) {
        levels_free(&j->levels[t]);
        if (levels_begin(&j->levels[t], j->tones.dtype, j->largest, s, s->bin_count ? s->bin_count : j->kind->bins,
                         f) != 0)
            return -1;
    }
    while (next_pass(j))
        if (visit(j, survey_tone, f) != 0) return -1;
    for (int t = 0; t < j->tones.tables; t++)
        if (levels_find(&j->levels[t], job_name(j), f) != 0) return -1;
    return 0;
}

static int count_tone(job *j, int i, const histo_view *view, const histo_fill_options *fill, fault *f)
{
    const settings *s = j->settings;
    histo_hist *hist = j->hists[j->tones.tone[i].table];
    const histo_plan_options options = {.device = s->device, .threads = s->threads};
    histo_status status = HISTO_OK;
    if (j->tones.tables > 1 && j->levels[0].searched) { /* each has its own edges */
        histo_plan_destroy(j->plan);
        j->plan = NULL;
    }
    if (!j->plan) status = histo_plan_create(&j->plan, hist, view, fill, &options);
    if (status == HISTO_OK) status = histo_plan_fill(j->plan, hist, view, fill);
    return status == HISTO_OK ? 0 : fault_of_library(f, EXIT_DATA, job_name(j));
}

static void drop_tables(job *j)
{
    histo_plan_destroy(j->plan);
    j->plan = NULL;
    for (int t = 0; t < j->tones.tables; t++) {
        histo_hist_destroy(j->hists[t]);
        histo_map_destroy(j->maps[t]);
        j->hists[t] = NULL;
        j->maps[t] = NULL;
    }
}

static int fault_nothing(const job *j, fault *f)
{
    const settings *s = j->settings;
    return fault_set(f, EXIT_DATA, "%s has nothing to count: %s", job_name(j),
                     s->mask      ? "the mask leaves no sample"
                     : s->has_roi ? "the region holds no number"
                                  : "no sample is a finite number");
}

/* Histograms of all tones of the unit. */
static int count_tones(job *j, fault *f)
{
    drop_tables(j);
    for (int t = 0; t < j->tones.tables; t++)
        if (histo_hist_create(&j->hists[t], 1, &j->levels[t].axis, NULL) != HISTO_OK)
            return fault_of_library(f, EXIT_USAGE, "the bins");
    if (visit(j, count_tone, f) != 0) return -1;
    for (int t = 0; t < j->tones.tables; t++) {
        histo_tally tally;
        if (histo_hist_tally(j->hists[t], &tally) != HISTO_OK) return fault_of_library(f, EXIT_DATA, job_name(j));
        if (tally.bins == 0) return fault_nothing(j, f);
        if (levels_trim(&j->levels[t], &j->hists[t], j->settings, j->largest, f) != 0) return -1;
    }
    return 0;
}

/* ---- Writing ---- */

int job_new_map(job *j, int table, fault *f)
{
    const levels *l = &j->levels[table];
    const histo_map_options options = {.within = l->within};
    return histo_map_create(&j->maps[table], 1, &l->axis, &options) == HISTO_OK
               ? 0
               : fault_of_library(f, EXIT_DATA, "the map");
}

static image_page page_of(const job *j)
{
    const reader *r = pages_reader(j->pages);
    const bool colors = r->model == CHANNELS_PLAIN && (r->channels == 3 || r->channels == 4) && !r->names;
    const channel_model model = r->channels == 3 ? CHANNELS_RGB : CHANNELS_RGBA;
    image_page page = {.model = colors ? model : r->model,
                       .channels = r->channels,
                       .dtype = r->dtypes[0],
                       .height = pages_height(j->pages),
                       .width = pages_width(j->pages),
                       .about = pages_about(j->pages)};
    page.largest = page.about ? page.about->largest : 0;
    if (j->settings->bits && page.largest) page.largest = (INT64_C(1) << j->settings->bits) - 1;
    return page;
}

static int map_band(job *j, const band *b, fault *f)
{
    const image_page *page = &j->out->page;
    const size_t pitch = image_row_bytes(page), size = pitch * (size_t)b->rows;
    if (size > j->rows_size) {
        free(j->rows);
        j->rows = malloc(size);
        j->rows_size = j->rows ? size : 0;
        if (!j->rows) return fault_memory(j, f);
    }
    const tones *t = &j->tones;
    if (t->kind != TONE_CHANNEL || t->count < page->channels) pages_interleave(b, page->channels, j->rows, pitch);
    for (int i = 0; i < t->count; i++) {
        const levels *l = &j->levels[t->tone[i].table];
        const tone_rows out = {j->rows, page->dtype, page->channels, b->rows, b->cols, l->lo, l->hi};
        const histo_apply_options options = {.threads = j->settings->threads};
        histo_view from;
        if (tones_view(&j->tones, i, b, &from, f) != 0) return -1;
        const histo_view to = tones_place(t, i, &out);
        if (histo_map_apply(j->maps[t->tone[i].table], &from, &to, &options) != HISTO_OK)
            return fault_of_library(f, EXIT_DATA, job_name(j));
        tones_put(t, i, &out);
    }
    return image_rows(j->out, j->rows, b->rows, f);
}

static int write_unit(job *j, fault *f)
{
    band b;
    int more;
    while ((more = pages_next(j->pages, &b, f)) > 0) {
        const image_page page = page_of(j);
        if (b.y == 0 && image_begin(j->out, &page, f) != 0) return -1;
        if (map_band(j, &b, f) != 0) return -1;
    }
    return more;
}

/* ---- The whole job ---- */

static int run_unit(job *j, fault *f)
{
    if (find_levels(j, f) != 0 || count_tones(j, f) != 0) return -1;
    for (int t = 0; t < j->tones.tables; t++)
        if (job_new_map(j, t, f) != 0 || j->kind->make(j, t, f) != 0) return -1;
    if (!j->settings->batch) j->out->pages = j->pages_read;
    return write_unit(j, f);
}

int job_make_tables(job *j, fault *f)
{
    const size_t tables = (size_t)j->tones.tables;
    j->levels = calloc(tables, sizeof *j->levels);
    j->hists = calloc(tables, sizeof(histo_hist *));
    j->maps = calloc(tables, sizeof(histo_map *));
    return j->levels && j->hists && j->maps ? 0 : fault_memory(j, f);
}

static int open_pages(job *j, fault *f)
{
    const settings *s = j->settings;
    if (s->files_count != 1 || !s->output)
        return fault_set(f, EXIT_USAGE, "name the image and the result, as in histo %s in.png out.png", s->command);
    j->pages = pages_open(s->files[0], &s->read, s->batch, f);
    if (!j->pages) return -1;
    if (!s->smooth || pages_video(j->pages)) return 0;
    return fault_set(f, EXIT_USAGE, "%s is no video, and --smooth is for its frames: leave it out", job_name(j));
}

static int begin(job *j, fault *f)
{
    const settings *s = j->settings;
    if (tones_choose(&j->tones, j->pages, s, f) != 0) return -1;
    const image_writer *writer = image_writer_find(s->output, pages_reader(j->pages), f);
    if (!writer) return -1;
    if (s->mask && !(j->mask = mask_open(s->mask, pages_reader(j->pages), f))) return -1;
    if (job_make_tables(j, f) != 0) return -1;
    const image_page page = page_of(j);
    j->largest = page.about ? page.about->largest : 0;
    j->out = image_create_file(s->output, writer, &page, pages_reader(j->pages)->pages, f);
    return j->out && (!j->kind->begin || j->kind->begin(j, f) == 0) ? 0 : -1;
}

static int run(job *j, fault *f)
{
    char label[256];
    int more;
    if (open_pages(j, f) != 0 || (!pages_video(j->pages) && begin(j, f) != 0)) return -1;
    snprintf(label, sizeof label, "%s %.200s", j->kind->verb, job_name(j));
    progress_start(label, j->settings->quiet);
    if (pages_video(j->pages)) return video_run(j, f);
    while ((more = pages_unit(j->pages, f)) > 0)
        if (run_unit(j, f) != 0) return -1;
    if (more < 0) return -1;
    image_file *out = j->out;
    j->out = NULL;
    return image_commit(out, f);
}

static void end(job *j)
{
    progress_end();
    if (j->kind->end) j->kind->end(j);
    if (j->hists && j->maps) drop_tables(j);
    for (int t = 0; t < j->tones.tables && j->levels; t++)
        levels_free(&j->levels[t]);
    free(j->levels);
    free(j->hists);
    free(j->maps);
    free(j->rows);
    tones_free(&j->tones);
    mask_close(j->mask);
    pages_close(j->pages);
    image_abandon(j->out);
}

int job_command(const settings *s, const job_kind *kind)
{
    fault f = {0};
    job j = {.settings = s, .kind = kind, .mask_page = -1};
    int failed = run(&j, &f);
    end(&j);
    return failed ? fault_report(&f) : EXIT_OK;
}
