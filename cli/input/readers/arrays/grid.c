/* See grid.h. A grid is rows of pixels; a band is as many of them as BAND_BYTES hold, or a part of one. */
#include "input/readers/arrays/grid.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "input/readers/arrays/array.h"

typedef struct grid_reader {
    reader base;
    grid_source source;
    grid_info info;
    int64_t pixels, area, width; /* in total, in a slice, and in a row */
    bool slices;                 /* pages, not flattened */
    int64_t first, end;          /* the pixels to deliver */
    int64_t at, stop;            /* the next one, and where a part ends */
    int64_t pixel_bytes, room;   /* of a band: pixels */
    unsigned char *samples, *valid;
    histo_view *masks; /* [selected channels]: all refer to `valid` */
} grid_reader;

static int grid_select(reader *base, fault *f)
{
    grid_reader *r = (grid_reader *)base;
    r->masks = arena_take(&base->selected.memory, (size_t)base->selected.count, sizeof *r->masks);
    return r->masks ? 0 : fault_set(f, EXIT_DATA, "no memory to read %s", input_name(base->in));
}

/* The number of pixels in the next band: whole blocks or rows, if they fit. */
static int64_t band_pixels(const grid_reader *r)
{
    const int64_t block = r->info.block, left = r->stop - r->at, in_slice = r->area - r->at % r->area;
    int64_t count = r->room;
    if (block > 1 && block <= r->room) count = r->room - r->room % block - r->at % block;
    if (count > left) count = left;
    if (r->base.width == 1 && !r->slices) return count;
    if (count > in_slice) count = in_slice;
    const int64_t x = r->at % r->width;
    if (x > 0 || count < r->width) return count < r->width - x ? count : r->width - x;
    return count - count % r->width;
}

static int grid_next(reader *base, band *b, fault *f)
{
    grid_reader *r = (grid_reader *)base;
    if (r->at == r->stop) return 0;
    const int64_t count = band_pixels(r), in_slice = r->at % r->area;
    if (r->source.read(r->source.self, r->at, count, r->samples, r->valid, f) != 0) return -1;
    *b = (band){.y = r->at - r->first, .rows = count, .cols = 1, .views = base->selected.views};
    if (base->width != 1 || r->slices) {
        b->page = r->slices ? (int)(r->at / r->area) : 0;
        b->y = in_slice / r->width;
        b->x = in_slice % r->width;
        b->rows = count < r->width ? 1 : count / r->width;
        b->cols = count < r->width ? count : r->width;
    }
    reader_interleaved_views(b->views, base->selected.wanted, base->selected.count, r->samples, r->info.dtype,
                             r->info.channels, b->rows, b->cols, b->cols * r->pixel_bytes);
    if (r->valid) {
        for (int i = 0; i < base->selected.count; i++)
            r->masks[i] = histo_view_nd(r->valid, HISTO_U8, 2, (const int64_t[]){b->rows, b->cols});
        if (memchr(r->valid, 0, (size_t)count)) b->valid = r->masks;
    }
    r->at += count;
    return 1;
}

static int grid_rewind(reader *base, fault *f)
{
    (void)f;
    grid_reader *r = (grid_reader *)base;
    r->at = r->first;
    r->stop = r->end;
    return 0;
}

static int grid_take(reader *base, int64_t first, int64_t end, fault *f)
{
    (void)f;
    grid_reader *r = (grid_reader *)base;
    r->at = r->first + first;
    r->stop = r->first + end;
    return 0;
}

static int64_t grid_unit(const reader *base)
{
    const grid_reader *r = (const grid_reader *)base;
    return r->at - r->first;
}

static void grid_close(reader *base)
{
    grid_reader *r = (grid_reader *)base;
    r->source.close(r->source.self);
    free(r->samples);
}

/* Check that sizes fit, and that the page exists. */
static int measure(grid_reader *r, const read_options *options, fault *f)
{
    grid_info *g = &r->info;
    const char *name = input_name(r->base.in);
    int64_t bytes;
    while (g->ndim > 2 && g->shape[0] == 1)
        memmove(g->shape, g->shape + 1, (size_t)--g->ndim * sizeof *g->shape);
    r->pixels = r->area = 1;
    for (int d = 0; d < g->ndim; d++) {
        if (g->shape[d] < 0 || __builtin_mul_overflow(r->pixels, g->shape[d], &r->pixels))
            return fault_set(f, EXIT_DATA, "%s is damaged: it claims more than 2^63 samples", name);
        if (d >= g->ndim - 2) r->area *= g->shape[d];
    }
    r->pixel_bytes = g->channels * (int64_t)histo_dtype_size(g->dtype);
    if (__builtin_mul_overflow(r->pixels, r->pixel_bytes, &bytes))
        return fault_set(f, EXIT_DATA, "%s is damaged: it claims more than 2^63 bytes", name);
    r->width = g->ndim > 1 ? g->shape[g->ndim - 1] : 1;
    r->end = r->pixels;
    r->room = BAND_BYTES / r->pixel_bytes;
    if (r->room < 1) return fault_set(f, EXIT_DATA, "%s is damaged: it claims %d channels", name, g->channels);
    if (g->block > r->room && r->room > r->width) g->block = r->width;
    if (r->pixels == 0) return 0;
    r->slices = options->has_page || options->in_slices;
    const int64_t slices = r->pixels / r->area, page = options->has_page ? options->page : -1;
    if (slices > INT32_MAX && r->slices)
        return fault_set(f, EXIT_DATA, "%s has %" PRId64 " slices, too many for --page: leave it out", name, slices);
    if (page >= slices)
        return fault_set(f, EXIT_USAGE, "%s has no page %" PRId64 ": its last page is %" PRId64, name, page,
                         slices - 1);
    if (page >= 0) {
        r->first = page * r->area;
        r->end = r->first + r->area;
    }
    return 0;
}

static int describe(grid_reader *r, const read_options *options, fault *f)
{
    reader *base = &r->base;
    const grid_info *g = &r->info;
    if (measure(r, options, f) != 0) return -1;
    histo_dtype *dtypes = arena_take(&base->memory, (size_t)g->channels, sizeof *dtypes);
    r->samples = aligned_alloc(4096, BAND_BYTES);
    r->valid = r->source.gaps ? arena_take(&base->memory, 1, (size_t)r->room) : NULL;
    base->about = metadata_create();
    if (!dtypes || !r->samples || (r->source.gaps && !r->valid) || !base->about)
        return fault_set(f, EXIT_DATA, "no memory to read %s", input_name(base->in));
    for (int c = 0; c < g->channels; c++)
        dtypes[c] = g->dtype;
    const bool flat = !r->slices && g->ndim != 2;
    base->model = g->model;
    base->channels = g->channels;
    base->dtypes = dtypes;
    base->pages = r->slices && r->area ? (r->end - r->first) / r->area : 1;
    base->height = flat || r->area == 0 ? r->pixels : r->area / r->width;
    base->width = flat || r->area == 0 ? 1 : r->width;
    if (!r->slices && g->ndim <= HISTO_MAX_DIMS) {
        base->about->ndim = g->ndim;
        memcpy(base->about->shape, g->shape, (size_t)g->ndim * sizeof *g->shape);
    }
    if (r->source.anywhere && r->end > r->first) {
        base->units = r->end - r->first;
        base->take = grid_take;
        base->unit = grid_unit;
    }
    return grid_rewind(base, f);
}

reader *grid_open(input *in, const read_options *options, const grid_info *info, grid_source source, fault *f)
{
    const reader_functions functions = {
        .select = grid_select, .next = grid_next, .rewind = grid_rewind, .close = grid_close};
    grid_reader *r = reader_create(sizeof *r, in, functions, f);
    if (!r) {
        source.close(source.self);
        return NULL;
    }
    r->source = source;
    r->info = *info;
    if (describe(r, options, f) == 0) return &r->base;
    reader_destroy(&r->base);
    return NULL;
}
