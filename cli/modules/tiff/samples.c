/* The samples of a band: from the file or libtiff, in the layout of the page. */
#include <stdio.h>
#include <string.h>

#include "modules/tiff/tiff.h"

/* Convert the samples of a row from libtiff's form to the layout. */
static void expand_row(const tiff_reader *t, const unsigned char *from, unsigned char *to, size_t samples)
{
    unsigned bits = t->stored.bits;
    if (t->stored.palette) {
        for (size_t i = 0; i < samples; i++) {
            unsigned index =
                bits == 16 ? ((const uint16_t *)(const void *)from)[i] : image_packed_sample(from, bits, i);
            memcpy(to + 3 * i, t->palette[index], 3);
        }
    } else if (bits < 8) {
        unsigned scale = 255 / ((1U << bits) - 1);
        for (size_t i = 0; i < samples; i++)
            to[i] = (unsigned char)(image_packed_sample(from, bits, i) * scale);
    } else {
        uint16_t *wide = (uint16_t *)(void *)to;
        for (size_t i = 0; i < samples; i++)
            wide[i] = (uint16_t)image_packed_sample(from, bits, i);
    }
}

/* Exchange black and white in the first of the row's channels. */
static void invert_row(const tiff_reader *t, unsigned char *row, size_t pixels, size_t channels)
{
    const size_t size = histo_dtype_size(t->stored.dtype), step = channels * size;
    const uint16_t deep = (uint16_t)((1U << (t->stored.bits & 15)) - 1); /* of 10, 12 and 14 bits */
    unsigned char mask[8];
    memset(mask, 0xFF, sizeof mask);
    if (t->stored.bits > 8 && t->stored.bits < 16) memcpy(mask, &deep, sizeof deep);
    for (size_t i = 0; i < pixels; i++)
        for (size_t k = 0; k < size; k++)
            row[i * step + k] ^= mask[k];
}

static void swap_samples(const tiff_reader *t, unsigned char *data, size_t bytes)
{
    if (!TIFFIsByteSwapped(t->tif)) return;
    void *samples = data;
    switch (t->stored.bits) {
    case 16:
        TIFFSwabArrayOfShort(samples, (tmsize_t)(bytes / 2));
        break;
    case 32:
        TIFFSwabArrayOfLong(samples, (tmsize_t)(bytes / 4));
        break;
    case 64:
        TIFFSwabArrayOfLong8(samples, (tmsize_t)(bytes / 8));
        break;
    default:
        break;
    }
}

/* Each sample is the sum of the stored ones up to it. Accumulating in a register takes a cycle; libtiff accumulates in
 * memory, which takes five. */
static void add_up_8(uint8_t *row, size_t samples, size_t channels)
{
    for (size_t c = 0; c < channels; c++) {
        uint8_t sum = 0;
        for (size_t i = c; i < samples; i += channels)
            row[i] = sum = (uint8_t)(sum + row[i]);
    }
}

static void add_up_16(uint16_t *row, size_t samples, size_t channels)
{
    for (size_t c = 0; c < channels; c++) {
        uint16_t sum = 0;
        for (size_t i = c; i < samples; i += channels)
            row[i] = sum = (uint16_t)(sum + row[i]);
    }
}

static void add_up_32(uint32_t *row, size_t samples, size_t channels)
{
    for (size_t c = 0; c < channels; c++) {
        uint32_t sum = 0;
        for (size_t i = c; i < samples; i += channels)
            row[i] = sum += row[i];
    }
}

static void add_up_64(uint64_t *row, size_t samples, size_t channels)
{
    for (size_t c = 0; c < channels; c++) {
        uint64_t sum = 0;
        for (size_t i = c; i < samples; i += channels)
            row[i] = sum += row[i];
    }
}

static void add_up_row(const tiff_reader *t, void *row, size_t samples, size_t channels)
{
    switch (t->stored.bits) {
    case 8:
        add_up_8(row, samples, channels);
        break;
    case 16:
        add_up_16(row, samples, channels);
        break;
    case 32:
        add_up_32(row, samples, channels);
        break;
    default:
        add_up_64(row, samples, channels);
        break;
    }
}

static int damaged_row(const tiff_reader *t, int64_t y, fault *f)
{
    char place[80];
    snprintf(place, sizeof place, "row %lld of page %d", (long long)y, t->image.page);
    return image_damaged(&t->image, place, tiff_complaint_or(t, "its data is missing or ends early"), f);
}

/* Whether the file gives this strip or tile an offset and at least `bytes` bytes. If not, libtiff would read samples
 * from unrelated data. Only uncompressed sizes are known. */
static bool is_present(const tiff_reader *t, uint32_t block, uint64_t bytes)
{
    uint64_t size = TIFFGetStrileByteCount(t->tif, block);
    return TIFFGetStrileOffset(t->tif, block) > 0 && size > 0 && (t->stored.compressed || size >= bytes);
}

static uint32_t strip_of(const tiff_reader *t, int plane, int64_t y)
{
    int64_t height = t->stored.block_height, strips = (t->image.layout.height + height - 1) / height;
    return (uint32_t)(plane * strips + y / height);
}

/* Rows of a plane that are contiguous in the file. */
typedef struct strip_run {
    off_t start;
    int64_t rows; /* 0: row y is not in the file */
} strip_run;

/* From row y on, at most `rows`. */
static strip_run find_run(const tiff_reader *t, int plane, int64_t y, int64_t rows)
{
    const storage *s = &t->stored;
    strip_run found = {0};
    while (found.rows < rows) {
        const int64_t at = y + found.rows, skip = at % s->block_height, left = s->block_height - skip;
        const int64_t n = left < rows - found.rows ? left : rows - found.rows;
        const uint32_t strip = strip_of(t, plane, at);
        const uint64_t begin = (uint64_t)skip * s->pitch;
        off_t start;
        if (!is_present(t, strip, begin + (uint64_t)n * s->pitch) ||
            __builtin_add_overflow(TIFFGetStrileOffset(t->tif, strip), begin, &start))
            return found;
        if (found.rows > 0 && start != found.start + (off_t)((uint64_t)found.rows * s->pitch)) return found;
        if (found.rows == 0) found.start = start;
        found.rows += n;
    }
    return found;
}

/* Read rows [y, y + rows) of a plane directly from the file. */
static int read_direct(tiff_reader *t, int plane, int64_t y, int64_t rows, unsigned char *to, fault *f)
{
    while (rows > 0) {
        const strip_run next = find_run(t, plane, y, rows);
        const size_t bytes = (size_t)next.rows * t->stored.pitch, got = tiff_read_at(t, next.start, to, bytes);
        if (next.rows == 0 || got != bytes) return damaged_row(t, y + (int64_t)(got / t->stored.pitch), f);
        swap_samples(t, to, bytes);
        to += bytes;
        y += next.rows;
        rows -= next.rows;
    }
    return 0;
}

static int read_scanlines(tiff_reader *t, int plane, int64_t y, int64_t rows, unsigned char *to, fault *f)
{
    for (int64_t end = y + rows; y < end; y++, to += t->stored.pitch)
        if (!is_present(t, strip_of(t, plane, y), t->stored.pitch) ||
            TIFFReadScanline(t->tif, to, (uint32_t)y, (uint16_t)plane) < 0 || t->complaint[0])
            return damaged_row(t, y, f);
    return 0;
}

/* Decode a tile or strip of `rows` rows. */
static bool decode_block(tiff_reader *t, uint32_t block, int64_t rows, unsigned char *to, tmsize_t bytes)
{
    const storage *s = &t->stored;
    if (!s->jp2)
        return (s->tiled ? TIFFReadEncodedTile(t->tif, block, to, bytes)
                         : TIFFReadEncodedStrip(t->tif, block, to, bytes)) == bytes;
    const uint64_t size = TIFFGetStrileByteCount(t->tif, block);
    const jp2_block as = {.width = s->block_width,
                          .height = rows,
                          .most_rows = s->block_height,
                          .channels = t->image.layout.channels,
                          .dtype = s->dtype,
                          .luma = s->jp2_luma};
    char complaint[JP2_COMPLAINT_BYTES];
    if (size > IMAGE_MAX_BLOCK_BYTES || !scratch_reserve(&t->block, (size_t)size)) return false;
    const off_t at = (off_t)TIFFGetStrileOffset(t->tif, block);
    if (tiff_read_at(t, at, t->block.data, (size_t)size) != size) return false;
    if (t->decode_jp2(t->block.data, (size_t)size, &as, to, complaint)) return true;
    snprintf(t->complaint, sizeof t->complaint, "JPEG 2000: %s", complaint);
    return false;
}

/* Read the strip that begins with row y. libtiff inflates whole strips faster. */
static int read_strip(tiff_reader *t, int plane, int64_t y, int64_t rows, unsigned char *to, fault *f)
{
    const uint32_t strip = strip_of(t, plane, y);
    const tmsize_t bytes = (tmsize_t)t->stored.pitch * rows;
    if (is_present(t, strip, (uint64_t)bytes) && decode_block(t, strip, rows, to, bytes) && !t->complaint[0]) return 0;
    char place[96];
    snprintf(place, sizeof place, "rows %lld to %lld of page %d", (long long)y, (long long)(y + rows - 1),
             t->image.page);
    return image_damaged(&t->image, place, tiff_complaint_or(t, "its data is missing or ends early"), f);
}

static int read_strips(tiff_reader *t, int plane, int64_t y, int64_t rows, unsigned char *to, fault *f)
{
    for (int64_t n; rows > 0; y += n, rows -= n, to += (size_t)n * t->stored.pitch) {
        n = rows < t->stored.block_height ? rows : t->stored.block_height;
        if (read_strip(t, plane, y, n, to, f) != 0) return -1;
    }
    return 0;
}

static int read_tile(tiff_reader *t, int plane, int64_t y, unsigned char *to, fault *f)
{
    uint32_t tile = TIFFComputeTile(t->tif, (uint32_t)t->x, (uint32_t)y, 0, (uint16_t)plane);
    tmsize_t bytes = (tmsize_t)t->stored.pitch * t->stored.block_height;
    if (is_present(t, tile, (uint64_t)bytes) && decode_block(t, tile, t->stored.block_height, to, bytes) &&
        !t->complaint[0])
        return 0;
    char place[96];
    snprintf(place, sizeof place, "the tile at row %lld, column %lld of page %d", (long long)y, (long long)t->x,
             t->image.page);
    return image_damaged(&t->image, place, tiff_complaint_or(t, "its data is missing or ends early"), f);
}

int tiff_read_part(tiff_reader *t, int plane, int64_t rows, unsigned char *part, size_t pitch, fault *f)
{
    const storage *s = &t->stored;
    const image *m = &t->image;
    unsigned char *to = s->expand ? m->packed.data : part;
    /* Some decoders omit the end of a block without an error: never count stale memory. */
    if (!s->direct) memset(to, 0, s->pitch * (size_t)(s->tiled ? s->block_height : rows));

    t->decoding = true;
    int status = s->tiled    ? read_tile(t, plane, m->y, to, f)
                 : s->direct ? read_direct(t, plane, m->y, rows, to, f)
                 : s->strips ? read_strips(t, plane, m->y, rows, to, f)
                             : read_scanlines(t, plane, m->y, rows, to, f);
    t->decoding = false;
    if (status < 0) return status;

    const bool inverted = s->white_is_zero && plane == 0;
    const size_t pixels = (size_t)s->block_width, channels = s->planes ? 1 : (size_t)m->layout.channels;
    const size_t stored = s->palette ? pixels : pixels * channels;
    for (int64_t y = 0; y < rows && (t->adds_up || s->expand || inverted); y++) {
        unsigned char *from = to + (size_t)y * s->pitch, *row = part + (size_t)y * pitch;
        if (t->adds_up) add_up_row(t, from, stored, s->palette ? 1 : channels);
        if (s->expand) expand_row(t, from, row, stored);
        if (inverted) invert_row(t, row, pixels, channels);
    }
    return 0;
}
