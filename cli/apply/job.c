#include "apply/job.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "base/progress.h"
#include "input/samples/filter.h"
#include "input/samples/select.h"
#include "options/options.h"

const char *job_name(const job *j)
{
    return input_name(pages_reader(j->pages)->in);
}

static int fault_memory(const job *j, fault *f)
{
    return fault_set(f, EXIT_DATA, "no memory for the histograms of %s", job_name(j));
}

/* ---- Passes over the samples ---- */

/* Advance the mask to the same page. */
static int turn_mask(job *j, int page, fault *f)
{
    if (!j->mask.source || j->mask_page == page) return 0;
    if (j->mask_page >= 0 && mask_rewind(&j->mask, f) != 0) return -1;
    j->mask_page = page;
    return 0;
}

/* 1 if some samples of the band are counted, 0 if none is. */
static int find_part(job *j, const band *b, job_part *part, fault *f)
{
    const settings *s = j->settings;
    *part = (job_part){.page = b->page, .y = b->y, .rows = b->rows, .cols = b->cols};
    if (s->has_roi) {
        const int64_t top = s->roi[1] > b->y ? s->roi[1] : b->y, end = s->roi[1] + s->roi[3];
        const int64_t bottom = end < b->y + b->rows ? end : b->y + b->rows;
        *part = (job_part){.page = b->page, .y = top, .x = s->roi[0], .rows = bottom - top, .cols = s->roi[2]};
        if (top >= bottom) return 0;
    }
    if (!j->mask.source) return 1;
    if (turn_mask(j, b->page, f) != 0 ||
        mask_view(&j->mask, part->y, part->x, part->rows, part->cols, &part->mask, f) != 0)
        return -1;
    part->fill.mask = &part->mask;
    return 1;
}

/* Exclude the tone's missing samples from the part, too. */
static int leave_out_missing(job *j, const band *b, int i, job_part *part, fault *f)
{
    const int first = j->tones.tone[i].channel, end = first + (j->tones.kind == TONE_CHANNEL ? 1 : 3);
    const int64_t shape[] = {part->rows, part->cols};
    if (!scratch_reserve(&j->marks, (size_t)(part->rows * part->cols))) return fault_memory(j, f);
    unsigned char *to = j->marks.data;
    for (int64_t y = 0; y < part->rows; y++)
        for (int64_t x = 0; x < part->cols; x++) {
            const histo_view *m = part->fill.mask;
            bool is = !m || ((const unsigned char *)m->data)[y * m->strides[0] + x * m->strides[1]];
            for (int c = first; c < end && is; c++) {
                const histo_view *v = &b->valid[c];
                const int64_t at = (y + part->y - b->y) * v->strides[0] + (x + part->x) * v->strides[1];
                is = !v->data || ((const unsigned char *)v->data)[at];
            }
            *to++ = is;
        }
    part->mask = histo_view_nd(j->marks.data, HISTO_U8, 2, shape);
    part->fill.mask = &part->mask;
    return 0;
}

/* Pass the counted part of a band's tones to `take`. */
static int take_band(job *j, const band *b, job_take *take, void *context, fault *f)
{
    job_part all;
    const int some = find_part(j, b, &all, f);
    if (some < 0) return -1;
    for (int i = 0; i < j->tones.count && some; i++) {
        histo_view view;
        job_part part = all;
        if (part.fill.mask) part.fill.mask = &part.mask;
        if (b->valid && leave_out_missing(j, b, i, &part, f) != 0) return -1;
        if (tones_view(&j->tones, i, b, &view, f) != 0) return -1;
        view.data = (const char *)view.data + (part.y - b->y) * view.strides[0] + part.x * view.strides[1];
        view.shape[0] = part.rows;
        view.shape[1] = part.cols;
        const settings *s = j->settings;
        if (s->has_where) filter_set_range(&part.fill, &view, s->where[0], s->where[1]);
        if (take(j, context, i, &view, &part, f) != 0) return -1;
    }
    return 0;
}

static int check_page(const job *j, const band *b, fault *f)
{
    const int64_t *roi = j->settings->roi;
    if (b->y > 0 || !j->settings->has_roi) return 0;
    if (roi[0] + roi[2] <= pages_width(j->pages) && roi[1] + roi[3] <= pages_height(j->pages)) return 0;
    return fault_set(f, EXIT_USAGE, "--roi reaches outside page %d of %s, which has %lld x %lld pixels", b->page,
                     job_name(j), (long long)pages_width(j->pages), (long long)pages_height(j->pages));
}

int job_visit(job *j, job_take *take, void *context, fault *f)
{
    const input *in = pages_reader(j->pages)->in;
    band b;
    int more;
    if (j->frame) return check_page(j, j->frame, f) == 0 ? take_band(j, j->frame, take, context, f) : -1;
    j->pages_read = 0;
    while ((more = pages_next(j->pages, &b, f)) > 0) {
        const int64_t height = pages_height(j->pages);
        j->pages_read += b.y == 0;
        if (check_page(j, &b, f) != 0 || take_band(j, &b, take, context, f) != 0) return -1;
        if (j->mask.source && !j->settings->has_roi && b.y + b.rows == height &&
            mask_end_page(&j->mask, height, f) != 0)
            return -1;
        progress_update(input_position(in), input_size(in));
    }
    if (more == 0) more = turn_mask(j, -1, f);
    return more < 0 ? -1 : pages_again(j->pages, f);
}

static int survey_tone(job *j, void *context, int i, const histo_view *view, const job_part *part, fault *f)
{
    (void)context;
    return levels_survey(&j->levels[j->tones.tone[i].table], view, &part->fill, job_name(j), f);
}

/* Whether any table needs another pass. */
static bool next_pass(job *j)
{
    bool any = false;
    for (int t = 0; t < j->tones.tables; t++)
        any |= levels_next_pass(&j->levels[t]);
    return any;
}

int job_find_levels(job *j, fault *f)
{
    const settings *s = j->settings;
    for (int t = 0; t < j->tones.tables; t++) {
        levels_free(&j->levels[t]);
        if (levels_begin(&j->levels[t], j->tones.dtype, j->largest, s, j->kind->bins, f) != 0) return -1;
    }
    while (next_pass(j))
        if (job_visit(j, survey_tone, NULL, f) != 0) return -1;
    for (int t = 0; t < j->tones.tables; t++)
        if (levels_find(&j->levels[t], job_name(j), f) != 0) return -1;
    return 0;
}

static int count_tone(job *j, void *context, int i, const histo_view *view, const job_part *part, fault *f)
{
    (void)context;
    const settings *s = j->settings;
    histo_hist *hist = j->hists[j->tones.tone[i].table];
    const histo_plan_options options = {.device = s->device, .threads = s->threads};
    histo_status status = HISTO_OK;
    const bool own_edges = j->tones.tables > 1 && j->levels[0].searched;
    if (own_edges || (part->fill.mask != NULL) != j->plan_masks) {
        histo_plan_destroy(j->plan);
        j->plan = NULL;
    }
    j->plan_masks = part->fill.mask != NULL;
    if (!j->plan) status = histo_plan_create(&j->plan, hist, view, &part->fill, &options);
    if (status == HISTO_OK) status = histo_plan_fill(j->plan, hist, view, &part->fill);
    return status == HISTO_OK ? 0 : fault_of_library(f, EXIT_DATA, job_name(j));
}

int job_fill(job *j, fault *f)
{
    return job_visit(j, count_tone, NULL, f);
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

int job_fault_nothing(const job *j, fault *f)
{
    const settings *s = j->settings;
    return fault_set(f, EXIT_DATA, "%s has nothing to count: %s", job_name(j),
                     s->mask        ? "the mask leaves no sample"
                     : s->has_where ? "no sample is in the range of --where"
                     : s->has_roi   ? "the region holds no number"
                                    : "no sample is a finite number");
}

/* Count histograms of all tones of the unit. */
static int count_tones(job *j, fault *f)
{
    drop_tables(j);
    for (int t = 0; t < j->tones.tables; t++)
        if (histo_hist_create(&j->hists[t], 1, &j->levels[t].axis, NULL) != HISTO_OK)
            return fault_of_library(f, EXIT_USAGE, "the bins");
    if (job_fill(j, f) != 0) return -1;
    for (int t = 0; t < j->tones.tables; t++) {
        histo_tally tally;
        if (histo_hist_tally(j->hists[t], &tally) != HISTO_OK) return fault_of_library(f, EXIT_DATA, job_name(j));
        if (tally.bins == 0) return job_fault_nothing(j, f);
        if (levels_trim(&j->levels[t], &j->hists[t], j->settings, j->largest, f) != 0) return -1;
    }
    return 0;
}

/* ---- Writing ---- */

int job_axis_map(job *j, int table, const histo_axis *axis, histo_within within, fault *f)
{
    const histo_map_options options = {.within = within};
    histo_map_destroy(j->maps[table]);
    j->maps[table] = NULL;
    return histo_map_create(&j->maps[table], 1, axis, &options) == HISTO_OK ? 0
                                                                            : fault_of_library(f, EXIT_DATA, "the map");
}

void job_results(const job *j, int table, double *lo, double *hi)
{
    const bool narrow = j->top && j->dtype == HISTO_U8;
    *lo = narrow ? 0 : j->levels[table].lo;
    *hi = narrow ? (double)j->top : j->levels[table].hi;
}

int job_new_map(job *j, int table, histo_within within, fault *f)
{
    if (j->maps[table]) return 0; /* made for the previous frame */
    return job_axis_map(j, table, &j->levels[table].axis, within, f);
}

/* The value at x of the line through two points. */
static double on_line(double x, double x0, double y0, double x1, double y1)
{
    return y0 + (x - x0) / (x1 - x0) * (y1 - y0);
}

enum { MOST_POINTS = 256, MOST_CLIPPED = 3 * (MOST_POINTS + 2) };

typedef struct polyline {
    int n;
    double at[MOST_CLIPPED], value[MOST_CLIPPED];
} polyline;

static void add_point(polyline *line, double at, double value)
{
    if (line->n > 0 && !(at > line->at[line->n - 1])) return;
    line->at[line->n] = at;
    line->value[line->n++] = value;
}

/* `clipped` = the line with its values clamped to 0 … `most`. */
static void clip_line(const polyline *line, double most, polyline *clipped)
{
    clipped->n = 0;
    for (int k = 0; k < line->n; k++) {
        if (k > 0) {
            const double x0 = line->at[k - 1], y0 = line->value[k - 1], x1 = line->at[k], y1 = line->value[k];
            const double ends[] = {y0 < y1 ? 0 : most, y0 < y1 ? most : 0};
            for (int e = 0; e < 2; e++)
                if ((ends[e] - y0) * (ends[e] - y1) < 0) add_point(clipped, on_line(ends[e], y0, x0, y1, x1), ends[e]);
        }
        add_point(clipped, line->at[k], fmin(fmax(line->value[k], 0), most));
    }
}

/* The largest sample allowed in the result; 0: the dtype's maximum. */
static int64_t largest_result(const job *j)
{
    return j->top && j->dtype == HISTO_U8 ? j->top : j->largest;
}

/* Whether the dtype can represent larger samples than are allowed: only then is a bound needed. */
static bool is_narrower(const job *j)
{
    double lo, hi;
    levels_of_dtype(j->dtype, &lo, &hi);
    return largest_result(j) && j->dtype <= HISTO_I64 && (double)largest_result(j) < hi;
}

int job_line_map(job *j, int table, int n, const double *from, const double *to, bool extend, fault *f)
{
    polyline line = {.n = 1}, clipped; /* the first point is for the line below */
    double *at = line.at, *value = line.value;
    for (int k = 0; k < n && k < MOST_POINTS; k++) {
        if (line.n > 1 && !(from[k] > at[line.n - 1])) line.n--;
        at[line.n] = from[k];
        value[line.n++] = to[k];
    }
    if (line.n < 3) return -1;
    const double far = extend ? 0x1p20 * (at[line.n - 1] - at[1]) : 0;
    int first = 1;
    if (extend) {
        const int last = line.n - 1;
        at[0] = at[1] - far;
        value[0] = on_line(at[0], at[1], value[1], at[2], value[2]);
        at[line.n] = at[last] + far;
        value[line.n++] = on_line(at[last] + far, at[last - 1], value[last - 1], at[last], value[last]);
        first = 0;
    }
    line.n -= first;
    memmove(at, at + first, (size_t)line.n * sizeof *at);
    memmove(value, value + first, (size_t)line.n * sizeof *value);
    const polyline *of = &line;
    if (is_narrower(j)) {
        clip_line(&line, (double)largest_result(j), &clipped);
        of = &clipped;
    }
    const histo_axis axis = histo_axis_closed(histo_axis_variable(of->n - 1, of->at));
    if (job_axis_map(j, table, &axis, HISTO_MAP_LINEAR, f) != 0) return -1;
    return histo_map_write(j->maps[table], of->value, of->n) == HISTO_OK ? 0
                                                                         : fault_of_library(f, EXIT_DATA, "the map");
}

int job_same_map(job *j, int table, fault *f)
{
    const double ends[] = {0, (double)j->largest};
    return job_line_map(j, table, 2, ends, ends, false, f);
}

int job_count(job *j, fault *f)
{
    return job_find_levels(j, f) == 0 ? count_tones(j, f) : -1;
}

/* ---- Its input and tables ---- */

int job_open_pages(job *j, const char *path, fault *f)
{
    const settings *s = j->settings;
    j->pages = pages_open(path, &s->read, s->batch, f);
    if (!j->pages) return -1;
    if (!s->mask) pages_fold(j->pages); /* so that the mask has the array's shape */
    if (j->kind->by_page && s->tiles[0] < 2) pages_each(j->pages);
    if (!s->smooth || pages_video(j->pages)) return 0;
    return fault_set(f, EXIT_USAGE, "%s is not a video, and --smooth is for its frames: leave it out", job_name(j));
}

int job_make_tables(job *j, fault *f)
{
    const size_t tables = (size_t)j->tones.tables;
    j->levels = calloc(tables, sizeof *j->levels);
    j->hists = calloc(tables, sizeof(histo_hist *));
    j->maps = calloc(tables, sizeof(histo_map *));
    return j->levels && j->hists && j->maps ? 0 : fault_memory(j, f);
}

int job_choose_tones(job *j, const char *mask_path, const char *color, fault *f)
{
    const metadata *about = pages_about(j->pages);
    if (tones_choose(&j->tones, j->pages, color, j->settings->channels, f) != 0) return -1;
    j->largest = about ? about->largest : 0;
    j->dtype = j->kind->classes ? HISTO_U8 : pages_reader(j->pages)->dtypes[0];
    if (mask_path && mask_open(&j->mask, mask_path, pages_reader(j->pages), f) != 0) return -1;
    return job_make_tables(j, f);
}

int job_open(job *other, const job *like, const char *path, const char *mask_path, fault *f)
{
    const bool video = like->pages && pages_video(like->pages);
    const char *color = like->settings->color ? like->settings->color : video ? "luma" : like->kind->color;
    settings *s = malloc(sizeof *s);
    *other = (job){.kind = like->kind, .settings = s, .other = s, .mask_page = -1};
    if (!s) return fault_set(f, EXIT_DATA, "no memory to read %s", path);
    *s = *like->settings;
    s->has_roi = s->batch = false;
    s->mask = mask_path;
    s->bits = s->smooth = 0;
    if (job_open_pages(other, path, f) != 0) return -1;
    if (pages_video(other->pages))
        return fault_set(f, EXIT_USAGE, "%s is video, where an image is needed: take a frame of it", path);
    if (job_choose_tones(other, mask_path, color, f) != 0) return -1;
    return pages_unit(other->pages, f) > 0 ? 0 : -1;
}

void job_close(job *j)
{
    if (j->hists && j->maps) drop_tables(j);
    for (int t = 0; t < j->tones.tables && j->levels; t++)
        levels_free(&j->levels[t]);
    free(j->levels);
    free(j->hists);
    free(j->maps);
    free(j->rows.data);
    free(j->wide.data);
    free(j->marks.data);
    tones_free(&j->tones);
    mask_close(&j->mask);
    pages_close(j->pages);
    image_abandon(j->out);
    free(j->other);
}
