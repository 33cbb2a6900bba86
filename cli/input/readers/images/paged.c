/* Shared by the readers of pages: see paged.h. */
#include "input/readers/images/paged.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/failure.h"
#include "base/process/quiet.h"

int paged_check_memory(const paged *p, const image_layout *layout, int64_t bytes_per_pixel, fault *f)
{
    const char *name = input_name(p->image.reader.in);
    if (layout->width < 1 || layout->height < 1) return 0; /* image_begin_page reports it */
    const int64_t pixel = layout->channels * (int64_t)histo_dtype_size(layout->dtype);
    if (layout->height > IMAGE_MAX_WHOLE_BYTES / pixel / layout->width)
        return fault_set(f, EXIT_DATA,
                         "%s: an image of %" PRId64 " x %" PRId64
                         " pixels must be decoded whole in this format, in more than %d MiB: "
                         "cut it into tiles, or save it as a TIFF",
                         name, layout->width, layout->height, IMAGE_MAX_WHOLE_BYTES >> 20);
    return fault_beyond_file(f, (double)layout->width * (double)layout->height * (double)bytes_per_pixel,
                             input_size(p->image.reader.in), name, "cut the image into tiles, or save it as a TIFF");
}

int paged_damaged(const paged *p, int page, const char *complaint, fault *f)
{
    char place[32];
    snprintf(place, sizeof place, p->pages > 1 ? "page %d" : "the image", page);
    return image_damaged(&p->image, place, complaint, f);
}

int paged_unsupported(const paged *p, const char *what, fault *f)
{
    return fault_set(f, EXIT_DATA, "%s has %s, which cannot be read: convert it, for instance with ImageMagick",
                     input_name(p->image.reader.in), what);
}

/* Open the file, or decode the page, with the format's function. */
static int call(paged *p, int (*function)(paged *p, fault *f), fault *f)
{
    if (p->format->chatty) quiet_begin();
    const int status = function(p, f);
    if (p->format->chatty) quiet_end();
    return status;
}

static int begin_page(paged *p, int page, fault *f)
{
    image *m = &p->image;
    if (p->format->describe && p->format->describe(p, page, f) != 0) return -1;
    const image_layout *l = &p->layout;
    if (!p->inside && page > p->first && (l->height != m->reader.height || l->width != m->reader.width))
        m->reader.height = m->reader.width = -1; /* during the survey */
    if (image_begin_page(m, page, l, f) != 0) return -1;
    metadata *about = image_describe(m, &p->options, f);
    if (!about) return p->options.about ? -1 : 0;
    if (!p->format->keep || p->format->keep(p, about)) return 0;
    return fault_set(f, EXIT_DATA, "%s: out of memory", input_name(m->reader.in));
}

/* Find the wanted pages, and check that they are alike before the first is read. */
static int survey(paged *p, fault *f)
{
    reader *r = &p->image.reader;
    if (p->pages < 1 || p->pages > INT_MAX) return paged_damaged(p, 0, "it has no image", f);
    if (p->options.page >= p->pages)
        return fault_set(f, EXIT_USAGE, "%s has no page %d: its last page is %" PRId64, input_name(r->in),
                         p->options.page, p->pages - 1);
    p->first = p->options.page < 0 ? 0 : p->options.page;
    p->end = p->options.page < 0 ? (int)p->pages : p->first + 1;
    p->next = p->first;
    for (int page = p->first; page < p->end; page++)
        if (begin_page(p, page, f) != 0) return -1;
    r->pages = p->end - p->first;
    if (p->format->decode && !p->format->band && r->pages == 1)
        r->whole_bytes = (int64_t)image_pitch(&p->image) * p->image.layout.height;
    if (!p->options.has_page && p->pages > 1) r->pages_in_file = p->pages;
    return 0;
}

/* Deliver a band of the page, which is in memory. */
static int slice(image *m, band *b, const unsigned char *pixels, size_t pitch)
{
    selection *s = &m->reader.selected;
    const image_layout *l = &m->layout;
    const int64_t rows = image_band_rows(m);
    *b = (band){.page = m->page, .y = m->y, .rows = rows, .cols = l->width, .views = s->views};
    reader_interleaved_views(s->views, s->wanted, s->count, pixels + (size_t)m->y * pitch, l->dtype, l->channels, rows,
                             l->width, (int64_t)pitch);
    m->y += rows;
    return 1;
}

/* Decode the current page, unless it is still in memory from the last pass. */
static int decode_page(paged *p, fault *f)
{
    const int page = p->image.page;
    if (!p->format->decode || p->decoded == page) return 0;
    p->decoded = -1;
    if (call(p, p->format->decode, f) != 0) return -1;
    if (!p->format->band) p->decoded = page;
    return 0;
}

static int next(reader *r, band *b, fault *f)
{
    paged *p = (paged *)r;
    image *m = &p->image;
    if (!p->inside || m->y >= m->layout.height) {
        if (p->next >= p->end) return 0;
        p->inside = true;
        if (begin_page(p, p->next, f) != 0 || decode_page(p, f) != 0) return -1;
        p->next++;
    }
    return p->format->band ? p->format->band(p, b, f) : slice(m, b, p->pixels, p->pitch);
}

static int rewind_pages(reader *r, fault *f)
{
    (void)f;
    paged *p = (paged *)r;
    p->inside = false;
    p->next = p->first;
    return 0;
}

static void close_pages(reader *r)
{
    paged *p = (paged *)r;
    if (p->format->close) p->format->close(p);
    free(p->bytes);
    image_close(r);
}

reader *paged_open(const paged_format *format, input *in, const read_options *options, fault *f)
{
    const reader_functions functions = {.next = next, .rewind = rewind_pages, .close = close_pages};
    paged *p = reader_create(format->size, in, functions, f);
    if (!p) return NULL;
    reader *r = &p->image.reader;
    p->format = format;
    p->options = *options;
    p->decoded = -1;
    p->pages = 1;
    if (format->whole && !(p->bytes = input_read_all(in, IMAGE_MAX_WHOLE_BYTES, &p->size, f))) goto fail;
    if ((!format->open || call(p, format->open, f) == 0) && survey(p, f) == 0) return r;
fail:
    reader_destroy(r);
    return NULL;
}
