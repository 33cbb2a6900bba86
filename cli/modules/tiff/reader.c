/* TIFF and BigTIFF images by libtiff: integers and floats of 8 to 64 bits; gray with 1, 2 and 4 bits scaled to 8;
 * unsigned gray whose 0 is white inverted, so that 0 is black as in other formats; 10, 12 and 14 bits as u16; palettes
 * as 8-bit RGB; JPEG's YCbCr as RGB; strips and tiles, interleaved channels or planes, any number of pages.
 *
 * A band is a tile, or some rows. Uncompressed rows are read directly from the file, so that strips of any size work;
 * other rows come from libtiff, by strips or, of large ones, one at a time. Compressed planes are read by complete
 * strips, because switching between planes would decode each strip again for every band. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "modules/tiff/tiff.h"

/* ---- Pages ---- */

/* Previews of other pages, and masks, do not contain samples of their own. */
static bool is_auxiliary(tiff_reader *t, int page)
{
    return page > 0 &&
           (t->one_image || tiff_field_u32(t->tif, TIFFTAG_SUBFILETYPE) & (FILETYPE_REDUCEDIMAGE | FILETYPE_MASK));
}

static int damaged_directory(const tiff_reader *t, int page, fault *f)
{
    char place[64];
    snprintf(place, sizeof place, "the directory of page %d", page);
    return image_damaged(&t->image, place, tiff_complaint_or(t, "the chain of directories is broken"), f);
}

static int go_to_page(tiff_reader *t, int page, fault *f)
{
    t->complaint[0] = '\0';
    t->adds_up = false;
    if (TIFFSetDirectory(t->tif, (tdir_t)page)) return 0;
    if (page == 0 || t->complaint[0]) return damaged_directory(t, page, f);
    return fault_set(f, EXIT_USAGE, "%s has no page %d: its last page is %lld", input_name(t->image.reader.in), page,
                     (long long)TIFFNumberOfDirectories(t->tif) - 1);
}

/* Move to the next page after `page` that is not auxiliary: 1, 0 if there is none, -1. */
static int go_to_next_page(tiff_reader *t, int *page, fault *f)
{
    do {
        if (TIFFLastDirectory(t->tif)) return 0;
        t->complaint[0] = '\0';
        t->adds_up = false;
        ++*page;
        if (!TIFFReadDirectory(t->tif)) return damaged_directory(t, *page, f);
    } while (is_auxiliary(t, *page));
    return 1;
}

static bool is_mask(tiff_reader *t)
{
    return tiff_field_u32(t->tif, TIFFTAG_SUBFILETYPE) & FILETYPE_MASK;
}

/* Aperio slides (.svs) are recognised by their description; their reduced copies are not marked. */
static bool is_slide(tiff_reader *t)
{
    const char *text = NULL;
    return TIFFGetField(t->tif, TIFFTAG_IMAGEDESCRIPTION, &text) && text && strncmp(text, "Aperio", 6) == 0;
}

static int note_mask(tiff_reader *t, int number, int of, fault *f)
{
    mask_page *more = realloc(t->masks, (size_t)(t->masks_count + 1) * sizeof *more);
    if (!more) return fault_set(f, EXIT_DATA, "%s: out of memory", input_name(t->image.reader.in));
    t->masks = more;
    more[t->masks_count++] = (mask_page){.number = number,
                                         .of = of,
                                         .directory = TIFFCurrentDirOffset(t->tif),
                                         .width = tiff_field_u32(t->tif, TIFFTAG_IMAGEWIDTH),
                                         .height = tiff_field_u32(t->tif, TIFFTAG_IMAGELENGTH)};
    return 0;
}

/* Count pages, reduced copies and masks, as far as the chain of directories is valid; for a single page, only those
 * that follow and belong to it. */
static int survey_file(tiff_reader *t, int64_t *pages, int64_t *copies, fault *f)
{
    const bool one = t->options.has_page && t->wanted_page >= 0;
    const int first = one ? t->wanted_page : 0;
    if (go_to_page(t, first, f) != 0) return -1;
    t->one_image = !one && is_slide(t);
    *pages = 1;
    *copies = 0;
    for (int page = first + 1, of = first; !TIFFLastDirectory(t->tif) && TIFFReadDirectory(t->tif); page++) {
        const bool auxiliary = is_auxiliary(t, page), masks = auxiliary && is_mask(t);
        if (one && !auxiliary) break;
        if (masks && note_mask(t, page, of, f) != 0) return -1;
        if (!auxiliary) of = page;
        *pages += !auxiliary;
        *copies += auxiliary && !masks;
    }
    t->complaint[0] = '\0';
    return 0;
}

/* The offset of the current page's mask; 0: none. */
static uint64_t mask_of_page(const tiff_reader *t, int page, const image_layout *layout)
{
    for (int i = 0; i < t->masks_count && !t->options.raw; i++) {
        const mask_page *m = &t->masks[i];
        if (m->number > page && m->of <= page && m->width == layout->width && m->height == layout->height)
            return m->directory;
    }
    return 0;
}

static int describe(tiff_reader *t, int page, image_layout *layout, fault *f)
{
    return tiff_describe_page(t, page, layout, f) == 0 ? tiff_find_meaning(t, layout, f) : -1;
}

/* Also read the page's mask, which is elsewhere in the file. */
static int describe_with_mask(tiff_reader *t, int page, image_layout *layout, fault *f)
{
    if (describe(t, page, layout, f) != 0) return -1;
    const uint64_t here = TIFFCurrentDirOffset(t->tif), mask = mask_of_page(t, page, layout);
    if (tiff_read_mask(t, layout, mask, f) != 0) return -1;
    if (mask == 0) return 0;
    if (!TIFFSetSubDirectory(t->tif, here)) return damaged_directory(t, page, f);
    return describe(t, page, layout, f);
}

/* The rows of the current page that can be read by themselves. */
static int64_t slice_of_page(const tiff_reader *t)
{
    return t->stored.direct ? image_band_rows(&t->image) : t->stored.block_height;
}

/* Pages have slices if all have the same. */
static void find_slices(tiff_reader *t)
{
    const int64_t height = t->image.layout.height, slice = slice_of_page(t);
    if (t->image.reader.pages == 1) t->slice = slice;
    if (t->image.reader.height < 0 || slice != t->slice) t->slice = height;
    t->slices = t->image.reader.height < 0 ? 1 : (height - 1) / t->slice + 1;
}

/* Check all requested pages before reading the first: they must match. */
static int survey_pages(tiff_reader *t, fault *f)
{
    image *m = &t->image;
    image_layout layout;
    int page = t->wanted_page < 0 ? 0 : t->wanted_page, more = 1;
    if (go_to_page(t, page, f) < 0) return -1;
    for (int64_t pages = 1; more; pages++) {
        if (describe(t, page, &layout, f) < 0) return -1;
        if (pages > 1 && (layout.height != m->reader.height || layout.width != m->reader.width))
            m->reader.height = m->reader.width = -1;
        if (image_begin_page(m, page, &layout, f) < 0 || (pages == 1 && tiff_keep_metadata(t, f) < 0)) return -1;
        m->reader.pages = pages;
        find_slices(t);
        more = t->wanted_page < 0 ? go_to_next_page(t, &page, f) : 0;
        if (more < 0) return -1;
    }
    return 0;
}

/* Undo the differencing here instead of in libtiff, unless a copy of the page is to have the same predictor. */
static void take_differences(tiff_reader *t)
{
    if (t->stored.differenced && !t->options.about && !t->adds_up)
        t->adds_up = TIFFSetField(t->tif, TIFFTAG_PREDICTOR, PREDICTOR_NONE);
}

/* 1 if there is another page, 0 at the end. */
static int begin_next_page(tiff_reader *t, fault *f)
{
    int page = t->image.page, more = 1;
    if (!t->begun) {
        int64_t from = 0;
        if (t->current >= 0 && t->current <= t->ordinal) {
            from = t->current;
        } else {
            page = t->wanted_page < 0 ? 0 : t->wanted_page;
            if (go_to_page(t, page, f) < 0) return -1;
        }
        for (; from < t->ordinal && more > 0; from++)
            more = go_to_next_page(t, &page, f);
    } else {
        more = t->wanted_page < 0 ? go_to_next_page(t, &page, f) : 0;
    }
    if (more < 1) return more;
    image_layout layout;
    if (describe_with_mask(t, page, &layout, f) < 0 || image_begin_page(&t->image, page, &layout, f) < 0 ||
        tiff_keep_metadata(t, f) < 0)
        return -1;
    take_differences(t);
    if (!t->begun) t->image.y = t->first % t->slices * t->slice;
    t->ordinal += t->begun;
    t->current = t->ordinal;
    t->begun = true;
    t->x = 0;
    return 1;
}

/* ---- Bands ---- */

/* The number of rows in the next band: a row of tiles; the rows of as many strips as fit; or, for large strips that are
 * not compressed planes, as many rows as fit. */
static int64_t band_height(const tiff_reader *t)
{
    const image *m = &t->image;
    const storage *s = &t->stored;
    const bool stops = t->stop >= 0 && t->stop / t->slices == t->ordinal;
    int64_t left = (stops ? t->stop % t->slices * t->slice : m->layout.height) - m->y, rows = image_band_rows(m);
    if (s->tiled)
        rows = s->block_height;
    else if (s->strips || (s->planes && !s->direct))
        rows = rows < s->block_height ? s->block_height : rows - rows % s->block_height;
    return rows < left ? rows : left;
}

static int64_t unit_tiff(const reader *r)
{
    const tiff_reader *t = (const tiff_reader *)r;
    const int64_t y = t->image.y;
    if (!t->begun) return t->first;
    if (y == t->image.layout.height) return (t->ordinal + 1) * t->slices;
    return t->x == 0 && y % t->slice == 0 ? t->ordinal * t->slices + y / t->slice : -1;
}

int tiff_read_band(tiff_reader *t, const int *wanted, int count, histo_view *views, band *b, fault *f)
{
    image *m = &t->image;
    const storage *s = &t->stored;
    int64_t rows = band_height(t), block_rows = s->tiled ? s->block_height : rows;
    int parts = s->planes ? count : 1, channels = s->planes ? 1 : m->layout.channels;
    size_t pitch = (size_t)s->block_width * (size_t)channels * histo_dtype_size(s->dtype);
    size_t part_bytes = pitch * (size_t)block_rows;
    if ((size_t)parts > IMAGE_MAX_WHOLE_BYTES / part_bytes)
        return fault_set(f, EXIT_DATA, "%s: %d planes of %zu bytes at once are too much: choose fewer with --channel",
                         input_name(m->reader.in), parts, part_bytes);
    if (image_reserve(m, &m->rows, part_bytes * (size_t)parts, f) < 0) return -1;
    if (s->expand && image_reserve(m, &m->packed, s->pitch * (size_t)block_rows, f) < 0) return -1;

    int64_t cols = m->layout.width - t->x < s->block_width ? m->layout.width - t->x : s->block_width;
    t->complaint[0] = '\0';
    for (int i = 0; i < parts; i++) {
        static const int only = 0;
        unsigned char *part = m->rows.data + (size_t)i * part_bytes;
        if (tiff_read_part(t, s->planes ? wanted[i] : 0, rows, part, pitch, f) < 0) return -1;
        reader_interleaved_views(views + i, s->planes ? &only : wanted, s->planes ? 1 : count, part, s->dtype, channels,
                                 rows, cols, (int64_t)pitch);
    }
    *b = (band){.page = m->page, .y = m->y, .x = t->x, .rows = rows, .cols = cols, .views = views};
    t->x += s->block_width;
    if (t->x >= m->layout.width) {
        t->x = 0;
        m->y += rows;
    }
    return 0;
}

static int next(reader *r, band *b, fault *f)
{
    tiff_reader *t = (tiff_reader *)r;
    image *m = &t->image;
    const selection *w = &m->reader.selected;
    if (t->begun && t->stop >= 0 && unit_tiff(r) >= t->stop) return 0;
    if (!t->begun || m->y == m->layout.height) {
        int more = begin_next_page(t, f);
        if (more < 1) return more;
    }
    if (tiff_read_band(t, w->wanted, w->count, w->views, b, f) != 0 || tiff_apply_meaning(t, b, f) != 0) return -1;
    return 1;
}

static int rewind_tiff(reader *r, fault *f)
{
    (void)f;
    tiff_reader *t = (tiff_reader *)r;
    t->begun = false;
    t->ordinal = t->first = 0;
    t->current = t->stop = -1;
    return 0;
}

static int take_slices(reader *r, int64_t first, int64_t end, fault *f)
{
    (void)f;
    tiff_reader *t = (tiff_reader *)r;
    t->begun = false;
    t->ordinal = first / t->slices;
    t->first = first;
    t->stop = end;
    return 0;
}

static void close_tiff(reader *r)
{
    tiff_reader *t = (tiff_reader *)r;
    if (t->tif) TIFFClose(t->tif);
    if (t->fd >= 0) close(t->fd);
    free(t->masks);
    free(t->block.data);
    tiff_free_meaning(t);
    image_close(r);
}

reader *tiff_open(input *in, const read_options *options, fault *f)
{
    const reader_functions functions = {.next = next, .rewind = rewind_tiff, .close = close_tiff};
    tiff_reader *t = reader_create(sizeof *t, in, functions, f);
    if (!t) return NULL;
    reader *r = &t->image.reader;
    t->fd = -1;
    t->options = *options;
    t->wanted_page = options->page;
    t->current = t->stop = -1;
    int64_t pages, copies;
    if (tiff_open_library(t, f) == 0 && survey_file(t, &pages, &copies, f) == 0 && survey_pages(t, f) == 0) {
        r->pages_in_file = pages > 1 && !options->has_page ? pages : 0;
        r->copies = options->has_page && t->wanted_page >= 0 ? 0 : copies;
        r->units = r->pages * t->slices;
        r->take = take_slices;
        r->unit = unit_tiff;
        return r;
    }
    reader_destroy(r);
    return NULL;
}
