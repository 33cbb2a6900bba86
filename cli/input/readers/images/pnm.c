/* Netpbm images: PBM, PGM, PPM (P1 to P6), PAM (P7) and PFM (Pf, PF). Samples keep their type: u8, or u16 if the
 * maximum value needs it; f32 in PFM. PBM's bits, in which 1 is black, become 0 and 255. A file may contain several
 * images, its pages. PFM stores the bottom row first, so its bands go upwards. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/readers/images/image.h"

enum { BUFFER_BYTES = 65536, TOKEN_BYTES = 64, LARGEST_VALUE = 65535 };

typedef enum raster {
    RASTER_TEXT_BITS, /* P1 */
    RASTER_TEXT,      /* P2, P3 */
    RASTER_BITS,      /* P4 */
    RASTER_BINARY,    /* P5, P6, P7 */
    RASTER_FLOATS,    /* Pf, PF */
} raster;

typedef struct pnm_reader {
    image image;
    raster raster;
    int64_t largest; /* maximum sample value */
    bool foreign;    /* not in native byte order */
    read_options options;
    int wanted_page; /* -1: all */
    bool has_page;   /* --page was given */
    int64_t offset;  /* position of the next byte of data */
    size_t used, filled;
    unsigned char buffer[BUFFER_BYTES];
} pnm_reader;

static bool is_space(int c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

/* The header's first number must follow, so that a table whose first column is named P1 is not mistaken for an
 * image. */
bool pnm_recognise(const unsigned char *head, size_t size, const char *path)
{
    (void)path;
    if (size < 3 || head[0] != 'P' || !head[1] || !strchr("1234567fF", head[1])) return false;
    if (head[1] == '7') return head[2] == '\n';
    size_t i = 2;
    while (i < size && (is_space(head[i]) || head[i] == '#')) {
        if (head[i] == '#')
            while (i < size && head[i] != '\n')
                i++;
        else
            i++;
    }
    return i > 2 && (i == size || is_digit(head[i]));
}

/* ---- Bytes ---- */

/* The next byte, or -1 at the end and on failure. */
static int next_byte(pnm_reader *p, fault *f)
{
    if (p->used == p->filled) {
        int64_t got = input_read(p->image.reader.in, p->buffer, sizeof p->buffer, f);
        if (got <= 0) return -1;
        p->used = 0;
        p->filled = (size_t)got;
    }
    p->offset++;
    return p->buffer[p->used++];
}

static int truncated(const pnm_reader *p, int64_t row, fault *f)
{
    return fault_set(f, EXIT_DATA,
                     "%s: ends at byte %lld, within row %lld of page %d: the file is truncated, get a complete copy",
                     input_name(p->image.reader.in), (long long)p->offset, (long long)row, p->image.page);
}

static int read_bytes(pnm_reader *p, int64_t row, unsigned char *to, size_t size, fault *f)
{
    size_t ready = p->filled - p->used < size ? p->filled - p->used : size;
    memcpy(to, p->buffer + p->used, ready);
    p->used += ready;
    p->offset += (int64_t)ready;
    while (ready < size) {
        int64_t got = input_read(p->image.reader.in, to + ready, size - ready, f);
        if (got < 0) return -1;
        if (got == 0) return truncated(p, row + (int64_t)(ready / image_pitch(&p->image)), f);
        ready += (size_t)got;
        p->offset += got;
    }
    return 0;
}

/* ---- Words ---- */

static int malformed(const pnm_reader *p, const char *expected, fault *f)
{
    return fault_set(f, EXIT_DATA,
                     "%s: byte %lld: %s was expected: the file is truncated or corrupt, get an intact copy",
                     input_name(p->image.reader.in), (long long)p->offset, expected);
}

/* Skip to the newline that ends a comment, or -1. */
static int skip_comment(pnm_reader *p, fault *f)
{
    int c;
    do
        c = next_byte(p, f);
    while (c >= 0 && c != '\n');
    return c;
}

/* The next byte after blanks and comments, or -1. */
static int skip_blanks(pnm_reader *p, fault *f)
{
    int c = next_byte(p, f);
    while (is_space(c) || c == '#')
        c = c == '#' ? skip_comment(p, f) : next_byte(p, f);
    return c;
}

/* Read a word and the blank after it. */
static int read_word(pnm_reader *p, char word[TOKEN_BYTES], const char *expected, fault *f)
{
    size_t length = 0;
    int c = skip_blanks(p, f);
    for (; c >= 0 && !is_space(c); c = next_byte(p, f)) {
        if (length == TOKEN_BYTES - 1) return malformed(p, expected, f);
        word[length++] = (char)c;
    }
    word[length] = '\0';
    return length > 0 && f->status == EXIT_OK ? 0 : malformed(p, expected, f);
}

/* Read a decimal number up to `limit`, and the blank or comment after it. */
static int read_number(pnm_reader *p, int64_t limit, int64_t *value, const char *expected, fault *f)
{
    int c = skip_blanks(p, f);
    if (!is_digit(c)) return malformed(p, expected, f);
    for (*value = 0; is_digit(c); c = next_byte(p, f)) {
        *value = *value * 10 + (c - '0');
        if (*value > limit) return malformed(p, expected, f);
    }
    if (c == '#') c = skip_comment(p, f);
    return c < 0 || is_space(c) ? 0 : malformed(p, expected, f);
}

/* ---- Headers ---- */

static int read_size(pnm_reader *p, const char *name, int64_t *value, fault *f)
{
    char expected[64];
    snprintf(expected, sizeof expected, "the %s, at most %" PRId32 ",", name, INT32_MAX);
    return read_number(p, INT32_MAX, value, expected, f);
}

static int read_largest(pnm_reader *p, fault *f)
{
    if (read_number(p, LARGEST_VALUE, &p->largest, "the largest sample value, 1 to 65535,", f) < 0) return -1;
    return p->largest > 0 ? 0 : malformed(p, "the largest sample value, 1 to 65535,", f);
}

/* PFM: width and height are followed by a scale, whose sign gives the byte order. */
static int read_scale(pnm_reader *p, fault *f)
{
    char word[TOKEN_BYTES];
    if (read_word(p, word, "the scale of a PFM image", f) < 0) return -1;
    const char *digits = word + (*word == '-' || *word == '+');
    if (strspn(digits, "0123456789.eE+-") != strlen(digits) || !strpbrk(digits, "123456789"))
        return malformed(p, "the scale of a PFM image", f);
    bool little = *word == '-';
    p->foreign = little != (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
    return 0;
}

static channel_model model_of_channels(int64_t channels, bool alpha)
{
    if (channels == 1) return CHANNELS_GRAY;
    if (channels == 2 && alpha) return CHANNELS_GRAY_ALPHA;
    if (channels == 3) return CHANNELS_RGB;
    if (channels == 4 && alpha) return CHANNELS_RGBA;
    return CHANNELS_PLAIN;
}

/* PAM: lines with a name and a value. */
static int read_pam_header(pnm_reader *p, image_layout *layout, fault *f)
{
    char word[TOKEN_BYTES], type[TOKEN_BYTES] = "";
    int64_t channels = 0;
    p->largest = 0;
    for (;;) {
        if (read_word(p, word, "ENDHDR", f) < 0) return -1;
        int status = 0;
        if (strcmp(word, "ENDHDR") == 0) break;
        if (strcmp(word, "WIDTH") == 0)
            status = read_size(p, "width", &layout->width, f);
        else if (strcmp(word, "HEIGHT") == 0)
            status = read_size(p, "height", &layout->height, f);
        else if (strcmp(word, "DEPTH") == 0)
            status = read_size(p, "depth", &channels, f);
        else if (strcmp(word, "MAXVAL") == 0)
            status = read_largest(p, f);
        else if (strcmp(word, "TUPLTYPE") == 0)
            status = read_word(p, type, "the tuple type", f);
        else
            status = malformed(p, "WIDTH, HEIGHT, DEPTH, MAXVAL, TUPLTYPE or ENDHDR", f);
        if (status < 0) return -1;
    }
    if (layout->width == 0 || layout->height == 0 || channels == 0 || p->largest == 0)
        return malformed(p, "a header that gives WIDTH, HEIGHT, DEPTH and MAXVAL", f);
    if (channels > LARGEST_VALUE) return malformed(p, "a depth of at most 65535", f);
    size_t length = strlen(type);
    bool alpha = length > 6 && strcmp(type + length - 6, "_ALPHA") == 0;
    layout->channels = (int)channels;
    layout->model = model_of_channels(channels, alpha);
    return 0;
}

/* Read the header of page number `page`, after its 'P'. */
static int read_header(pnm_reader *p, int page, fault *f)
{
    static const char magics[] = "1234567fF";
    static const raster rasters[] = {RASTER_TEXT_BITS, RASTER_TEXT,   RASTER_TEXT,   RASTER_BITS,  RASTER_BINARY,
                                     RASTER_BINARY,    RASTER_BINARY, RASTER_FLOATS, RASTER_FLOATS};
    image_layout layout = {.channels = 1, .model = CHANNELS_GRAY, .dtype = HISTO_U8};
    int magic = next_byte(p, f);
    p->largest = 255;
    p->foreign = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    const char *place = magic > 0 ? strchr(magics, magic) : NULL;
    if (!place) return malformed(p, "P1 to P7, Pf or PF", f);
    p->raster = rasters[place - magics];
    if (p->raster == RASTER_FLOATS) layout.dtype = HISTO_F32;
    if (magic == '3' || magic == '6' || magic == 'F') {
        layout.channels = 3;
        layout.model = CHANNELS_RGB;
    }
    if (magic == '7') {
        if (read_pam_header(p, &layout, f) < 0) return -1;
    } else {
        if (read_size(p, "width", &layout.width, f) < 0 || read_size(p, "height", &layout.height, f) < 0) return -1;
        if (p->raster == RASTER_FLOATS && read_scale(p, f) < 0) return -1;
        if ((p->raster == RASTER_TEXT || p->raster == RASTER_BINARY) && read_largest(p, f) < 0) return -1;
    }
    if (p->largest > 255) layout.dtype = HISTO_U16;
    if (image_begin_page(&p->image, page, &layout, f) < 0) return -1;
    metadata *about = image_describe(&p->image, &p->options, f);
    if (about && p->raster != RASTER_FLOATS) about->largest = p->largest;
    return about || !p->options.about ? 0 : -1;
}

/* ---- Samples ---- */

static int read_text_row(pnm_reader *p, unsigned char *to, size_t samples, fault *f)
{
    bool wide = p->image.layout.dtype == HISTO_U16;
    char expected[32];
    snprintf(expected, sizeof expected, "a sample, 0 to %d,", (int)p->largest);
    for (size_t i = 0; i < samples; i++) {
        int64_t value;
        if (p->raster == RASTER_TEXT_BITS) { /* these need no separators */
            int c = skip_blanks(p, f);
            if (c != '0' && c != '1') return malformed(p, "a bit, 0 or 1,", f);
            value = c == '0' ? 255 : 0;
        } else if (read_number(p, p->largest, &value, expected, f) < 0) {
            return -1;
        }
        if (wide)
            ((uint16_t *)(void *)to)[i] = (uint16_t)value;
        else
            to[i] = (unsigned char)value;
    }
    return 0;
}

static int read_bits_row(pnm_reader *p, int64_t row, unsigned char *to, size_t samples, fault *f)
{
    size_t bytes = (samples + 7) / 8;
    if (image_reserve(&p->image, &p->image.packed, bytes, f) < 0) return -1;
    if (read_bytes(p, row, p->image.packed.data, bytes, f) < 0) return -1;
    for (size_t i = 0; i < samples; i++)
        to[i] = image_packed_sample(p->image.packed.data, 1, i) ? 0 : 255;
    return 0;
}

/* Read rows from row `row` on, with `samples` samples in all of them. */
static int read_binary(pnm_reader *p, int64_t row, unsigned char *to, size_t samples, fault *f)
{
    size_t size = histo_dtype_size(p->image.layout.dtype);
    if (read_bytes(p, row, to, samples * size, f) < 0) return -1;
    if (p->foreign && size == 2)
        for (uint16_t *s = (uint16_t *)(void *)to; samples > 0; s++, samples--)
            *s = __builtin_bswap16(*s);
    if (p->foreign && size == 4)
        for (uint32_t *s = (uint32_t *)(void *)to; samples > 0; s++, samples--)
            *s = __builtin_bswap32(*s);
    return 0;
}

static int check_largest(const pnm_reader *p, int64_t row, const unsigned char *samples, size_t count, fault *f)
{
    bool wide = p->image.layout.dtype == HISTO_U16;
    if (p->raster != RASTER_BINARY || p->largest == (wide ? LARGEST_VALUE : 255)) return 0;
    for (size_t i = 0; i < count; i++) {
        int value = wide ? ((const uint16_t *)(const void *)samples)[i] : samples[i];
        if (value > p->largest)
            return fault_set(f, EXIT_DATA,
                             "%s: row %lld, column %zu of page %d: sample %d is above %lld, the largest value that the "
                             "header allows: the file is corrupt, get an intact copy",
                             input_name(p->image.reader.in), (long long)row, i / (size_t)p->image.layout.channels,
                             p->image.page, value, (long long)p->largest);
    }
    return 0;
}

static int read_row(pnm_reader *p, int64_t row, unsigned char *to, fault *f)
{
    size_t samples = (size_t)p->image.layout.width * (size_t)p->image.layout.channels;
    int status = p->raster == RASTER_BITS   ? read_bits_row(p, row, to, samples, f)
                 : p->raster <= RASTER_TEXT ? read_text_row(p, to, samples, f)
                                            : read_binary(p, row, to, samples, f);
    return status < 0 ? -1 : check_largest(p, row, to, samples, f);
}

/* Read the next band of the current page. */
static int read_band(pnm_reader *p, band *b, fault *f)
{
    image *m = &p->image;
    int64_t rows = image_band_rows(m);
    size_t pitch = image_pitch(m);
    bool upwards = p->raster == RASTER_FLOATS;
    if (image_reserve(m, &m->rows, (size_t)rows * pitch, f) < 0) return -1;
    if (p->raster == RASTER_BINARY) {
        const size_t samples = (size_t)rows * (size_t)m->layout.width * (size_t)m->layout.channels;
        if (read_binary(p, m->y, m->rows.data, samples, f) < 0) return -1;
        for (int64_t i = 0; i < rows; i++)
            if (check_largest(p, m->y + i, m->rows.data + (size_t)i * pitch, samples / (size_t)rows, f) < 0) return -1;
    }
    for (int64_t i = 0; i < rows && p->raster != RASTER_BINARY; i++) {
        int64_t row = upwards ? m->layout.height - 1 - m->y - i : m->y + i;
        int64_t place = upwards ? rows - 1 - i : i;
        if (read_row(p, row, m->rows.data + (size_t)place * pitch, f) < 0) return -1;
    }
    int64_t top = upwards ? m->layout.height - m->y - rows : m->y;
    image_emit_rows(m, b, rows);
    b->y = top;
    return 1;
}

/* After the last row: 1 if another page follows, 0 at the end. */
static int begin_next_page(pnm_reader *p, fault *f)
{
    int c;
    do
        c = next_byte(p, f);
    while (is_space(c));
    if (f->status != EXIT_OK) return -1;
    if (c < 0 && p->wanted_page > p->image.page)
        return fault_set(f, EXIT_USAGE, "%s has no page %d: its last page is %d", input_name(p->image.reader.in),
                         p->wanted_page, p->image.page);
    if (c < 0) return 0;
    if (c != 'P') return malformed(p, "the end of the file, or another image,", f);
    return read_header(p, p->image.page + 1, f) < 0 ? -1 : 1;
}

/* Without --page, after the first page: check whether another follows. */
static void look_for_more(pnm_reader *p)
{
    fault broken = {0};
    int c;
    do
        c = next_byte(p, &broken);
    while (is_space(c));
    p->image.reader.pages_in_file = c == 'P' ? -1 : 0;
}

static int next(reader *r, band *b, fault *f)
{
    pnm_reader *p = (pnm_reader *)r;
    const image *m = &p->image;
    for (;;) {
        if (m->y == m->layout.height) {
            if (m->page == p->wanted_page) {
                if (!p->has_page) look_for_more(p);
                return 0;
            }
            int more = begin_next_page(p, f);
            if (more < 1) return more;
        }
        int status = read_band(p, b, f);
        if (status < 0 || p->wanted_page < 0 || m->page == p->wanted_page) return status;
    }
}

static int start(pnm_reader *p, fault *f)
{
    p->used = p->filled = 0;
    p->offset = 0;
    if (next_byte(p, f) != 'P') return malformed(p, "P1 to P7, Pf or PF", f);
    return read_header(p, 0, f);
}

static int rewind_pnm(reader *r, fault *f)
{
    if (input_rewind(r->in, f) < 0) return -1;
    return start((pnm_reader *)r, f);
}

/* Whether the file ends with its first page. */
static bool is_alone(const pnm_reader *p)
{
    const image *m = &p->image;
    const int64_t row = p->raster == RASTER_BITS ? (m->layout.width + 7) / 8 : (int64_t)image_pitch(m);
    return p->raster >= RASTER_BITS && input_data_size(m->reader.in) == p->offset + row * m->layout.height;
}

reader *pnm_open(input *in, const read_options *options, fault *f)
{
    const reader_functions functions = {.next = next, .rewind = rewind_pnm, .close = image_close};
    pnm_reader *p = reader_create(sizeof *p, in, functions, f);
    if (!p) return NULL;
    reader *r = &p->image.reader;
    p->options = *options;
    p->wanted_page = options->page;
    p->has_page = options->has_page;
    if (start(p, f) < 0) {
        reader_destroy(r);
        return NULL;
    }
    if (p->wanted_page < 0 && !is_alone(p)) r->pages = -1; /* known at the end of the file */
    return r;
}
