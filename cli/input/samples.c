#include "input/samples.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/progress.h"
#include "input/luma.h"
#include "input/mask.h"
#include "input/segments.h"

struct samples {
    const settings *settings;
    reader *reader;
    choice choice;
    mask *mask;
    segments *segments; /* or NULL */
    histo_view *views;  /* [choice.total] */
    histo_view mask_view;
    unsigned char *luma; /* of the current piece, source after source */
    size_t luma_size;
    bool begun;
    int page;              /* current page */
    int64_t height;        /* its rows so far */
    int64_t pixels_in_roi; /* its pixels in the region so far */
};

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

/* Sources that belong together have a sample for each other's samples. */
static int check_steps(const samples *in, fault *f)
{
    const choice *c = &in->choice;
    const channel_step first = step_of(in, &c->sources[0]);
    bool equal = !in->mask || (first.x == 1 && first.y == 1);
    for (int i = 1; i < c->total && equal; i++) {
        const channel_step step = step_of(in, &c->sources[i]);
        equal = step.x == first.x && step.y == first.y;
    }
    if (equal || !(c->joint || c->weights != NO_SOURCE || c->where != NO_SOURCE || in->mask)) return 0;
    return fault_set(f, EXIT_USAGE,
                     "%s has fewer samples of chroma than pixels, and --joint, --weights, --where and --mask need one "
                     "for each: choose luma with --channel y, or convert it with ffmpeg -pix_fmt yuv444p",
                     input_name(in->reader->in));
}

static int begin(samples *in, const char *path, bool keep, fault *f)
{
    const settings *s = in->settings;
    in->reader = reader_open(path, &s->read, keep, f);
    if (!in->reader || choice_make(&in->choice, in->reader, s, f) != 0) return -1;
    if (s->has_roi && check_roi(in, f) != 0) return -1;
    if (s->mask && !(in->mask = mask_open(s->mask, in->reader, f))) return -1;
    if (check_steps(in, f) != 0) return -1;
    if (s->segments && !(in->segments = segments_open(s->segments, f))) return -1;
    in->views = malloc((size_t)in->choice.total * sizeof *in->views);
    return in->views ? 0 : fault_set(f, EXIT_DATA, "no memory to read %s", path);
}

samples *samples_open(const char *path, const settings *s, bool keep, fault *f)
{
    samples *in = calloc(1, sizeof *in);
    if (!in) {
        fault_set(f, EXIT_DATA, "no memory to read %s", path);
        return NULL;
    }
    in->settings = s;
    if (begin(in, path, keep, f) == 0) return in;
    samples_close(in);
    return NULL;
}

void samples_close(samples *in)
{
    if (!in) return;
    mask_close(in->mask);
    segments_close(in->segments);
    choice_free(&in->choice);
    if (in->reader) in->reader->close(in->reader);
    free(in->views);
    free(in->luma);
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
    return in->segments ? segments_count(in->segments) : 1;
}

int samples_rewind(samples *in, fault *f)
{
    in->begun = false;
    if (in->segments) segments_rewind(in->segments);
    if (in->mask && mask_rewind(in->mask, f) != 0) return -1;
    return in->reader->rewind(in->reader, f);
}

static int end_page(samples *in, fault *f)
{
    if (!in->begun) return 0;
    const int64_t *roi = in->settings->roi;
    const char *name = input_name(in->reader->in);
    int64_t pixels;
    bool inside = !__builtin_mul_overflow(roi[2], roi[3], &pixels) && in->pixels_in_roi == pixels;
    if (in->settings->has_roi && !inside)
        return fault_set(f, EXIT_USAGE, "--roi reaches outside page %d of %s: choose a smaller one, or a --page",
                         in->page, name);
    if (in->mask && in->reader->bad)
        return fault_set(f, EXIT_DATA,
                         "%s has cells left out by --skip-bad, so that --mask does not fit it any more: %s", name,
                         "correct them, or leave one of the two out");
    return in->mask ? mask_end_page(in->mask, in->height, f) : 0;
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
            histo_view *v = &b->views[c->sources[i].view + k];
            v->data = (const char *)v->data + y * v->strides[0] + x * v->strides[1];
            v->shape[0] = (bottom - b->y + step.y - 1) / step.y - y;
            v->shape[1] = (right - b->x + step.x - 1) / step.x - x;
        }
    }
    b->y = top;
    b->x = left;
    b->rows = bottom - top;
    b->cols = right - left;
    return true;
}

/* Make the sources' views from the band's. */
static int make_views(samples *in, const band *b, fault *f)
{
    const choice *c = &in->choice;
    size_t size = 0, used = 0;
    for (int i = 0; i < c->total; i++)
        if (c->sources[i].luma) size += (size_t)(b->rows * b->cols) * histo_dtype_size(c->sources[i].dtype);
    if (size > in->luma_size) {
        free(in->luma);
        in->luma_size = 0;
        in->luma = malloc(size);
        if (!in->luma) return fault_set(f, EXIT_DATA, "no memory to read %s", input_name(in->reader->in));
        in->luma_size = size;
    }
    const int64_t shape[] = {b->rows, b->cols};
    for (int i = 0; i < c->total; i++) {
        const sample_source *s = &c->sources[i];
        if (!s->luma) {
            in->views[i] = b->views[s->view];
            continue;
        }
        luma_of(&b->views[s->view], in->luma + used);
        in->views[i] = histo_view_nd(in->luma + used, s->dtype, 2, shape);
        used += (size_t)(b->rows * b->cols) * histo_dtype_size(s->dtype);
    }
    return 0;
}

/* Start a new page if the band is on one. */
static int turn_page(samples *in, const band *b, fault *f)
{
    if (in->begun && b->page == in->page) return 0;
    if (end_page(in, f) != 0) return -1;
    if (in->begun && in->mask && mask_rewind(in->mask, f) != 0) return -1;
    in->begun = true;
    in->page = b->page;
    in->height = in->pixels_in_roi = 0;
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
    in->mask_view.ndim = 1;
    p->offsets = segments_next(in->segments, b->rows);
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
        if (more == 0) return in->segments ? segments_end(in->segments, in->reader, f) : 0;
        if (turn_page(in, &b, f) != 0) return -1;
        if (b.y + b.rows > in->height) in->height = b.y + b.rows;
    } while (s->has_roi && !crop(in, &b));
    in->pixels_in_roi += b.rows * b.cols;
    if (make_views(in, &b, f) != 0) return -1;
    if (in->mask && mask_view(in->mask, b.y, b.x, b.rows, b.cols, &in->mask_view, f) != 0) return -1;
    const int64_t page_width = in->reader->width >= 0 ? in->reader->width : b.cols;
    const int64_t width = in->reader->steps ? in->views[0].shape[1] : s->has_roi ? s->roi[2] : page_width;
    *p = (piece){.page = b.page,
                 .y = s->has_roi ? b.y - s->roi[1] : b.y,
                 .x = s->has_roi ? b.x - s->roi[0] : b.x,
                 .width = width,
                 .views = in->views,
                 .weights = c->weights == NO_SOURCE ? NULL : &in->views[c->weights],
                 .mask = in->mask ? &in->mask_view : NULL,
                 .where = c->where == NO_SOURCE ? NULL : &in->views[c->where],
                 .filters_itself = s->has_where && c->where == NO_SOURCE,
                 .where_lo = s->where[0],
                 .where_hi = s->where[1]};
    if (in->segments && cut_segments(in, &b, p, f) != 0) return -1;
    return 1;
}

void samples_remark(const samples *in)
{
    const reader *from = in->reader;
    const char *name = input_name(from->in), *plural = from->bad == 1 ? "" : "s";
    if (in->settings->quiet || (!from->bad && !from->pages_in_file)) return;
    progress_end();
    if (from->bad && in->settings->read.paired)
        fprintf(stderr, "histo: %s: skipped %" PRIu64 " row%s with a cell that is not a number\n", name, from->bad,
                plural);
    else if (from->bad)
        fprintf(stderr, "histo: %s: skipped %" PRIu64 " cell%s that %s\n", name, from->bad, plural,
                from->bad == 1 ? "is not a number" : "are not numbers");
    if (from->pages_in_file > 0)
        fprintf(stderr, "histo: %s: page 0 of %" PRId64 ": --page all counts every page\n", name, from->pages_in_file);
    else if (from->pages_in_file < 0)
        fprintf(stderr, "histo: %s: page 0 of several: --page all counts every page\n", name);
}

histo_fill_options piece_fill(const piece *p, int i)
{
    return (histo_fill_options){.weights = p->weights,
                                .mask = p->mask,
                                .where = p->filters_itself ? &p->views[i] : p->where,
                                .where_lo = p->where_lo,
                                .where_hi = p->where_hi,
                                .offsets = p->offsets,
                                .pairs = p->pairs,
                                .relative = p->relative};
}

/* ---- The files of a run. A file is open only while being read, so that their number is unlimited; standard input and
 * pipes, once spooled to a temporary file, stay open until the end. ---- */

int feed_open(feed *in, const settings *s, bool keep, fault *f)
{
    int count = s->files_count ? s->files_count : 1;
    *in = (feed){.settings = s, .keep = keep, .files = calloc((size_t)count, sizeof *in->files)};
    if (!in->files) return fault_set(f, EXIT_DATA, "no memory for %d files", count);
    in->count = count;
    for (int i = 0; i < count; i++)
        in->files[i].path = s->files_count ? s->files[i] : "-";
    return 0;
}

void feed_close(feed *in)
{
    for (int i = 0; i < in->count; i++)
        samples_close(in->files[i].open);
    free(in->files);
    *in = (feed){0};
}

const char *feed_name(const feed *in, int i)
{
    return strcmp(in->files[i].path, "-") == 0 ? "standard input" : in->files[i].path;
}

samples *feed_begin(feed *in, int i, fault *f)
{
    feed_file *file = &in->files[i];
    if (!file->open) {
        file->open = samples_open(file->path, in->settings, in->keep, f);
        if (!file->open) return NULL;
        if (in->settings->verbose && input_was_spooled(samples_reader(file->open)->in))
            fprintf(stderr, "histo: %s is read more than once, and was copied to a temporary file\n", feed_name(in, i));
    } else if (file->used && samples_rewind(file->open, f) != 0) {
        return NULL;
    }
    file->used = false;
    return file->open;
}

void feed_end(feed *in, int i)
{
    feed_file *file = &in->files[i];
    bool once = strcmp(file->path, "-") == 0 || input_was_spooled(samples_reader(file->open)->in);
    if (once || in->count == 1) return;
    samples_close(file->open);
    file->open = NULL;
}

static int visit_file(feed *in, int i, const feed_visitor *visitor, fault *f)
{
    samples *file = feed_begin(in, i, f);
    if (!file || (visitor->enter && visitor->enter(visitor->self, i, file, f) != 0)) return -1;
    const input *bytes = samples_reader(file)->in;
    char label[256];
    snprintf(label, sizeof label, "%s %.200s", visitor->verb, feed_name(in, i));
    progress_start(label, in->settings->quiet);
    in->files[i].used = true;
    piece p;
    int more;
    while ((more = samples_next(file, &p, f)) > 0) {
        if (visitor->take(visitor->self, i, &p, f) != 0) return -1;
        progress_update(input_position(bytes), input_size(bytes));
    }
    if (more < 0 || (visitor->leave && visitor->leave(visitor->self, i, file, f) != 0)) return -1;
    feed_end(in, i);
    return 0;
}

int feed_visit(feed *in, const feed_visitor *visitor, fault *f)
{
    int failed = 0;
    for (int i = 0; i < in->count && !failed; i++)
        failed = visit_file(in, i, visitor, f);
    progress_end();
    return failed;
}
