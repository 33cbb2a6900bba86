/* Arrays as pages, and the reader that streams an array in bands from a source of bytes.
 *
 * An array is `lines` lines of `length` pixels: its rows, or its columns in Fortran order. A band is as many whole
 * lines as BAND_BYTES hold, or a part of one line that is longer.
 *
 * Channels in Fortran order are planes, so pixels are complete only at the end of the data: such arrays are read into
 * memory completely, and their bands are views of it. */
#include "input/readers/array.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "input/reader.h"

bool array_page_of(const array_info *info, array_page *page)
{
    int64_t samples = 1, bytes;
    for (int d = 0; d < info->ndim; d++)
        if (__builtin_mul_overflow(samples, info->shape[d], &samples)) return false;
    if (__builtin_mul_overflow(samples, (int64_t)histo_dtype_size(info->dtype), &bytes)) return false;
    const int64_t *shape = info->shape;
    bool image = info->ndim == 3 && shape[2] >= 1 && shape[2] <= 4;
    *page = (array_page){.channels = 1,
                         .height = samples,
                         .width = 1,
                         .bytes = samples < 0 ? -1 : bytes,
                         .flat = info->ndim != 2 && !image};
    if (!page->flat) {
        page->height = shape[0];
        page->width = shape[1];
        page->channels = image ? (int)shape[2] : 1;
        page->by_columns = info->fortran;
        page->planes = info->fortran && page->channels > 1;
    }
    return true;
}

static int64_t source_read_input(void *self, void *buffer, size_t size, fault *f)
{
    return input_read(self, buffer, size, f);
}

static int source_rewind_input(void *self, fault *f)
{
    return input_rewind(self, f);
}

static const void *source_map_input(void *self, size_t size)
{
    return input_map(self, size);
}

static void source_leave_open(void *self)
{
    (void)self;
}

byte_source byte_source_of_input(input *in)
{
    return (byte_source){source_read_input, source_rewind_input, source_leave_open, in, source_map_input};
}

int64_t byte_source_read_full(const byte_source *source, void *buffer, size_t size, fault *f)
{
    size_t filled = 0;
    while (filled < size) {
        int64_t got = source->read(source->self, (char *)buffer + filled, size - filled, f);
        if (got < 0) return -1;
        if (got == 0) break;
        filled += (size_t)got;
    }
    return (int64_t)filled;
}

typedef struct array_reader {
    reader base;
    byte_source source;
    array_info info;
    array_page page;
    array_place place;
    histo_dtype dtypes[4];
    selection selected;
    int64_t pixel_bytes;
    unsigned char *buffer;
    const unsigned char *band; /* current band: in the buffer, or in the source's memory */
    bool mapped;               /* bands are in the source's memory */
    unsigned char *whole;      /* planes read into memory */
    int64_t line, at;          /* position of the next band: its line, and the pixel in it */
    bool ended;
} array_reader;

static int fault_size(const array_reader *r, int64_t bytes, fault *f)
{
    return fault_set(f, EXIT_DATA, "%s holds %" PRId64 " bytes of samples where %s %" PRId64 ": %s", r->place.subject,
                     bytes, r->place.described, r->page.bytes, r->place.remedy);
}

static int fault_long(const array_reader *r, fault *f)
{
    return fault_set(f, EXIT_DATA, "%s holds more than the %" PRId64 " bytes of samples that %s: %s", r->place.subject,
                     r->page.bytes, r->place.described, r->place.remedy);
}

static int fault_split(const array_reader *r, int64_t excess, fault *f)
{
    return fault_set(f, EXIT_DATA, "%s ends within a sample: %" PRId64 " of the %zu bytes of a last %s are there: %s",
                     r->place.subject, excess, histo_dtype_size(r->info.dtype), histo_dtype_name(r->info.dtype),
                     r->place.remedy);
}

static void swap_bytes(void *samples, size_t size, size_t count)
{
    if (size == 2) {
        uint16_t *s = samples;
        for (size_t i = 0; i < count; i++)
            s[i] = __builtin_bswap16(s[i]);
    } else if (size == 4) {
        uint32_t *s = samples;
        for (size_t i = 0; i < count; i++)
            s[i] = __builtin_bswap32(s[i]);
    } else if (size == 8) {
        uint64_t *s = samples;
        for (size_t i = 0; i < count; i++)
            s[i] = __builtin_bswap64(s[i]);
    }
}

static int array_select(reader *base, const int *channels, int count, fault *f)
{
    return selection_set(&((array_reader *)base)->selected, base, channels, count, f);
}

/* Check that the source ends after the last sample. */
static int array_end(array_reader *r, fault *f)
{
    if (r->ended) return 0;
    unsigned char more;
    int64_t got = r->source.read(r->source.self, &more, 1, f);
    if (got < 0) return -1;
    if (got > 0) return fault_long(r, f);
    r->ended = true;
    return 0;
}

static void array_views(array_reader *r, const band *b)
{
    if (r->page.by_columns) {
        int64_t sample_bytes = r->pixel_bytes;
        histo_view view = {r->band, r->info.dtype, 2, 0, {b->rows, b->cols}, {sample_bytes, b->rows * sample_bytes}};
        for (int i = 0; i < r->selected.count; i++)
            r->selected.views[i] = view;
    } else {
        reader_interleaved_views(r->selected.views, r->selected.wanted, r->selected.count, r->band, r->info.dtype,
                                 r->page.channels, b->rows, b->cols, b->cols * r->pixel_bytes);
    }
}

/* Read planes into memory, which grows with the data actually present, not with the header's claim. */
static int read_planes(array_reader *r, fault *f)
{
    size_t size = (size_t)r->page.bytes, room = 0, filled = 0;
    while (filled < size) {
        if (filled == room) {
            room = room ? 2 * room : BAND_BYTES;
            if (r->place.size >= 0 || room > size) room = size; /* the source's size is known or required */
            if (fault_beyond_memory(f, (double)(room - filled), r->place.subject, "save it in C order") != 0) return -1;
            unsigned char *more = realloc(r->whole, room);
            if (!more)
                return fault_set(f, EXIT_DATA,
                                 "%s has channels in Fortran order, and no memory to hold its %" PRId64
                                 " bytes: save it in C order",
                                 r->place.subject, r->page.bytes);
            r->whole = more;
        }
        int64_t got = byte_source_read_full(&r->source, r->whole + filled, room - filled, f);
        if (got < 0) return -1;
        filled += (size_t)got;
        if (filled < room) return fault_size(r, (int64_t)filled, f);
    }
    size_t sample_bytes = histo_dtype_size(r->info.dtype);
    if (r->info.swapped) swap_bytes(r->whole, sample_bytes, size / sample_bytes);
    return array_end(r, f);
}

/* Deliver some columns of the planes in memory. */
static int planes_next(array_reader *r, band *b, fault *f)
{
    const int64_t rows = r->page.height, columns = r->page.width, sample = (int64_t)histo_dtype_size(r->info.dtype);
    if (r->page.bytes == 0) return array_end(r, f);
    if (!r->whole && read_planes(r, f) != 0) return -1;
    if (r->line == columns) return 0;
    int64_t fit = BAND_BYTES / r->pixel_bytes / rows, left = columns - r->line;
    int64_t count = fit < 1 ? 1 : fit < left ? fit : left;
    *b = (band){.x = r->line, .rows = rows, .cols = count, .views = r->selected.views};
    for (int i = 0; i < r->selected.count; i++) {
        const unsigned char *first = r->whole + (r->selected.wanted[i] * columns + r->line) * rows * sample;
        r->selected.views[i] = (histo_view){first, r->info.dtype, 2, 0, {rows, count}, {sample, rows * sample}};
    }
    r->line += count;
    return 1;
}

static int64_t read_band(array_reader *r, int64_t want, fault *f)
{
    size_t sample_bytes = histo_dtype_size(r->info.dtype);
    int64_t got = byte_source_read_full(&r->source, r->buffer, (size_t)want, f);
    if (got > 0 && r->info.swapped) swap_bytes(r->buffer, sample_bytes, (size_t)got / sample_bytes);
    r->band = r->buffer;
    return got;
}

static int array_next(reader *base, band *b, fault *f)
{
    array_reader *r = (array_reader *)base;
    if (r->page.planes) return planes_next(r, b, f);
    bool open_ended = r->page.bytes < 0;
    int64_t lines = r->page.by_columns ? r->page.width : r->page.height;
    int64_t length = r->page.by_columns ? r->page.height : r->page.width;
    int64_t room = (r->mapped ? MAPPED_BAND_BYTES : BAND_BYTES) / r->pixel_bytes;
    if (r->ended) return 0;
    if (!open_ended && (r->page.bytes == 0 || r->line == lines)) return array_end(r, f);

    int64_t band_lines = 1, band_length = length;
    if (r->at == 0 && length <= room) {
        band_lines = room / length;
        if (!open_ended && band_lines > lines - r->line) band_lines = lines - r->line;
    } else {
        band_length = length - r->at < room ? length - r->at : room;
    }
    int64_t want = band_lines * band_length * r->pixel_bytes;
    if (r->mapped && !(r->band = r->source.map(r->source.self, (size_t)want))) {
        r->mapped = false;
        return array_next(base, b, f);
    }
    int64_t got = r->mapped ? want : read_band(r, want, f);
    if (got < 0) return -1;
    if (got < want) {
        if (!open_ended) return fault_size(r, (r->line * length + r->at) * r->pixel_bytes + got, f);
        if (got % r->pixel_bytes) return fault_split(r, got % r->pixel_bytes, f);
        r->ended = true;
        if (got == 0) return 0;
        band_lines = got / r->pixel_bytes;
    }
    *b = (band){.y = r->line, .x = r->at, .rows = band_lines, .cols = band_length, .views = r->selected.views};
    if (r->page.by_columns)
        *b = (band){.y = r->at, .x = r->line, .rows = band_length, .cols = band_lines, .views = b->views};
    array_views(r, b);
    r->at += band_length;
    if (r->at == length) {
        r->at = 0;
        r->line += band_lines;
    }
    return 1;
}

static int array_rewind(reader *base, fault *f)
{
    array_reader *r = (array_reader *)base;
    if (r->whole) {
        r->line = 0;
        return 0;
    }
    if (r->source.rewind(r->source.self, f) != 0) return -1;
    for (int64_t left = r->place.start; left > 0;) {
        int64_t got = r->source.read(r->source.self, r->buffer, (size_t)(left < BAND_BYTES ? left : BAND_BYTES), f);
        if (got < 0) return -1;
        if (got == 0) return fault_size(r, 0, f);
        left -= got;
    }
    r->line = r->at = 0;
    r->ended = false;
    return 0;
}

static void array_close(reader *base)
{
    array_reader *r = (array_reader *)base;
    r->source.close(r->source.self);
    input_close(r->base.in);
    metadata_release(r->base.about);
    selection_free(&r->selected);
    free(r->whole);
    free((char *)r->place.subject);
    free(r->buffer);
    free(r);
}

reader *array_reader_open(const reader_kind *kind, input *in, byte_source source, const array_info *info,
                          const array_place *place, fault *f)
{
    array_reader *r = calloc(1, sizeof *r);
    char *subject = strdup(place->subject);
    unsigned char *buffer = aligned_alloc(4096, BAND_BYTES);
    if (!r || !subject || !buffer) {
        fault_set(f, EXIT_DATA, "no memory to read %s", place->subject);
        source.close(source.self);
        input_close(in);
        free(r);
        free(subject);
        free(buffer);
        return NULL;
    }
    r->base = (reader){.kind = kind,
                       .in = in,
                       .model = CHANNELS_PLAIN,
                       .dtypes = r->dtypes,
                       .pages = 1,
                       .select = array_select,
                       .next = array_next,
                       .rewind = array_rewind,
                       .close = array_close};
    r->source = source;
    r->info = *info;
    r->place = *place;
    r->place.subject = subject;
    r->buffer = buffer;
    r->mapped = source.map && !info->swapped && place->size >= 0;
    if (!array_page_of(info, &r->page)) {
        fault_set(f, EXIT_DATA, "%s has a shape of more than 2^63 bytes: %s", subject, place->remedy);
        goto fail;
    }
    r->base.channels = r->page.channels;
    r->base.height = r->page.height;
    r->base.width = r->page.width;
    r->pixel_bytes = r->page.channels * (int64_t)histo_dtype_size(info->dtype);
    for (int c = 0; c < r->page.channels; c++)
        r->dtypes[c] = info->dtype;
    if (!(r->base.about = metadata_create())) {
        fault_set(f, EXIT_DATA, "no memory to read %s", subject);
        goto fail;
    }
    r->base.about->ndim = info->ndim;
    memcpy(r->base.about->shape, info->shape, sizeof info->shape);
    r->base.about->fortran = info->fortran && r->page.flat;
    r->base.about->boolean = info->boolean;
    if (place->size >= 0) {
        int64_t sample_bytes = (int64_t)histo_dtype_size(info->dtype);
        int failed = 0;
        if (r->page.bytes >= 0 && place->size != r->page.bytes)
            failed = fault_size(r, place->size, f);
        else if (place->size % sample_bytes)
            failed = fault_split(r, place->size % sample_bytes, f);
        if (failed) goto fail;
        if (r->page.bytes < 0) {
            r->base.height = r->page.height = r->base.about->shape[0] = place->size / sample_bytes;
            r->page.bytes = place->size;
        }
    }
    return &r->base;

fail:
    array_close(&r->base);
    return NULL;
}
