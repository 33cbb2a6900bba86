/* Radiance HDR images: RGB (or XYZ) with a shared exponent, as f32, in rows from top to bottom, without run lengths or
 * with either kind. Values are as stored, without applying the header's EXPOSURE. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/readers/images/paged.h"

enum { BUFFER_BYTES = 65536, LINE_BYTES = 4096, MOST_LINES = 1000, LEAST_RUNS = 8, MOST_RUNS = 32767 };

typedef struct hdr_reader {
    paged paged; /* must be first */
    bool xyz;
    bool begun;           /* rows have been read since the header */
    float scales[256];    /* by exponent */
    unsigned char *pixel; /* of a row: r, g, b, e; owned */
    size_t size, at;
    unsigned char buffer[BUFFER_BYTES];
} hdr_reader;

static int damaged(const hdr_reader *h, const char *complaint, fault *f)
{
    char place[48];
    snprintf(place, sizeof place, "row %lld", (long long)h->paged.image.y);
    return f->status != EXIT_OK ? -1 : image_damaged(&h->paged.image, place, complaint, f);
}

/* The next byte; -1 at the end, or on failure. */
static int next_byte(hdr_reader *h, fault *f)
{
    if (h->at == h->size) {
        const int64_t got = input_read(h->paged.image.reader.in, h->buffer, sizeof h->buffer, f);
        if (got <= 0) return -1;
        h->size = (size_t)got;
        h->at = 0;
    }
    return h->buffer[h->at++];
}

/* ---- The header ---- */

static int bad_header(const hdr_reader *h, const char *complaint, fault *f)
{
    return f->status != EXIT_OK ? -1 : image_damaged(&h->paged.image, "the header", complaint, f);
}

static int read_line(hdr_reader *h, char line[LINE_BYTES], fault *f)
{
    size_t length = 0;
    for (int byte; (byte = next_byte(h, f)) != '\n';) {
        if (byte < 0) return bad_header(h, "it ends early", f);
        if (length == LINE_BYTES - 1) return bad_header(h, "a line is longer than 4095 bytes", f);
        line[length++] = (char)byte;
    }
    if (length && line[length - 1] == '\r') length--;
    line[length] = '\0';
    return 0;
}

static int read_size(hdr_reader *h, const char *line, fault *f)
{
    char axes[2] = {0}, signs[2] = {0};
    long long sizes[2] = {0};
    if (sscanf(line, "%c%c %9lld %c%c %9lld", &signs[0], &axes[0], &sizes[0], &signs[1], &axes[1], &sizes[1]) != 6)
        return bad_header(h, "its size is missing", f);
    if (signs[0] != '-' || axes[0] != 'Y' || signs[1] != '+' || axes[1] != 'X')
        return paged_unsupported(&h->paged, "rows that are not from top to bottom, left to right", f);
    h->paged.layout = (image_layout){.model = h->xyz ? CHANNELS_PLAIN : CHANNELS_RGB,
                                     .channels = 3,
                                     .dtype = HISTO_F32,
                                     .width = sizes[1],
                                     .height = sizes[0]};
    return 0;
}

static int read_header(hdr_reader *h, fault *f)
{
    char line[LINE_BYTES] = "";
    for (int lines = 0;; lines++) {
        if (lines == MOST_LINES) return bad_header(h, "it has more than 1000 lines", f);
        if (read_line(h, line, f) != 0) return -1;
        if (!line[0]) break;
        if (strncmp(line, "FORMAT=", 7) == 0) h->xyz = strcmp(line + 7, "32-bit_rle_xyze") == 0;
    }
    return read_line(h, line, f) == 0 ? read_size(h, line, f) : -1;
}

static int open_hdr(paged *p, fault *f)
{
    static const char *const xyz[] = {"x", "y", "z"};
    hdr_reader *h = (hdr_reader *)p;
    for (int e = 1; e < 256; e++)
        h->scales[e] = ldexpf(1, e - 136);
    if (read_header(h, f) != 0) return -1;
    if (h->xyz) p->image.reader.names = xyz;
    return 0;
}

/* ---- Rows ---- */

/* Move to the first row. */
static int decode(paged *p, fault *f)
{
    hdr_reader *h = (hdr_reader *)p;
    if (h->begun) {
        h->at = h->size = 0;
        if (input_rewind(p->image.reader.in, f) != 0 || read_header(h, f) != 0) return -1;
        if (p->layout.width != p->image.layout.width || p->layout.height != p->image.layout.height)
            return bad_header(h, "it has changed", f);
    }
    h->begun = true;
    if (!h->pixel && !(h->pixel = malloc(4 * (size_t)h->paged.layout.width)))
        return fault_set(f, EXIT_DATA, "%s: out of memory", input_name(p->image.reader.in));
    return 0;
}

/* Read one of the four components of a row, in runs of the new kind. */
static int read_runs(hdr_reader *h, int part, fault *f)
{
    for (int64_t x = 0; x < h->paged.layout.width;) {
        int count = next_byte(h, f), value = -1;
        const bool run = count > 128;
        if (run) {
            count -= 128;
            value = next_byte(h, f);
        }
        if (count < 1 || count > h->paged.layout.width - x || (run && value < 0))
            return damaged(h, "its run lengths are wrong", f);
        for (; count > 0; count--, x++) {
            if (!run && (value = next_byte(h, f)) < 0) return damaged(h, "it ends early", f);
            h->pixel[4 * x + part] = (unsigned char)value;
        }
    }
    return 0;
}

/* Read a row of pixels from column x on; 1 1 1 n repeats the last pixel, and several such make a longer count. */
static int read_pixels(hdr_reader *h, int64_t x, fault *f)
{
    int shift = 0;
    while (x < h->paged.layout.width) {
        unsigned char *to = h->pixel + 4 * x;
        for (int c = 0; c < 4; c++) {
            const int byte = next_byte(h, f);
            if (byte < 0) return damaged(h, "it ends early", f);
            to[c] = (unsigned char)byte;
        }
        if (to[0] != 1 || to[1] != 1 || to[2] != 1) {
            shift = 0;
            x++;
            continue;
        }
        const int64_t count = shift < 32 ? (int64_t)to[3] << shift : INT64_MAX;
        if (x == 0 || count > h->paged.layout.width - x) return damaged(h, "its run lengths are wrong", f);
        for (int64_t end = x + count; x < end; x++)
            memmove(h->pixel + 4 * x, h->pixel + 4 * (x - 1), 4);
        shift += 8;
    }
    return 0;
}

static int read_row(hdr_reader *h, fault *f)
{
    unsigned char *first = h->pixel;
    for (int c = 0; c < 4; c++) {
        const int byte = next_byte(h, f);
        if (byte < 0) return damaged(h, "it ends early", f);
        first[c] = (unsigned char)byte;
    }
    const bool runs = h->paged.layout.width >= LEAST_RUNS && h->paged.layout.width <= MOST_RUNS && first[0] == 2 &&
                      first[1] == 2 && (first[2] << 8 | first[3]) == h->paged.layout.width;
    for (int part = 0; runs && part < 4; part++)
        if (read_runs(h, part, f) != 0) return -1;
    if (!runs && first[0] == 1 && first[1] == 1 && first[2] == 1) return damaged(h, "its run lengths are wrong", f);
    return runs ? 0 : read_pixels(h, 1, f);
}

static int next_band(paged *p, band *b, fault *f)
{
    hdr_reader *h = (hdr_reader *)p;
    image *m = &p->image;
    const int64_t rows = image_band_rows(m), top = m->y;
    if (image_reserve(m, &m->rows, image_pitch(m) * (size_t)rows, f) != 0) return -1;
    float *to = (float *)(void *)m->rows.data;
    for (int64_t y = 0; y < rows; y++) {
        m->y = top + y; /* for messages */
        if (read_row(h, f) != 0) return -1;
        for (const unsigned char *from = h->pixel, *end = from + 4 * h->paged.layout.width; from < end; from += 4)
            for (int c = 0; c < 3; c++)
                *to++ = (float)from[c] * h->scales[from[3]];
    }
    m->y = top;
    return image_emit_rows(m, b, rows);
}

static void close_hdr(paged *p)
{
    free(((hdr_reader *)p)->pixel);
}

const paged_format hdr_pages = {
    .size = sizeof(hdr_reader), .open = open_hdr, .decode = decode, .band = next_band, .close = close_hdr};
