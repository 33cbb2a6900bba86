/* Three layers: the reader's bands; rows, assembled from blocks (tiles, columns, rows from the bottom up); and what is
 * kept of them in memory. */
#include "apply/pages.h"

#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "input/samples/alpha.h"

enum { MOST_KEPT = 1 << 30 };

/* A page in memory: contiguous rows of all channels. */
typedef struct cached_page {
    int page;
    int64_t height, width, filled; /* number of rows */
    unsigned char *rows;
    unsigned char *marks; /* for each sample, 0 if it is missing; NULL: none is */
    metadata *about;
} cached_page;

/* Assembles blocks into rows. */
typedef struct assembly {
    unsigned char *rows;
    size_t room;
    int64_t y, height; /* of the rows; 0: none */
    int64_t pixels;    /* number so far */
    unsigned char *marks;
    size_t marks_room, marked; /* samples that have marks; 0: none is missing */
} assembly;

/* Slices of an array of three or more dimensions, which its reader delivers as consecutive samples. */
typedef struct folding {
    int64_t count; /* number of slices; 0: not folded */
    int64_t at;    /* the next sample */
    const char *run;
    const unsigned char *marks; /* of the run; NULL: none is missing */
    int64_t left;               /* samples left in the run */
} folding;

struct pages {
    reader *reader;
    folding fold;
    bool each;
    bool keeps;   /* what is read is kept in memory */
    bool replays; /* everything is in memory */
    size_t cached_bytes;
    int count, at; /* number of pages in memory, the next one to deliver */
    cached_page *cached;
    size_t pixel_bytes;
    histo_view *views; /* [channels] */
    histo_view *valid; /* [channels] */
    assembly parts;
    int page;  /* of the last band; -1: none */
    int64_t y; /* the next row of its page */
    int64_t height, width;
    metadata *about;
    bool ended;
};

static int fault_memory(const pages *p, fault *f)
{
    return fault_set(f, EXIT_DATA, "no memory to read %s", input_name(p->reader->in));
}

void pages_each(pages *p)
{
    p->each = p->each || pages_count(p) != 1;
    p->keeps = p->keeps || p->each;
}

int64_t pages_count(const pages *p)
{
    return p->fold.count ? p->fold.count : p->reader->pages;
}

bool pages_are_units(const pages *p)
{
    return p->each;
}

const reader *pages_reader(const pages *p)
{
    return p->reader;
}

y4m *pages_video(const pages *p)
{
    return p->reader->video;
}

int64_t pages_height(const pages *p)
{
    return p->height;
}

int64_t pages_width(const pages *p)
{
    return p->width;
}

metadata *pages_about(const pages *p)
{
    return p->about;
}

/* ---- Rows ---- */

/* Whether the band's rows are contiguous, with all channels. */
static bool is_plain(const band *b, int channels)
{
    const int64_t size = (int64_t)histo_dtype_size(b->views[0].dtype), pixel = size * channels;
    for (int c = 0; c < channels; c++) {
        const histo_view *v = &b->views[c];
        if (v->data != (const char *)b->views[0].data + c * size || v->strides[1] != pixel ||
            v->strides[0] != pixel * b->cols)
            return false;
    }
    return true;
}

void pages_interleave(const band *b, int channels, unsigned char *out, size_t pitch)
{
    const size_t size = histo_dtype_size(b->views[0].dtype), pixel = size * (size_t)channels;
    if (is_plain(b, channels) && pitch == pixel * (size_t)b->cols) {
        memcpy(out, b->views[0].data, pitch * (size_t)b->rows);
        return;
    }
    for (int64_t y = 0; y < b->rows; y++)
        for (int c = 0; c < channels; c++) {
            const histo_view *v = &b->views[c];
            const char *from = (const char *)v->data + y * v->strides[0];
            unsigned char *to = out + (size_t)y * pitch + (size_t)c * size;
            for (int64_t x = 0; x < b->cols; x++, to += pixel, from += v->strides[1])
                memcpy(to, from, size);
        }
}

/* Copy the marks of a band, with `pitch` samples per row. */
static void interleave_marks(const band *b, int channels, unsigned char *out, size_t pitch)
{
    for (int64_t y = 0; y < b->rows; y++)
        for (int c = 0; c < channels; c++) {
            const histo_view *v = b->valid && b->valid[c].data ? &b->valid[c] : NULL;
            const unsigned char *from = v ? (const unsigned char *)v->data + y * v->strides[0] : NULL;
            unsigned char *to = out + (size_t)y * pitch + (size_t)c;
            for (int64_t x = 0; x < b->cols; x++, to += channels)
                *to = !v || from[x * v->strides[1]];
        }
}

/* Make room for marks of all rows of the assembly, in case earlier blocks had none. */
static int reserve_marks(pages *p, fault *f)
{
    assembly *parts = &p->parts;
    const size_t samples = (size_t)(parts->height * p->width) * (size_t)p->reader->channels;
    if (samples > parts->marks_room) {
        unsigned char *marks = realloc(parts->marks, samples);
        if (!marks) return fault_memory(p, f);
        parts->marks = marks;
        parts->marks_room = samples;
    }
    if (samples > parts->marked) memset(parts->marks + parts->marked, 1, samples - parts->marked);
    parts->marked = samples;
    return 0;
}

static int copy_block(pages *p, const band *b, fault *f)
{
    const size_t pitch = (size_t)p->width * p->pixel_bytes, channels = (size_t)p->reader->channels;
    const size_t pixel = (size_t)((b->y - p->parts.y) * p->width + b->x);
    pages_interleave(b, p->reader->channels, p->parts.rows + pixel * p->pixel_bytes, pitch);
    if (!b->valid && !p->parts.marked) return 0;
    if (reserve_marks(p, f) != 0) return -1;
    interleave_marks(b, p->reader->channels, p->parts.marks + pixel * channels, (size_t)p->width * channels);
    return 0;
}

/* Make room for rows [y, y + height), the first of which may be there already. */
static int make_room(pages *p, int64_t y, int64_t height, fault *f)
{
    assembly *parts = &p->parts;
    int64_t bytes;
    if (__builtin_mul_overflow(height, p->width, &bytes) ||
        __builtin_mul_overflow(bytes, (int64_t)p->pixel_bytes, &bytes))
        return fault_memory(p, f);
    parts->y = y;
    parts->height = height;
    if ((size_t)bytes <= parts->room) return 0;
    if (fault_beyond_memory(f, (double)((size_t)bytes - parts->room), input_name(p->reader->in),
                            "save it by rows, from the top down") != 0)
        return -1;
    unsigned char *rows = realloc(parts->rows, (size_t)bytes);
    if (!rows) return fault_memory(p, f);
    parts->rows = rows;
    parts->room = (size_t)bytes;
    return 0;
}

static void begin_page(pages *p, const band *b)
{
    const reader *r = p->reader;
    metadata_release(p->about);
    p->about = metadata_share(r->about);
    p->page = b->page;
    p->y = 0;
    p->height = r->about && r->about->height ? r->about->height : r->height;
    p->width = r->about && r->about->width ? r->about->width : r->width;
}

static void view_rows(pages *p, const unsigned char *rows, int64_t height)
{
    const reader *r = p->reader;
    const int64_t size = (int64_t)p->pixel_bytes / r->channels;
    for (int c = 0; c < r->channels; c++)
        p->views[c] = (histo_view){.data = rows + c * size,
                                   .dtype = r->dtypes[0],
                                   .ndim = 2,
                                   .shape = {height, p->width},
                                   .strides = {(int64_t)p->pixel_bytes * p->width, (int64_t)p->pixel_bytes}};
}

/* A view of the marks of interleaved samples; NULL stays NULL. */
static histo_view *view_marks(pages *p, const unsigned char *marks, int64_t height)
{
    const int64_t channels = p->reader->channels;
    for (int c = 0; c < channels && marks; c++)
        p->valid[c] = (histo_view){.data = marks + c,
                                   .dtype = HISTO_U8,
                                   .ndim = 2,
                                   .shape = {height, p->width},
                                   .strides = {channels * p->width, channels}};
    return marks ? p->valid : NULL;
}

/* The next run of samples: 1, 0 at the end, or -1. */
static int read_run(pages *p, fault *f)
{
    folding *fold = &p->fold;
    band b;
    const int more = p->reader->next(p->reader, &b, f);
    if (more < 1) return more;
    fold->run = b.views[0].data;
    fold->marks = b.valid ? b.valid[0].data : NULL; /* contiguous, since the run is */
    fold->left = b.rows;
    return 1;
}

static void advance(folding *fold, int64_t n, size_t size)
{
    fold->run += (size_t)n * size;
    if (fold->marks) fold->marks += n;
    fold->left -= n;
}

/* Gather a row from parts of runs. */
static int gather_row(pages *p, fault *f)
{
    folding *fold = &p->fold;
    const size_t size = p->pixel_bytes;
    if (make_room(p, 0, 1, f) != 0) return -1;
    p->parts.marked = 0;
    for (int64_t filled = 0; filled < p->width;) {
        if (fold->left == 0 && read_run(p, f) < 1) return -1;
        const int64_t n = fold->left < p->width - filled ? fold->left : p->width - filled;
        memcpy(p->parts.rows + (size_t)filled * size, fold->run, (size_t)n * size);
        if (fold->marks && reserve_marks(p, f) != 0) return -1;
        if (fold->marks) memcpy(p->parts.marks + filled, fold->marks, (size_t)n);
        advance(fold, n, size);
        filled += n;
    }
    return 0;
}

/* Deliver rows of slices. */
static int fold_rows(pages *p, band *b, fault *f)
{
    folding *fold = &p->fold;
    if (fold->left == 0) {
        const int more = read_run(p, f);
        if (more < 1) return more;
    }
    p->page = (int)(fold->at / (p->height * p->width));
    p->y = fold->at / p->width % p->height;
    *b = (band){.page = p->page, .y = p->y, .rows = 1, .cols = p->width, .views = p->views};
    const unsigned char *rows = (const unsigned char *)fold->run, *marks = fold->marks;
    if (fold->left >= p->width) {
        const int64_t whole = fold->left / p->width, below = p->height - p->y;
        b->rows = whole < below ? whole : below;
        advance(fold, b->rows * p->width, p->pixel_bytes);
    } else if (gather_row(p, f) != 0) {
        return -1;
    } else {
        rows = p->parts.rows;
        marks = p->parts.marked ? p->parts.marks : NULL;
    }
    fold->at += b->rows * p->width;
    view_rows(p, rows, b->rows);
    b->valid = view_marks(p, marks, b->rows);
    return 1;
}

static bool is_whole(const pages *p, const band *b)
{
    return b->y == p->y && b->x == 0 && b->cols == p->width;
}

/* Collect blocks until rows are complete: those of the first block, if it is the leftmost of the next rows, else
 * all. */
static int assemble(pages *p, band *b, fault *f)
{
    assembly *parts = &p->parts;
    const bool follows = b->y == p->y && b->x == 0;
    parts->pixels = 0;
    parts->marked = 0;
    if (make_room(p, follows ? b->y : 0, follows ? b->rows : p->height, f) != 0) return -1;
    for (;;) {
        if ((b->y < parts->y || b->y + b->rows > parts->y + parts->height) &&
            make_room(p, parts->y, p->height - parts->y, f) != 0)
            return -1;
        if (copy_block(p, b, f) != 0) return -1;
        parts->pixels += b->rows * b->cols;
        if (parts->pixels == parts->height * p->width) break;
        int more = p->reader->next(p->reader, b, f);
        if (more < 0) return -1;
        if (more == 0 || b->page != p->page)
            return fault_set(f, EXIT_DATA, "%s ends within a page", input_name(p->reader->in));
    }
    *b = (band){.page = p->page, .y = parts->y, .rows = parts->height, .cols = p->width, .views = p->views};
    b->valid = view_marks(p, parts->marked ? parts->marks : NULL, parts->height);
    return 1;
}

/* Whether colours are premultiplied by alpha, and of a type that can be divided. */
static bool is_premultiplied(const pages *p)
{
    const reader *r = p->reader;
    return p->about && p->about->premultiplied && (r->model == CHANNELS_RGBA || r->model == CHANNELS_GRAY_ALPHA) &&
           r->channels == (r->model == CHANNELS_RGBA ? 4 : 2) && alpha_divides(r->dtypes[0]);
}

/* Deliver colours divided by alpha, in rows of our own. */
static int divide_alpha(pages *p, band *b, fault *f)
{
    const reader *r = p->reader;
    if (b->views != p->views) {
        if (make_room(p, b->y, b->rows, f) != 0) return -1;
        pages_interleave(b, r->channels, p->parts.rows, (size_t)p->width * p->pixel_bytes);
        view_rows(p, p->parts.rows, b->rows);
        b->views = p->views;
    }
    alpha_divide(p->parts.rows, b->rows * p->width, r->channels, r->dtypes[0], p->about->largest);
    return 0;
}

/* Read whole rows from the reader. */
static int read_rows(pages *p, band *b, fault *f)
{
    if (p->fold.count) return fold_rows(p, b, f);
    int more = p->reader->next(p->reader, b, f);
    if (more < 1) return more;
    if (b->page != p->page) begin_page(p, b);
    if (!is_whole(p, b)) {
        if (assemble(p, b, f) < 0) return -1;
        view_rows(p, p->parts.rows, b->rows);
    }
    p->y = b->y + b->rows;
    if (is_premultiplied(p) && divide_alpha(p, b, f) != 0) return -1;
    return 1;
}

/* ---- Cached pages ---- */

static void forget(pages *p)
{
    for (int i = 0; i < p->count; i++) {
        free(p->cached[i].rows);
        free(p->cached[i].marks);
        metadata_release(p->cached[i].about);
    }
    p->count = p->at = 0;
    p->cached_bytes = 0;
}

static size_t cache_limit(void)
{
    const size_t room = histo_memory_available() / 4;
    return room < MOST_KEPT ? room : MOST_KEPT;
}

static int begin_kept(pages *p, fault *f)
{
    int64_t bytes;
    if (__builtin_mul_overflow(p->height, p->width, &bytes) ||
        __builtin_mul_overflow(bytes, (int64_t)p->pixel_bytes, &bytes))
        return fault_memory(p, f);
    if (!p->each && (size_t)bytes + p->cached_bytes > cache_limit()) {
        forget(p);
        p->keeps = false;
        return 0;
    }
    if (fault_beyond_memory(f, (double)bytes, input_name(p->reader->in), "take its pages together") != 0) return -1;
    cached_page *cached = realloc(p->cached, (size_t)(p->count + 1) * sizeof *cached);
    if (!cached) return fault_memory(p, f);
    p->cached = cached;
    cached[p->count] = (cached_page){.page = p->page,
                                     .height = p->height,
                                     .width = p->width,
                                     .rows = malloc((size_t)bytes),
                                     .about = metadata_share(p->about)};
    p->cached_bytes += (size_t)bytes;
    return cached[p->count++].rows ? 0 : fault_memory(p, f);
}

static int keep_band(pages *p, const band *b, fault *f)
{
    if (b->y == 0 && begin_kept(p, f) != 0) return -1;
    if (!p->keeps) return 0;
    cached_page *to = &p->cached[p->count - 1];
    const size_t pitch = (size_t)p->width * p->pixel_bytes;
    pages_interleave(b, p->reader->channels, to->rows + (size_t)b->y * pitch, pitch);
    const size_t channels = (size_t)p->reader->channels, row = (size_t)p->width * channels;
    if (b->valid && !to->marks) {
        if (!(to->marks = malloc(row * (size_t)to->height))) return fault_memory(p, f);
        memset(to->marks, 1, row * (size_t)to->height);
    }
    if (to->marks) interleave_marks(b, p->reader->channels, to->marks + (size_t)b->y * row, row);
    to->filled = b->y + b->rows;
    return 0;
}

static int replay(pages *p, band *b)
{
    if (p->at == p->count) return 0;
    const cached_page *from = &p->cached[p->at++];
    metadata_release(p->about);
    p->about = metadata_share(from->about);
    p->page = from->page;
    p->height = from->height;
    p->width = from->width;
    view_rows(p, from->rows, from->height);
    *b = (band){.page = from->page, .rows = from->height, .cols = from->width, .views = p->views};
    b->valid = view_marks(p, from->marks, from->height);
    return 1;
}

/* ---- Units ---- */

/* Load the next page into memory. */
static int load_page(pages *p, fault *f)
{
    band b;
    forget(p);
    do {
        int more = read_rows(p, &b, f);
        if (more < 0) return -1;
        if (more == 0 && p->count == 0) return 0;
        if (more == 0) return fault_set(f, EXIT_DATA, "%s ends within a page", input_name(p->reader->in));
        if (keep_band(p, &b, f) != 0) return -1;
    } while (p->cached[0].filled < p->cached[0].height);
    p->replays = true;
    return 1;
}

int pages_unit(pages *p, fault *f)
{
    if (p->each) return load_page(p, f);
    if (p->ended) return 0;
    p->ended = true;
    return 1;
}

int pages_again(pages *p, fault *f)
{
    p->at = 0;
    p->page = -1;
    if (p->replays) return 0;
    if (p->keeps && p->count > 0) {
        p->replays = true;
        return 0;
    }
    p->fold.at = p->fold.left = 0;
    return p->reader->rewind(p->reader, f);
}

int pages_next(pages *p, band *b, fault *f)
{
    if (p->replays) return replay(p, b);
    int more = read_rows(p, b, f);
    return more == 1 && p->keeps && keep_band(p, b, f) != 0 ? -1 : more;
}

/* ---- Opening ---- */

void pages_fold(pages *p)
{
    const metadata *m = p->about;
    if (!m || m->ndim < 3 || m->fortran || p->reader->channels != 1 || p->width != 1) return;
    const int64_t height = m->shape[m->ndim - 2], width = m->shape[m->ndim - 1];
    if (height < 1 || width < 1 || p->height < 1) return;
    p->fold.count = p->height / (height * width);
    p->height = height;
    p->width = width;
}

static bool is_cheap(const reader *r)
{
    static const char *const cheap[] = {"pnm", "npy", "raw", "tiff"};
    for (size_t i = 0; i < sizeof cheap / sizeof *cheap; i++)
        if (strcmp(r->kind->name, cheap[i]) == 0) return input_data_size(r->in) >= 0;
    return false;
}

static int begin(pages *p, fault *f)
{
    reader *r = p->reader;
    const char *name = input_name(r->in);
    p->height = r->height;
    p->width = r->width;
    if (r->video) return 0;
    int *all = malloc((size_t)r->channels * sizeof *all);
    p->views = calloc((size_t)r->channels, sizeof *p->views);
    p->valid = calloc((size_t)r->channels, sizeof *p->valid);
    if (!all || !p->views || !p->valid) {
        free(all);
        return fault_memory(p, f);
    }
    for (int c = 0; c < r->channels; c++)
        all[c] = c;
    int failed = reader_select(r, all, NULL, r->channels, f);
    free(all);
    if (failed) return -1;
    p->about = metadata_share(r->about);
    p->height = r->about && r->about->height ? r->about->height : r->height;
    p->width = r->about && r->about->width ? r->about->width : r->width;
    p->pixel_bytes = (size_t)r->channels * histo_dtype_size(r->dtypes[0]);
    const bool compressed = r->about && r->about->compression > 1;
    p->keeps = p->each || !is_cheap(r) || compressed;
    const bool image = (r->kind->takes & TAKES_PAGES) && p->width != 1; /* whose channels may have names */
    if (r->steps)
        return fault_set(f, EXIT_DATA, "%s has channels with fewer samples than pixels: save it as RGB", name);
    if ((r->names && !image) || r->numeric || p->height < 0 || p->width < 0)
        return fault_set(f, EXIT_DATA, "%s is text or a table, not an image or an array: save its numbers as .npy",
                         name);
    for (int c = 1; c < r->channels; c++)
        if (r->dtypes[c] != r->dtypes[0])
            return fault_set(f, EXIT_DATA, "%s has channels of different types: save them as an array of one type",
                             name);
    return 0;
}

pages *pages_open(const char *path, const read_options *options, bool each, fault *f)
{
    read_options o = *options;
    o.about = true;
    if (!o.has_page) o.page = -1;
    pages *p = calloc(1, sizeof *p);
    if (!p) {
        fault_set(f, EXIT_DATA, "no memory to read %s", path);
        return NULL;
    }
    p->each = each;
    p->page = -1;
    p->reader = reader_open(path, &o, !each, f);
    if (p->reader && begin(p, f) == 0) return p;
    pages_close(p);
    return NULL;
}

void pages_close(pages *p)
{
    if (!p) return;
    forget(p);
    metadata_release(p->about);
    reader_close(p->reader);
    free(p->cached);
    free(p->views);
    free(p->valid);
    free(p->parts.rows);
    free(p->parts.marks);
    free(p);
}
