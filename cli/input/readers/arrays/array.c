/* Arrays as pages, and the reader that streams an array in bands from a source of bytes.
 *
 * An array is `lines` lines of `length` pixels: its rows, or its columns in Fortran order. A band is as many whole
 * lines as BAND_BYTES hold, or a part of one line that is longer.
 *
 * Channels in Fortran order are planes, so pixels are complete only at the end of the data: such arrays are read into
 * memory completely, and their bands are views of it. */
#include "input/readers/arrays/array.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "input/reader.h"
#include "input/readers/arrays/column_words.h"

void array_info_free(array_info *info)
{
    columns_free(&info->columns);
}

bool array_info_has_strings(const array_info *info)
{
    return info->columns.count == 1 && !info->columns.column[0].name[0] && info->columns.column[0].string.kind;
}

void array_info_list(name_list *list, const char *name, const array_info *info)
{
    char text[512];
    size_t length = (size_t)snprintf(text, sizeof text, "%.*s (", (int)sizeof text / 2, name);
    for (int d = 0; d < info->ndim; d++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%" PRId64, d ? " x " : "", info->shape[d]);
    const char *blank = info->ndim ? " " : "";
    if (array_info_has_strings(info))
        snprintf(text + length, sizeof text - length, "%sstrings)", blank);
    else if (info->columns.count)
        snprintf(text + length, sizeof text - length, "%srows of %d columns)", blank, info->columns.count);
    else
        snprintf(text + length, sizeof text - length, "%s%s)", blank, histo_dtype_name(info->dtype));
    name_list_add(list, text);
}

void array_info_forget_missing(array_info *info)
{
    info->rule = (packing){0};
    for (int i = 0; i < info->columns.count; i++)
        info->columns.column[i].rule = (packing){0};
}

/* The size of a sample, or of a record. */
static int64_t element_bytes(const array_info *info)
{
    return info->record_bytes ? info->record_bytes : (int64_t)histo_dtype_size(info->dtype);
}

enum { MOST_RECORD_BYTES = CACHED_BAND_BYTES };
/* Bands of samples that are drawn as they arrive are small, so that none waits long. */
enum { LIVE_BAND_BYTES = 4096 };

bool array_page_of(const array_info *info, array_page *page)
{
    int64_t samples = 1, bytes;
    for (int d = 0; d < info->ndim; d++)
        if (__builtin_mul_overflow(samples, info->shape[d], &samples)) return false;
    if (__builtin_mul_overflow(samples, element_bytes(info), &bytes)) return false;
    const int64_t *shape = info->shape;
    const bool table = info->record_bytes > 0;
    bool image = !table && info->ndim == 3 && shape[2] >= 1 && shape[2] <= 4;
    *page = (array_page){.channels = 1,
                         .height = samples,
                         .width = 1,
                         .bytes = samples < 0 ? -1 : bytes,
                         .flat = table || (info->ndim != 2 && !image)};
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

static int source_seek_input(void *self, int64_t position, fault *f)
{
    return input_seek(self, position, f);
}

static void source_leave_open(void *self)
{
    (void)self;
}

byte_source byte_source_of_input(input *in, const read_options *options)
{
    return (byte_source){.read = source_read_input,
                         .rewind = source_rewind_input,
                         .close = source_leave_open,
                         .self = in,
                         .map = options->in_parts ? NULL : source_map_input,
                         .seek = source_seek_input,
                         .in_parts = options->in_parts};
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

int64_t byte_source_skip(const byte_source *source, int64_t bytes, fault *f)
{
    char piece[16384];
    int64_t skipped = 0;
    while (skipped < bytes) {
        const int64_t left = bytes - skipped;
        const int64_t got =
            source->read(source->self, piece, left < (int64_t)sizeof piece ? (size_t)left : sizeof piece, f);
        if (got < 0) return -1;
        if (got == 0) break;
        skipped += got;
    }
    return skipped;
}

typedef struct array_reader {
    reader base;
    byte_source source;
    array_info info;
    array_page page;
    array_place place;
    histo_dtype dtypes[4];
    bool booleans[4];
    packing packings[4];
    time_epoch epochs[4];
    unpacker unpacker;
    word_maker words;
    int *swapped; /* in a table: the selected columns not in native byte order, once each */
    int swapped_count;
    int64_t pixel_bytes;
    unsigned char *buffer;
    const unsigned char *band; /* current band: in the buffer, or in the source's memory */
    bool mapped;               /* bands are in the source's memory */
    unsigned char *whole;      /* planes read into memory */
    int64_t line, at;          /* position of the next band: its line, and the pixel in it */
    int64_t stop;              /* the pixel to stop before, in the order of the source; -1: at its end */
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
    const char *element = r->info.record_bytes ? "record" : histo_dtype_name(r->info.dtype);
    return fault_set(f, EXIT_DATA,
                     "%s ends within a sample: %" PRId64 " of the %" PRId64 " bytes of a last %s are there: %s",
                     r->place.subject, excess, element_bytes(&r->info), element, r->place.remedy);
}

void array_swap_bytes(void *samples, size_t size, size_t count)
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

/* Swap the bytes of one field of records. */
static void swap_field(unsigned char *field, size_t size, int64_t record_bytes, size_t records)
{
    for (size_t i = 0; i < records; i++, field += record_bytes)
        for (size_t k = 0; k < size / 2; k++) {
            const unsigned char byte = field[k];
            field[k] = field[size - 1 - k];
            field[size - 1 - k] = byte;
        }
}

/* Find the columns to swap, each once, however often it is selected. */
static int find_swapped(array_reader *r, fault *f)
{
    const int *channels = r->base.selected.wanted, count = r->base.selected.count;
    const table_column *all = r->info.columns.column;
    r->swapped = arena_take(&r->base.selected.memory, (size_t)count, sizeof *r->swapped);
    r->swapped_count = 0;
    if (!r->swapped) return fault_set(f, EXIT_DATA, "no memory to read %s", r->place.subject);
    for (int i = 0; i < count; i++) {
        bool found = !all[channels[i]].swapped;
        for (int k = 0; k < r->swapped_count && !found; k++)
            found = r->swapped[k] == channels[i];
        if (!found) r->swapped[r->swapped_count++] = channels[i];
    }
    return 0;
}

static int array_select(reader *base, fault *f)
{
    array_reader *r = (array_reader *)base;
    if (!r->info.record_bytes) return 0;
    return columns_check(&r->info.columns, &base->selected, r->place.subject, f) == 0 ? find_swapped(r, f) : -1;
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

static int array_views(array_reader *r, band *b, fault *f)
{
    if (r->info.record_bytes) {
        for (int i = 0; i < r->base.selected.count; i++) {
            const table_column *c = &r->info.columns.column[r->base.selected.wanted[i]];
            r->base.selected.views[i] = (histo_view){r->band + c->offset,
                                                     c->dtype,
                                                     2,
                                                     0,
                                                     {b->rows, 1},
                                                     {r->info.record_bytes, (int64_t)histo_dtype_size(c->dtype)}};
        }
    } else if (r->page.by_columns) {
        int64_t sample_bytes = r->pixel_bytes;
        histo_view view = {r->band, r->info.dtype, 2, 0, {b->rows, b->cols}, {sample_bytes, b->rows * sample_bytes}};
        for (int i = 0; i < r->base.selected.count; i++)
            r->base.selected.views[i] = view;
    } else {
        reader_interleaved_views(r->base.selected.views, r->base.selected.wanted, r->base.selected.count, r->band,
                                 r->info.dtype, r->page.channels, b->rows, b->cols, b->cols * r->pixel_bytes);
    }
    if (unpack_band(&r->unpacker, &r->base.selected, b, r->place.subject, f) != 0) return -1;
    if (!r->info.record_bytes) return 0;
    return word_maker_band(&r->words, &r->info.columns, &r->base.selected, b, r->place.subject, f);
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
    if (r->info.swapped) array_swap_bytes(r->whole, sample_bytes, size / sample_bytes);
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
    *b = (band){.x = r->line, .rows = rows, .cols = count, .views = r->base.selected.views};
    for (int i = 0; i < r->base.selected.count; i++) {
        const unsigned char *first = r->whole + (r->base.selected.wanted[i] * columns + r->line) * rows * sample;
        r->base.selected.views[i] = (histo_view){first, r->info.dtype, 2, 0, {rows, count}, {sample, rows * sample}};
    }
    r->line += count;
    return unpack_band(&r->unpacker, &r->base.selected, b, r->place.subject, f) == 0 ? 1 : -1;
}

/* The pixels in a row or, in Fortran order, in a column. */
static int64_t line_length(const array_reader *r)
{
    return r->page.by_columns ? r->page.height : r->page.width;
}

static int64_t read_band(array_reader *r, int64_t want, fault *f)
{
    size_t sample_bytes = histo_dtype_size(r->info.dtype);
    int64_t got = byte_source_read_full(&r->source, r->buffer, (size_t)want, f);
    if (got > 0 && r->info.swapped) array_swap_bytes(r->buffer, sample_bytes, (size_t)got / sample_bytes);
    for (int i = 0; got > 0 && i < r->swapped_count; i++) {
        const table_column *c = &r->info.columns.column[r->swapped[i]];
        swap_field(r->buffer + c->offset, histo_dtype_size(c->dtype), r->info.record_bytes,
                   (size_t)(got / r->info.record_bytes));
    }
    r->band = r->buffer;
    return got;
}

static int array_next(reader *base, band *b, fault *f)
{
    array_reader *r = (array_reader *)base;
    if (r->page.planes) return planes_next(r, b, f);
    bool open_ended = r->page.bytes < 0;
    const int64_t length = line_length(r), pixels = r->page.bytes / r->pixel_bytes;
    const int64_t left = (r->stop < 0 ? pixels : r->stop) - (r->line * length + r->at);
    const int64_t band_bytes = r->mapped ? MAPPED_BAND_BYTES : r->source.in_parts ? CACHED_BAND_BYTES : BAND_BYTES;
    int64_t room = (input_has_waiter(r->base.in) ? LIVE_BAND_BYTES : band_bytes) / r->pixel_bytes;
    if (r->ended) return 0;
    if (!open_ended && left == 0) return r->stop < 0 ? array_end(r, f) : 0;
    if (!open_ended && left < room) room = left;

    int64_t band_lines = 1, band_length = length;
    if (r->at == 0 && length <= room)
        band_lines = room / length;
    else
        band_length = length - r->at < room ? length - r->at : room;
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
    *b = (band){.y = r->line, .x = r->at, .rows = band_lines, .cols = band_length, .views = r->base.selected.views};
    if (r->page.by_columns)
        *b = (band){.y = r->at, .x = r->line, .rows = band_length, .cols = band_lines, .views = b->views};
    r->at += band_length;
    if (r->at == length) {
        r->at = 0;
        r->line += band_lines;
    }
    return array_views(r, b, f) == 0 ? 1 : -1;
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
    r->stop = -1;
    r->ended = false;
    return 0;
}

static int array_take(reader *base, int64_t first, int64_t end, fault *f)
{
    array_reader *r = (array_reader *)base;
    r->line = first / line_length(r);
    r->at = first % line_length(r);
    r->stop = end;
    r->ended = false;
    return r->source.seek(r->source.self, r->place.start + first * r->pixel_bytes, f);
}

static int64_t array_unit(const reader *base)
{
    const array_reader *r = (const array_reader *)base;
    return r->line * line_length(r) + r->at;
}

static void array_close(reader *base)
{
    array_reader *r = (array_reader *)base;
    r->source.close(r->source.self);
    unpack_free(&r->unpacker);
    word_maker_free(&r->words);
    array_info_free(&r->info);
    free(r->whole);
    free((char *)r->place.subject);
    free(r->buffer);
}

reader *array_reader_open(input *in, byte_source source, const array_info *info, const array_place *place, fault *f)
{
    const reader_functions functions = {
        .select = array_select, .next = array_next, .rewind = array_rewind, .close = array_close};
    array_reader *r = reader_create(sizeof *r, in, functions, f);
    char *subject = strdup(place->subject);
    if (!r) {
        array_info owned = *info;
        array_info_free(&owned);
        source.close(source.self);
        free(subject);
        return NULL;
    }
    r->base.dtypes = r->dtypes;
    r->source = source;
    r->info = *info;
    r->place = *place;
    r->place.subject = subject;
    r->buffer = aligned_alloc(4096, BAND_BYTES);
    r->stop = -1;
    if (!subject || !r->buffer) {
        fault_set(f, EXIT_DATA, "no memory to read %s", place->subject);
        goto fail;
    }
    bool plain = !info->swapped && unpack_is_idle(&info->rule);
    for (int i = 0; i < info->columns.count; i++)
        plain = plain && !info->columns.column[i].swapped && unpack_is_idle(&info->columns.column[i].rule);
    r->base.maps = r->mapped = source.map && plain && place->size >= 0;
    if (!array_page_of(info, &r->page)) {
        fault_set(f, EXIT_DATA, "%s has a shape of more than 2^63 bytes: %s", subject, place->remedy);
        goto fail;
    }
    r->base.channels = r->page.channels;
    r->base.height = r->page.height;
    r->base.width = r->page.width;
    r->pixel_bytes = r->page.channels * element_bytes(info);
    for (int c = 0; c < r->page.channels; c++) {
        r->dtypes[c] = unpack_dtype(&info->rule, info->dtype);
        r->booleans[c] = info->boolean;
        r->packings[c] = info->rule;
        r->epochs[c] = info->rule.epoch;
    }
    r->unpacker.packings = r->packings;
    r->base.booleans = r->booleans;
    r->base.epochs = r->epochs;
    if (info->record_bytes > MOST_RECORD_BYTES) {
        fault_set(f, EXIT_DATA, "%s has records of %" PRId64 " bytes, more than %d: save its fields separately",
                  subject, info->record_bytes, (int)MOST_RECORD_BYTES);
        goto fail;
    }
    if (info->record_bytes) {
        if (columns_publish(&r->info.columns, &r->base, subject, f) != 0) goto fail;
        r->unpacker.packings = r->info.columns.packings;
    }
    if (!(r->base.about = metadata_create())) {
        fault_set(f, EXIT_DATA, "no memory to read %s", subject);
        goto fail;
    }
    r->base.about->ndim = info->ndim;
    memcpy(r->base.about->shape, info->shape, sizeof info->shape);
    r->base.about->fortran = info->fortran && r->page.flat;
    r->base.about->boolean = info->boolean;
    if (place->size >= 0) {
        int64_t sample_bytes = element_bytes(info);
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
    if (source.seek && place->size > 0 && !r->page.planes) {
        r->base.units = r->page.bytes / r->pixel_bytes;
        r->base.take = array_take;
        r->base.unit = array_unit;
    }
    return &r->base;

fail:
    reader_destroy(&r->base);
    return NULL;
}
