/* BMP images: 1 to 32 bits, of all versions of the header, bottom-up and top-down, with palettes, masks, and run
 * lengths. Palettes become RGB, or gray if they contain only grays, which is how the format represents gray images.
 * Rows come from the file; run lengths are decoded whole. */
#include <stdio.h>
#include <string.h>

#include "input/readers/images/paged.h"

enum {
    FILE_HEADER_BYTES = 14,
    CORE_HEADER_BYTES = 12, /* the oldest version */
    INFO_HEADER_BYTES = 40,
    MASKS_HEADER_BYTES = 52, /* headers from this size on have colour masks */
    ALPHA_HEADER_BYTES = 56, /* headers from this size on have an alpha mask */
    MOST_HEADER_BYTES = 124,
    PIECE_BYTES = 65536,
};

typedef enum bmp_compression {
    BMP_RGB = 0,
    BMP_RLE8,
    BMP_RLE4,
    BMP_BITFIELDS,
    BMP_ALPHABITFIELDS = 6,
} bmp_compression;

/* A channel in a pixel of 16 or 32 bits. */
typedef struct bmp_mask {
    uint32_t mask;
    int shift, bits;
} bmp_mask;

typedef struct bmp_reader {
    paged paged; /* must be first */
    bool top_down;
    unsigned bits; /* of a pixel */
    bmp_compression compression;
    double resolution[2]; /* pixels per metre; 0: unknown */
    int64_t data;         /* offset of the first row */
    int64_t pitch;        /* size of a stored row, with padding */
    unsigned char palette[256][3];
    unsigned colors;
    bmp_mask masks[4];

    /* For reading run lengths. */
    int64_t position;
    size_t piece_size, piece_at;
    unsigned char piece[PIECE_BYTES];
} bmp_reader;

bool bmp_recognise(const unsigned char *head, size_t size, const char *path)
{
    static const unsigned char sizes[] = {12, 16, 40, 52, 56, 64, 108, 124};
    (void)path;
    return size >= 18 && head[0] == 'B' && head[1] == 'M' && memchr(sizes, head[14], sizeof sizes) && head[15] == 0 &&
           head[16] == 0 && head[17] == 0;
}

static unsigned half_at(const unsigned char *bytes)
{
    return bytes[0] | (unsigned)bytes[1] << 8;
}

static uint32_t word_at(const unsigned char *bytes)
{
    return half_at(bytes) | (uint32_t)half_at(bytes + 2) << 16;
}

/* Read exactly `size` bytes. */
static int read_at(const bmp_reader *r, int64_t at, void *to, int64_t size, const char *place, fault *f)
{
    const image *m = &r->paged.image;
    const int64_t got = input_read_at(m->reader.in, at, to, (size_t)size, f);
    if (got < 0) return -1;
    return got == size ? 0 : image_damaged(m, place, "it ends early", f);
}

/* ---- The header ---- */

static bool set_mask(bmp_mask *to, uint32_t mask)
{
    *to = (bmp_mask){.mask = mask};
    if (!mask) return true;
    while (!(mask >> to->shift & 1))
        to->shift++;
    while (to->shift + to->bits < 32 && mask >> (to->shift + to->bits) & 1)
        to->bits++;
    return to->bits <= 8 && mask >> to->shift == ((UINT32_C(1) << to->bits) - 1);
}

/* The masks of pixels of 16 and 32 bits. header: MOST_HEADER_BYTES, including what follows a short one. */
static int read_masks(bmp_reader *r, const unsigned char *header, uint32_t size, fault *f)
{
    static const uint32_t usual[2][4] = {{0x7C00, 0x03E0, 0x001F, 0}, {0xFF0000, 0xFF00, 0xFF, 0}};
    const bool own = r->compression == BMP_BITFIELDS || r->compression == BMP_ALPHABITFIELDS;
    const bool alpha = r->compression == BMP_ALPHABITFIELDS || size >= ALPHA_HEADER_BYTES;
    for (int c = 0; c < 4; c++) {
        uint32_t mask = usual[r->bits == 32][c];
        if (own) mask = c < 3 || alpha ? word_at(header + INFO_HEADER_BYTES + 4 * c) : 0;
        if (!set_mask(&r->masks[c], mask) || (c < 3 && !mask))
            return paged_unsupported(&r->paged, "channels that are not 1 to 8 bits next to each other", f);
    }
    r->paged.layout.model = r->masks[3].bits ? CHANNELS_RGBA : CHANNELS_RGB;
    r->paged.layout.channels = r->masks[3].bits ? 4 : 3;
    return 0;
}

static int read_palette(bmp_reader *r, int64_t at, uint32_t entries, int entry_bytes, fault *f)
{
    unsigned char stored[256 * 4];
    const uint32_t colours = 1U << r->bits;
    if (entries == 0 || entries > colours) entries = colours;
    if (r->data >= at && (r->data - at) / entry_bytes < entries) entries = (uint32_t)((r->data - at) / entry_bytes);
    if (read_at(r, at, stored, (int64_t)entries * entry_bytes, "the palette", f) != 0) return -1;
    bool gray = true;
    for (uint32_t i = 0; i < entries; i++) {
        const unsigned char *from = stored + i * (uint32_t)entry_bytes;
        for (int c = 0; c < 3; c++)
            r->palette[i][c] = from[2 - c];
        gray = gray && from[0] == from[1] && from[1] == from[2];
    }
    r->colors = entries;
    r->paged.layout.model = gray ? CHANNELS_GRAY : CHANNELS_RGB;
    r->paged.layout.channels = gray ? 1 : 3;
    return 0;
}

static int check_form(const bmp_reader *r, uint32_t compression, fault *f)
{
    char what[64];
    const unsigned bits = r->bits;
    const bool packed = bits == 1 || bits == 2 || bits == 4 || bits == 8, masked = bits == 16 || bits == 32;
    const bool supported = compression == BMP_RGB    ? packed || masked || bits == 24
                           : compression == BMP_RLE8 ? bits == 8
                           : compression == BMP_RLE4
                               ? bits == 4
                               : masked && (compression == BMP_BITFIELDS || compression == BMP_ALPHABITFIELDS);
    snprintf(what, sizeof what, "pixels of %u bits in the compression %u", bits, (unsigned)compression);
    return supported ? 0 : paged_unsupported(&r->paged, what, f);
}

static int open_bmp(paged *p, fault *f)
{
    bmp_reader *r = (bmp_reader *)p;
    unsigned char head[FILE_HEADER_BYTES + MOST_HEADER_BYTES] = {0};
    if (input_random(p->image.reader.in, f) < 0) return -1;
    const int64_t got = input_read_at(p->image.reader.in, 0, head, sizeof head, f);
    if (got < 0) return -1;
    const unsigned char *header = head + FILE_HEADER_BYTES;
    const uint32_t size = word_at(header);
    if (!bmp_recognise(head, (size_t)got, "") || got < FILE_HEADER_BYTES + (int64_t)size)
        return image_damaged(&p->image, "the BMP header", "it is not a header, or ends early", f);
    const bool core = size == CORE_HEADER_BYTES;
    int64_t height = core ? (int64_t)half_at(header + 6) : (int32_t)word_at(header + 8);
    uint32_t compression = BMP_RGB, colors = 0;
    r->bits = half_at(header + (core ? 10 : 14));
    if (size >= INFO_HEADER_BYTES) {
        compression = word_at(header + 16);
        r->resolution[0] = (int32_t)word_at(header + 24);
        r->resolution[1] = (int32_t)word_at(header + 28);
        colors = word_at(header + 32);
    }
    if (check_form(r, compression, f) != 0) return -1;
    r->compression = (bmp_compression)compression;
    r->top_down = height < 0;
    r->paged.layout = (image_layout){.model = CHANNELS_RGB,
                                     .channels = 3,
                                     .dtype = HISTO_U8,
                                     .width = core ? (int64_t)half_at(header + 4) : (int32_t)word_at(header + 4),
                                     .height = r->top_down ? -height : height};
    r->pitch = (r->paged.layout.width * r->bits + 31) / 32 * 4;
    r->data = word_at(head + 10);
    int64_t end = FILE_HEADER_BYTES + (int64_t)size;
    if (size == INFO_HEADER_BYTES)
        end += compression == BMP_BITFIELDS ? 12 : compression == BMP_ALPHABITFIELDS ? 16 : 0;
    if (r->data < end) r->data = end; /* some writers omit it */
    if (r->bits == 16 || r->bits == 32) return read_masks(r, header, size, f);
    return r->bits == 24 ? 0 : read_palette(r, end, colors, core ? 3 : 4, f);
}

static bool keep(paged *p, metadata *about)
{
    const bmp_reader *r = (const bmp_reader *)p;
    if (r->resolution[0] <= 0 || r->resolution[1] <= 0) return true;
    about->unit = RESOLUTION_CENTIMETER;
    for (int i = 0; i < 2; i++)
        about->resolution[i] = r->resolution[i] / 100;
    return true;
}

/* ---- Run lengths ---- */

/* The next byte; -1 at the end of the file, or on failure. */
static int next_byte(bmp_reader *r, fault *f)
{
    if (r->piece_at == r->piece_size) {
        const int64_t got = input_read_at(r->paged.image.reader.in, r->position, r->piece, sizeof r->piece, f);
        if (got <= 0) return -1;
        r->position += got;
        r->piece_size = (size_t)got;
        r->piece_at = 0;
    }
    return r->piece[r->piece_at++];
}

/* Put `count` pixels at column *x of a row; NULL: after the last row. A byte holds one or two pixels; next: each pixel
 * has its own, otherwise all repeat the first. False if the data end. */
static bool put_pixels(bmp_reader *r, unsigned char *row, int64_t *x, int count, int first, bool literal, fault *f)
{
    const bool nibbles = r->compression == BMP_RLE4;
    int byte = first;
    for (int i = 0; i < count; i++) {
        if (literal && (!nibbles || i % 2 == 0) && (byte = next_byte(r, f)) < 0) return false;
        const int index = !nibbles ? byte : i % 2 ? byte & 15 : byte >> 4;
        if (row && *x < r->paged.layout.width) row[(*x)++] = (unsigned char)index;
    }
    return true;
}

/* Decode all rows to indices, in the file's order; skipped pixels get colour 0. */
static int decode_runs(bmp_reader *r, unsigned char *to, fault *f)
{
    const int64_t width = r->paged.layout.width, height = r->paged.layout.height;
    int64_t x = 0, y = 0;
    r->position = r->data;
    r->piece_at = r->piece_size = 0;
    while (y < height) {
        unsigned char *row = to + y * width;
        const int count = next_byte(r, f), value = next_byte(r, f);
        if (value < 0) break;
        if (count > 0) {
            put_pixels(r, row, &x, count, value, false, f);
        } else if (value == 0) { /* end of row */
            x = 0;
            y++;
        } else if (value == 1) { /* end of image */
            return 0;
        } else if (value == 2) { /* skip */
            const int right = next_byte(r, f), up = next_byte(r, f);
            if (up < 0) break;
            x = x + right < width ? x + right : width;
            y += up;
        } else {
            if (!put_pixels(r, row, &x, value, 0, true, f)) break;
            const int bytes = r->compression == BMP_RLE4 ? (value + 1) / 2 : value;
            if (bytes % 2 && next_byte(r, f) < 0) break;
        }
    }
    if (f->status != EXIT_OK) return -1;
    return y >= height ? 0 : image_damaged(&r->paged.image, "the image", "it ends early", f);
}

static int decode(paged *p, fault *f)
{
    bmp_reader *r = (bmp_reader *)p;
    image *m = &p->image;
    if (r->compression != BMP_RLE8 && r->compression != BMP_RLE4) return 0;
    const size_t pixels = (size_t)(r->paged.layout.width * r->paged.layout.height);
    if (paged_check_memory(p, &r->paged.layout, 1, f) != 0 || image_reserve(m, &m->packed, pixels, f) != 0) return -1;
    memset(m->packed.data, 0, pixels);
    return decode_runs(r, m->packed.data, f);
}

/* ---- Rows ---- */

/* Widen to 8 bits by repeating the bits, as most programs do. */
static unsigned char widen(uint32_t pixel, bmp_mask mask)
{
    uint32_t value = (pixel & mask.mask) >> mask.shift << (8 - mask.bits);
    for (int bits = mask.bits; bits < 8; bits *= 2)
        value |= value >> bits;
    return (unsigned char)value;
}

static int damaged_color(const bmp_reader *r, int64_t y, fault *f)
{
    char place[48];
    snprintf(place, sizeof place, "row %lld", (long long)y);
    return image_damaged(&r->paged.image, place, "it has colours that the palette lacks", f);
}

/* Convert a row of indices of this many bits. */
static int expand_indices(const bmp_reader *r, const unsigned char *from, unsigned bits, unsigned char *to, int64_t y,
                          fault *f)
{
    const size_t channels = (size_t)r->paged.layout.channels;
    for (int64_t x = 0; x < r->paged.layout.width; x++, to += channels) {
        const unsigned index = image_packed_sample(from, bits, (size_t)x);
        if (index >= r->colors) return damaged_color(r, y, f);
        memcpy(to, r->palette[index], channels);
    }
    return 0;
}

static void expand_pixels(const bmp_reader *r, const unsigned char *from, unsigned char *to)
{
    const int channels = r->paged.layout.channels;
    for (int64_t x = 0; x < r->paged.layout.width; x++, to += channels) {
        if (r->bits == 24) {
            for (int c = 0; c < 3; c++)
                to[c] = from[3 * x + 2 - c];
            continue;
        }
        const uint32_t pixel = r->bits == 16 ? half_at(from + 2 * x) : word_at(from + 4 * x);
        for (int c = 0; c < channels; c++)
            to[c] = widen(pixel, r->masks[c]);
    }
}

static int next_band(paged *p, band *b, fault *f)
{
    bmp_reader *r = (bmp_reader *)p;
    image *m = &p->image;
    const int64_t rows = image_band_rows(m), height = r->paged.layout.height;
    const int64_t first = r->top_down ? m->y : height - m->y - rows; /* row in the file */
    const bool runs = r->compression == BMP_RLE8 || r->compression == BMP_RLE4;
    const int64_t pitch = runs ? r->paged.layout.width : r->pitch;
    if (image_reserve(m, &m->rows, image_pitch(m) * (size_t)rows, f) != 0) return -1;
    if (!runs) {
        /* The last row may lack its padding. */
        const int64_t padding = first + rows == height ? pitch - (r->paged.layout.width * r->bits + 7) / 8 : 0;
        char place[64];
        snprintf(place, sizeof place, "rows %lld to %lld", (long long)m->y, (long long)(m->y + rows - 1));
        if (image_reserve(m, &m->packed, (size_t)(rows * pitch), f) != 0 ||
            read_at(r, r->data + first * pitch, m->packed.data, rows * pitch - padding, place, f) != 0)
            return -1;
    }
    const unsigned char *stored = m->packed.data + (runs ? first * pitch : 0);
    for (int64_t i = 0; i < rows; i++) {
        const unsigned char *from = stored + (r->top_down ? i : rows - 1 - i) * pitch;
        unsigned char *to = m->rows.data + (size_t)i * image_pitch(m);
        if (r->bits > 8)
            expand_pixels(r, from, to);
        else if (expand_indices(r, from, runs ? 8 : r->bits, to, m->y + i, f) != 0)
            return -1;
    }
    return image_emit_rows(m, b, rows);
}

const paged_format bmp_pages = {
    .size = sizeof(bmp_reader), .open = open_bmp, .keep = keep, .decode = decode, .band = next_band};
