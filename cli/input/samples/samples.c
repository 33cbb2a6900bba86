#include "input/samples/samples.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/failure.h"
#include "base/scratch.h"
#include "base/text.h"
#include "input/feed/prefetch.h"
#include "input/feed/segments.h"
#include "input/samples/epoch.h"
#include "input/samples/luma.h"
#include "input/samples/mask.h"
#include "input/samples/missing.h"

struct samples {
    const settings *settings;
    reader *reader;
    choice choice;
    channel_forms *forms; /* of the counted sources of all files; NULL: only numbers */
    mask mask;
    segments segments;
    histo_view *views; /* [choice.total] */
    histo_view mask_view;
    scratch made;   /* computed for the current piece: luma, times from numbers and bins of words, source after
                     * source */
    scratch passed; /* of the current piece: what mask and conditions let pass */
    histo_view passed_view;
    scratch compacted; /* the current piece without missing values: source after source, and the mask */
    bool whole;        /* missing values cannot be left out */
    uint64_t missing;  /* number of values, or rows, left out here, in addition to those the reader left out */
    bool begun;
    bool in_part; /* only some units are taken */
    samples_place at;
    int page;              /* current page */
    int64_t height;        /* number of its rows so far */
    int64_t pixels_in_roi; /* number of its pixels in the region so far */
};

static int fault_memory(const samples *in, fault *f)
{
    return fault_set(f, EXIT_DATA, "no memory to read %s", input_name(in->reader->in));
}

static int check_roi(const samples *in, fault *f)
{
    const int64_t *roi = in->settings->roi;
    const reader *r = in->reader;
    if (r->height < 0 && r->width == 1)
        return fault_set(f, EXIT_USAGE, "%s has no pixels: --roi is for images and two-dimensional arrays",
                         input_name(r->in));
    bool outside = (r->width >= 0 && roi[0] + roi[2] > r->width) || (r->height >= 0 && roi[1] + roi[3] > r->height);
    if (!outside) return 0;
    return fault_set(f, EXIT_USAGE,
                     "--roi %" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 " reaches outside %s, which has %" PRId64
                     " x %" PRId64 " pixels",
                     roi[0], roi[1], roi[2], roi[3], input_name(r->in), r->width, r->height);
}

static channel_step step_of(const samples *in, const sample_source *s)
{
    return in->reader->steps ? in->reader->steps[s->channel] : (channel_step){1, 1};
}

/* Sources that belong together must have equally many samples. */
static int check_steps(const samples *in, fault *f)
{
    const choice *c = &in->choice;
    const channel_step first = step_of(in, &c->sources[0]);
    bool equal = !in->mask.source || (first.x == 1 && first.y == 1);
    for (int i = 1; i < c->total && equal; i++) {
        const channel_step step = step_of(in, &c->sources[i]);
        equal = step.x == first.x && step.y == first.y;
    }
    if (equal || !(c->joint || c->weights != NO_SOURCE || c->conditions_count || in->mask.source)) return 0;
    return fault_set(f, EXIT_USAGE,
                     "%s has fewer samples of chroma than pixels, and --joint, --weights, --where and --mask need one "
                     "for each: choose luma with --channel y, or convert it with ffmpeg -pix_fmt yuv444p",
                     input_name(in->reader->in));
}

static int begin(samples *in, const char *path, named_columns *columns, bool keep, fault *f)
{
    const settings *s = in->settings;
    in->reader = reader_open(path, &s->read, keep, f);
    if (in->reader && !s->shards && !s->checkpoint && !s->read.in_parts && !s->live) {
        const bool parts = !s->mask && !s->segments && !(s->has_roi && in->reader->height < 0);
        in->reader = prefetch_open(in->reader, path, &s->read, keep, parts, s->threads);
    }
    if (!in->reader || choice_make(&in->choice, in->reader, s, in->forms, columns, f) != 0) return -1;
    if (s->has_roi && check_roi(in, f) != 0) return -1;
    if (s->mask && mask_open(&in->mask, s->mask, in->reader, f) != 0) return -1;
    if (check_steps(in, f) != 0) return -1;
    if (s->segments && segments_open(&in->segments, s->segments, f) != 0) return -1;
    in->views = malloc((size_t)in->choice.total * sizeof *in->views);
    return in->views ? 0 : fault_set(f, EXIT_DATA, "no memory to read %s", path);
}

samples *samples_open(const char *path, const settings *s, channel_forms *all, named_columns *columns, bool keep,
                      fault *f)
{
    samples *in = calloc(1, sizeof *in);
    if (!in) {
        fault_set(f, EXIT_DATA, "no memory to read %s", path);
        return NULL;
    }
    in->settings = s;
    in->whole = s->pairs != 0;
    in->forms = all;
    if (begin(in, path, columns, keep, f) == 0) return in;
    samples_close(in);
    return NULL;
}

void samples_close(samples *in)
{
    if (!in) return;
    mask_close(&in->mask);
    segments_free(&in->segments);
    choice_free(&in->choice);
    reader_close(in->reader);
    free(in->views);
    free(in->made.data);
    free(in->passed.data);
    free(in->compacted.data);
    free(in);
}

const choice *samples_choice(const samples *in)
{
    return &in->choice;
}

const reader *samples_reader(const samples *in)
{
    return in->reader;
}

int64_t samples_segments(const samples *in)
{
    return in->segments.offsets ? segments_count(&in->segments) : 1;
}

int samples_rewind(samples *in, fault *f)
{
    in->begun = in->in_part = false;
    in->at = (samples_place){0};
    in->missing = 0;
    if (in->segments.offsets) segments_rewind(&in->segments);
    if (in->mask.source && mask_rewind(&in->mask, f) != 0) return -1;
    return in->reader->rewind(in->reader, f);
}

int64_t samples_units(const samples *in)
{
    const reader *r = in->reader;
    const bool whole = in->mask.source || in->segments.offsets || (in->settings->has_roi && r->height < 0);
    return r->units > 1 && !whole ? r->units : 1;
}

int samples_take(samples *in, unit_range units, fault *f)
{
    in->begun = false;
    in->missing = 0;
    in->in_part = units.first > 0 || units.end < samples_units(in);
    in->at = (samples_place){.unit = units.first};
    return in->in_part ? in->reader->take(in->reader, units.first, units.end, f) : 0;
}

int64_t samples_guess(const samples *in)
{
    return in->in_part && in->reader->guesses ? in->reader->unit(in->reader) : -1;
}

samples_place samples_at(const samples *in)
{
    samples_place at = in->at;
    at.bad = in->reader->bad;
    at.missing = in->reader->missing + in->missing;
    at.ragged = in->reader->ragged;
    return at;
}

int samples_continue(samples *in, samples_place from, int64_t end, fault *f)
{
    piece skipped;
    int more = 1;
    if (samples_take(in, (unit_range){from.unit, end}, f) != 0) return -1;
    for (int64_t i = 0; i < from.pieces && more > 0; i++)
        more = samples_next(in, &skipped, f);
    in->reader->bad = from.bad;
    in->reader->missing = from.missing;
    in->reader->ragged = from.ragged;
    in->missing = 0;
    if (more == 0)
        fault_set(f, EXIT_DATA, "%s ends before the place where counting stopped", input_name(in->reader->in));
    return more > 0 ? 0 : -1;
}

static int end_page(samples *in, fault *f)
{
    if (!in->begun) return 0;
    const int64_t *roi = in->settings->roi;
    const char *name = input_name(in->reader->in);
    int64_t pixels;
    bool inside = !__builtin_mul_overflow(roi[2], roi[3], &pixels) && in->pixels_in_roi == pixels;
    if (in->settings->has_roi && !inside && !in->in_part) /* the size of pages is known if they are read in parts */
        return fault_set(f, EXIT_USAGE, "--roi reaches outside page %d of %s: choose a smaller one, or a --page",
                         in->page, name);
    if (in->mask.source && in->reader->bad + in->reader->missing + in->reader->ragged)
        return fault_set(f, EXIT_DATA, "%s has cells that are left out, so that --mask does not fit it any more: %s",
                         name, "correct them, or leave the mask out");
    return in->mask.source ? mask_end_page(&in->mask, in->height, f) : 0;
}

static void crop_view(histo_view *v, int64_t y, int64_t x, const int64_t shape[2])
{
    v->data = (const char *)v->data + y * v->strides[0] + x * v->strides[1];
    v->shape[0] = shape[0];
    v->shape[1] = shape[1];
}

/* Crop the band to the region of interest; false if nothing is left. */
static bool crop(const samples *in, band *b)
{
    const int64_t *roi = in->settings->roi;
    const choice *c = &in->choice;
    int64_t left = roi[0] > b->x ? roi[0] : b->x, top = roi[1] > b->y ? roi[1] : b->y;
    int64_t right = roi[0] + roi[2] < b->x + b->cols ? roi[0] + roi[2] : b->x + b->cols;
    int64_t bottom = roi[1] + roi[3] < b->y + b->rows ? roi[1] + roi[3] : b->y + b->rows;
    if (left >= right || top >= bottom) return false;
    for (int i = 0; i < c->total; i++) {
        const channel_step step = step_of(in, &c->sources[i]);
        const int64_t y = (top - b->y) / step.y, x = (left - b->x) / step.x;
        for (int k = 0; k < (c->sources[i].luma ? 3 : 1); k++) {
            const int64_t shape[] = {(bottom - b->y + step.y - 1) / step.y - y,
                                     (right - b->x + step.x - 1) / step.x - x};
            const int view = c->sources[i].view + k;
            crop_view(&b->views[view], y, x, shape);
            if (b->valid && b->valid[view].data) crop_view(&b->valid[view], y, x, shape);
        }
    }
    b->y = top;
    b->x = left;
    b->rows = bottom - top;
    b->cols = right - left;
    return true;
}

/* Whether the source is computed from its views: luma, times from numbers, or bins of words. */
static bool is_made(const choice *c, int i)
{
    if (c->sources[i].as.cycle) return true;
    const dictionary *words = i < c->count || i == c->by ? c->sources[i].as.words : NULL;
    return c->sources[i].luma || c->sources[i].as.epoch.units || (words && dictionary_is_frozen(words));
}

static int fault_beyond_years(const samples *in, const sample_source *s, double value, fault *f)
{
    const int64_t units = s->as.epoch.units;
    const char *unit = units == 1000000 ? "s" : units == 1000 ? "ms" : s->as.epoch.per == 1 ? "us" : "ns";
    char number[TEXT_NUMBER_BYTES];
    if (s->as.stated)
        return fault_set(
            f, EXIT_DATA, "%s%s%.100s: the time of number %s is not in the years 0 to 9999: count numbers with --raw",
            input_name(in->reader->in), s->name ? ", " : "", s->name ? s->name : "", text_exact(value, number));
    return fault_set(
        f, EXIT_DATA,
        "%s%s%.100s: %s %s after 1970 is not in the years 0 to 9999: give another unit, as in --time %.100s=%s",
        input_name(in->reader->in), s->name ? ", " : "", s->name ? s->name : "", text_exact(value, number), unit,
        s->name ? s->name : "0", units == 1000000 ? "ms" : "ns");
}

/* The epoch of a source's numbers. The units that files state are specific to each file; dates are read as
 * microseconds. */
static const time_epoch *epoch_of(const samples *in, const sample_source *s)
{
    static const time_epoch microseconds = {.units = 1, .per = 1};
    const time_epoch *stated = in->reader->epochs ? &in->reader->epochs[s->channel] : NULL;
    if (!s->as.stated) return &s->as.epoch;
    return stated && stated->units && !stated->span ? stated : &microseconds;
}

/* Size of a sample of a computed source. */
static size_t made_size(const sample_source *s)
{
    return s->as.epoch.units ? sizeof(double) : histo_dtype_size(s->dtype);
}

/* The positions of times in a cycle, which may overwrite the times; none for what is not a time. */
static histo_view places_of(const histo_view *times, time_cycle cycle, uint32_t *places)
{
    uint32_t *to = places;
    for (int64_t y = 0; y < times->shape[0]; y++)
        for (int64_t x = 0; x < times->shape[1]; x++) {
            const char *at = (const char *)times->data + y * times->strides[0] + x * times->strides[1];
            const double number = times->dtype == HISTO_F64 ? histo_sample_value(at, HISTO_F64) : 0;
            int64_t us = (int64_t)number;
            if (times->dtype == HISTO_I64) memcpy(&us, at, sizeof us);
            *to++ = isnan(number) ? UINT32_MAX : (uint32_t)cycle_place(cycle, us);
        }
    return histo_view_nd(places, HISTO_U32, 2, times->shape);
}

/* Make the sources' views from the band's. */
static int make_views(samples *in, const band *b, fault *f)
{
    const choice *c = &in->choice;
    size_t size = 0, used = 0;
    for (int i = 0; i < c->total; i++)
        if (is_made(c, i)) size += (size_t)(b->rows * b->cols) * made_size(&c->sources[i]);
    if (!scratch_reserve(&in->made, size)) return fault_memory(in, f);
    const int64_t shape[] = {b->rows, b->cols};
    for (int i = 0; i < c->total; i++) {
        const sample_source *s = &c->sources[i];
        in->views[i] = b->views[s->view];
        if (!is_made(c, i)) continue;
        if (s->luma) {
            luma_of(&b->views[s->view], in->made.data + used);
            in->views[i] = histo_view_nd(in->made.data + used, s->dtype, 2, shape);
        } else if (s->as.epoch.units) {
            const time_epoch *e = epoch_of(in, s);
            double beyond;
            if (!epoch_times(&b->views[s->view], b->valid ? &b->valid[s->view] : NULL, e,
                             (double *)(in->made.data + used), &beyond))
                return fault_beyond_years(in, s, beyond, f);
            if (!s->as.stated)
                epoch_to_zone((double *)(in->made.data + used),
                              b->views[s->view].shape[0] * b->views[s->view].shape[1]);
            in->views[i] = histo_view_nd(in->made.data + used, HISTO_F64, 2, b->views[s->view].shape);
            if (s->as.cycle) in->views[i] = places_of(&in->views[i], s->as.cycle, (uint32_t *)(in->made.data + used));
        } else if (s->as.cycle) {
            in->views[i] = places_of(&b->views[s->view], s->as.cycle, (uint32_t *)(in->made.data + used));
        } else {
            dictionary_to_bins(s->as.words, &b->views[s->view], (uint32_t *)(in->made.data + used));
            in->views[i] = histo_view_nd(in->made.data + used, s->dtype, 2, b->views[s->view].shape);
        }
        used += (size_t)(b->rows * b->cols) * made_size(s);
    }
    return 0;
}

/* ---- Missing values ---- */

/* Mark the positions of values to keep: those of source i or, if values belong together (-1), of all sources. Returns
 * how many. */
static int64_t mark(const samples *in, const band *b, int i, unsigned char *keep)
{
    const int first = i < 0 ? 0 : i, end = i < 0 ? in->choice.total : i + 1;
    const int64_t places = b->rows * b->cols;
    int64_t marked = 0;
    memset(keep, 1, (size_t)places);
    for (int k = first; k < end; k++) {
        const sample_source *s = &in->choice.sources[k];
        for (int v = 0; v < (s->luma ? 3 : 1); v++)
            missing_unmark(&b->valid[s->view + v], keep);
    }
    for (int64_t k = 0; k < places; k++)
        marked += keep[k];
    return marked;
}

static int fault_missing(const samples *in, const char *what, fault *f)
{
    return fault_set(f, EXIT_DATA, "%s has missing values, which cannot be left out %s%s", input_name(in->reader->in),
                     what, in->reader->kind->takes & TAKES_RAW ? ": count all with --raw" : "");
}

/* Leave missing values out: of each source; or of all if one is missing, where they belong together. */
static int leave_out_missing(samples *in, const band *b, fault *f)
{
    const choice *c = &in->choice;
    const size_t places = (size_t)(b->rows * b->cols);
    const bool paired = in->settings->read.paired;
    if (in->segments.offsets) return fault_missing(in, "of --segments", f);
    for (int i = 0; in->whole && i < c->total; i++)
        if (c->sources[i].dtype < HISTO_F16) return fault_missing(in, "here", f);
    if (in->whole) return 0;

    size_t size = 2 * places; /* marks and the mask */
    for (int i = 0; i < c->total; i++)
        size += places * histo_dtype_size(c->sources[i].dtype);
    if (!scratch_reserve(&in->compacted, size)) return fault_memory(in, f);
    unsigned char *keep = in->compacted.data + size - places;
    char *to = (char *)in->compacted.data;
    int64_t marked = paired ? mark(in, b, -1, keep) : 0;
    if (paired) in->missing += places - (uint64_t)marked;
    for (int i = 0; i < c->total; i++) {
        if (!paired) {
            marked = mark(in, b, i, keep);
            in->missing += places - (uint64_t)marked;
        }
        to = missing_compact(&in->views[i], keep, marked, to);
    }
    if (in->mask.source) missing_compact(&in->mask_view, keep, marked, to);
    return 0;
}

void samples_keep_missing(samples *in)
{
    in->whole = true;
}

/* Start a new page if the band belongs to one. */
static int turn_page(samples *in, const band *b, fault *f)
{
    if (in->begun && b->page == in->page) return 0;
    if (end_page(in, f) != 0) return -1;
    if (in->begun && in->mask.source && mask_rewind(&in->mask, f) != 0) return -1;
    in->begun = true;
    in->page = b->page;
    in->height = in->pixels_in_roi = 0;
    return 0;
}

/* Make a mask of what the mask and the conditions let pass, if these are more than one range. */
static int make_passed(samples *in, int64_t rows, int64_t cols, piece *p, fault *f)
{
    const choice *c = &in->choice;
    const size_t size = (size_t)(rows * cols);
    if (c->conditions_count == 0 || c->where != NO_SOURCE) return 0;
    if (!scratch_reserve(&in->passed, size)) return fault_memory(in, f);
    const int64_t shape[] = {rows, cols};
    in->passed_view = histo_view_nd(in->passed.data, HISTO_U8, 2, shape);
    for (int64_t y = 0; y < rows; y++)
        for (int64_t x = 0; x < cols; x++)
            in->passed.data[y * cols + x] =
                !p->mask || ((const unsigned char *)p->mask->data)[y * p->mask->strides[0] + x * p->mask->strides[1]];
    for (int i = 0; i < c->conditions_count; i++)
        condition_apply(&c->conditions[i], &in->views[c->conditions[i].source], in->passed.data);
    p->mask = &in->passed_view;
    return 0;
}

/* Flatten the views and find the beginnings of segments. */
static int cut_segments(samples *in, const band *b, piece *p, fault *f)
{
    if (b->page > 0 || b->cols != 1)
        return fault_set(f, EXIT_USAGE, "%s has rows and columns: --segments is for samples in one dimension",
                         input_name(in->reader->in));
    for (int i = 0; i < in->choice.total; i++)
        in->views[i].ndim = 1;
    in->mask_view.ndim = in->passed_view.ndim = 1;
    p->offsets = segments_next(&in->segments, b->rows);
    return 0;
}

int samples_next(samples *in, piece *p, fault *f)
{
    const settings *s = in->settings;
    const choice *c = &in->choice;
    band b;
    do {
        int more = in->reader->next(in->reader, &b, f);
        if (more < 0) return -1;
        if (more == 0 && end_page(in, f) != 0) return -1;
        if (more == 0) return in->segments.offsets ? segments_end(&in->segments, in->reader, f) : 0;
        if (turn_page(in, &b, f) != 0) return -1;
        if (b.y + b.rows > in->height) in->height = b.y + b.rows;
    } while (s->has_roi && !crop(in, &b));
    in->pixels_in_roi += b.rows * b.cols;
    if (make_views(in, &b, f) != 0) return -1;
    if (in->mask.source && mask_view(&in->mask, b.y, b.x, b.rows, b.cols, &in->mask_view, f) != 0) return -1;
    if (b.valid && leave_out_missing(in, &b, f) != 0) return -1;
    const int64_t page_width = in->reader->width >= 0 ? in->reader->width : b.cols;
    const int64_t width = in->reader->steps ? in->views[0].shape[1] : s->has_roi ? s->roi[2] : page_width;
    *p = (piece){.page = b.page,
                 .y = s->has_roi ? b.y - s->roi[1] : b.y,
                 .x = s->has_roi ? b.x - s->roi[0] : b.x,
                 .width = width,
                 .views = in->views,
                 .weights = c->weights == NO_SOURCE ? NULL : &in->views[c->weights],
                 .mask = in->mask.source ? &in->mask_view : NULL,
                 .where = c->where == NO_SOURCE ? NULL : &in->views[c->where],
                 .by = c->by == NO_SOURCE ? NULL : &in->views[c->by],
                 .filters_itself = s->has_where,
                 .where_lo = s->has_where ? s->where[0] : c->where_range[0],
                 .where_hi = s->has_where ? s->where[1] : c->where_range[1]};
    if (make_passed(in, in->views[0].shape[0], in->views[0].shape[1], p, f) != 0) return -1;
    if (in->segments.offsets && cut_segments(in, &b, p, f) != 0) return -1;
    const int64_t unit = samples_units(in) > 1 ? in->reader->unit(in->reader) : -1;
    in->at =
        unit < 0 ? (samples_place){.unit = in->at.unit, .pieces = in->at.pieces + 1} : (samples_place){.unit = unit};
    return 1;
}

/* The note about the file, or else about a column that is read. */
static const char *note_of(const samples *in)
{
    const reader *from = in->reader;
    const char *note = from->note;
    for (int i = 0; i < in->choice.total && from->column_notes && !note; i++)
        note = from->column_notes[in->choice.sources[i].channel];
    return note;
}

leftovers samples_leftovers(const samples *in)
{
    const reader *from = in->reader;
    return (leftovers){.bad = from->bad,
                       .missing = from->missing + in->missing,
                       .ragged = from->ragged,
                       .pages_in_file = from->pages_in_file,
                       .copies = from->copies,
                       .first_only = from->first_only,
                       .comments = from->comments,
                       .note = note_of(in)};
}

void remark_ragged(const char *name, uint64_t rows, const settings *s)
{
    if (rows && !s->quiet)
        note("%s: skipped %" PRIu64 " row%s with another number of cells than the first", name, rows,
             rows == 1 ? "" : "s");
}

void leftovers_remark(const leftovers *l, const char *name, const settings *s)
{
    const char *plural = l->bad == 1 ? "" : "s";
    const bool any = l->bad || l->missing || l->ragged || l->pages_in_file || l->copies || l->comments || l->note;
    if (s->quiet || !any) return;
    const bool rows = s->read.paired;
    if (l->comments)
        note("%s: left out %" PRId64 " line%s before the first row, with #: --comment none counts %s", name,
             l->comments, l->comments == 1 ? "" : "s", l->comments == 1 ? "it" : "them");
    if (l->note) note("%s: %s", name, l->note);
    if (l->missing)
        note("%s: left out %" PRIu64 " %s%s%s", name, l->missing, rows ? "row" : "missing value",
             l->missing == 1 ? "" : "s", rows ? " with a missing value" : "");
    if (l->bad && s->read.paired)
        note("%s: skipped %" PRIu64 " row%s with a cell that is not a number", name, l->bad, plural);
    else if (l->bad)
        note("%s: skipped %" PRIu64 " cell%s that %s", name, l->bad, plural,
             l->bad == 1 ? "is not a number" : "are not numbers");
    remark_ragged(name, l->ragged, s);
    if (l->copies)
        note("%s: the largest image, without %" PRId64 " smaller cop%s and preview%s: --page N chooses another", name,
             l->copies, l->copies == 1 ? "y" : "ies", l->copies == 1 ? "" : "s");
    if (l->first_only)
        note("%s: image 0 of %" PRId64 ": the others, frames or views, are not read", name, l->pages_in_file);
    else if (l->pages_in_file > 0)
        note("%s: page 0 of %" PRId64 ": --page all counts every page", name, l->pages_in_file);
    else if (l->pages_in_file < 0)
        note("%s: page 0 of several: --page all counts every page", name);
}

void samples_remark(const samples *in)
{
    const leftovers l = samples_leftovers(in);
    leftovers_remark(&l, input_name(in->reader->in), in->settings);
}

histo_fill_options piece_filter(const piece *p, int i)
{
    const histo_view *where = p->filters_itself ? &p->views[i] : p->where;
    histo_fill_options filter = {.mask = p->mask};
    if (where) filter_set_range(&filter, where, p->where_lo, p->where_hi);
    return filter;
}

histo_fill_options piece_fill(const piece *p, int i)
{
    histo_fill_options fill = piece_filter(p, i);
    fill.weights = p->weights;
    fill.offsets = p->offsets;
    return fill;
}

int64_t samples_position(const samples *in)
{
    const reader *r = in->reader;
    return r->position ? r->position(r) : input_position(r->in);
}

void samples_start(samples *in)
{
    if (in->reader->start) in->reader->start(in->reader);
}

int samples_reform(samples *in, fault *f)
{
    return choice_reform(&in->choice, in->reader, in->forms, f);
}
