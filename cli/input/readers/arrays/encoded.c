#include "input/readers/arrays/encoded.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "input/stream/decoder.h"

/* A source that decodes another one. */
typedef struct encoded {
    byte_source from;
    int64_t start; /* in it */
    const char *name;
    histo_dtype dtype;
    bool begun, ended, zlib;
    decoder *decoder;    /* of compressed samples */
    int64_t bytes, made; /* of samples */
    unsigned char stored[1 << 16];
    size_t used, filled;
} encoded;

/* Read more stored bytes, after those that are left: 1, 0 at the end, -1. */
static int refill(encoded *d, fault *f)
{
    d->filled -= d->used;
    memmove(d->stored, d->stored + d->used, d->filled);
    d->used = 0;
    const int64_t got = d->from.read(d->from.self, d->stored + d->filled, sizeof d->stored - d->filled, f);
    if (got > 0) d->filled += (size_t)got;
    return got < 0 ? -1 : got > 0;
}

static int begin(encoded *d, fault *f)
{
    if (d->begun) return 0;
    const int64_t skipped = byte_source_skip(&d->from, d->start, f);
    if (skipped < 0) return -1;
    d->begun = true;
    d->ended = skipped < d->start;
    return 0;
}

static int open_decoder(encoded *d, fault *f)
{
    if (begin(d, f) != 0 || refill(d, f) < 0) return -1;
    const compression *is = d->zlib ? NULL : compression_of(d->stored, d->filled);
    if (!is && !d->zlib)
        return fault_set(f, EXIT_DATA, "%s is damaged: its samples are not compressed as its header says", d->name);
    d->decoder = is ? compression_open(is, d->name, f) : deflate_decoder(false);
    if (!d->decoder && !is) fault_set(f, EXIT_DATA, "no memory to decompress %s", d->name);
    return d->decoder ? 0 : -1;
}

/* Decode a piece: 1, 0 if the compressed samples are truncated, -1. */
static int decode_piece(encoded *d, decoder_span *span, fault *f)
{
    if (d->used == d->filled && refill(d, f) < 0) return -1;
    const size_t room = span->out_size; /* a decoder may have read everything, and not yet produced all of it */
    span->in = d->stored + d->used;
    const size_t given = span->in_size = d->filled - d->used;
    const decoded result = d->decoder->decode(d->decoder, span);
    d->used = d->filled - span->in_size;
    d->ended = result == DECODED_MEMBER;
    if (result == DECODED_NO_MEMORY || result == DECODED_LARGE)
        return fault_set(f, EXIT_DATA, "no memory to decompress %s", d->name);
    if (result == DECODED_DAMAGED)
        return fault_set(f, EXIT_DATA, "%s is damaged: its compressed samples are invalid (%s); copy it again", d->name,
                         d->decoder->why ? d->decoder->why : "no reason given");
    return d->ended || span->in_size < given || span->out_size < room;
}

/* The checksum after the last sample verifies that everything was decoded. */
static int check_end(encoded *d, fault *f)
{
    while (!d->ended) {
        unsigned char beyond[512];
        const int more = decode_piece(d, &(decoder_span){.out = beyond, .out_size = sizeof beyond}, f);
        if (more < 0) return -1;
        if (!more)
            return fault_set(f, EXIT_DATA,
                             "%s is truncated: the end of its compressed samples is missing; copy it again", d->name);
    }
    return 0;
}

static int64_t read_compressed(void *self, void *buffer, size_t size, fault *f)
{
    encoded *d = self;
    if (!d->decoder && open_decoder(d, f) != 0) return -1;
    decoder_span span = {.out = buffer, .out_size = size};
    while (!d->ended && span.out_size == size) {
        const int more = decode_piece(d, &span, f);
        if (more < 0) return -1;
        if (!more) break;
    }
    d->made += (int64_t)(size - span.out_size);
    if (d->made == d->bytes && check_end(d, f) != 0) return -1;
    return (int64_t)(size - span.out_size);
}

static int64_t read_hex(void *self, void *buffer, size_t size, fault *f)
{
    encoded *d = self;
    unsigned char *out = buffer;
    int digits = 0, value = 0;
    size_t made = 0;
    if (begin(d, f) != 0) return -1;
    while (made < size && !d->ended) {
        if (d->used == d->filled) {
            const int more = refill(d, f);
            if (more < 0) return -1;
            if (!more) break;
        }
        const int c = d->stored[d->used++];
        if (isspace(c)) continue;
        if (!isxdigit(c)) return fault_set(f, EXIT_DATA, "%s is damaged: its hex data has other characters", d->name);
        value = value * 16 + (isdigit(c) ? c - '0' : tolower(c) - 'a' + 10);
        if (++digits < 2) continue;
        out[made++] = (unsigned char)value;
        digits = value = 0;
    }
    return (int64_t)made;
}

/* Store a number in the dtype; false if it does not fit. */
static bool store(histo_dtype dtype, const char *word, unsigned char *to)
{
    char *end;
    const size_t size = histo_dtype_size(dtype);
    const bool is_signed = dtype == HISTO_I8 || dtype == HISTO_I16 || dtype == HISTO_I32 || dtype == HISTO_I64;
    if (dtype == HISTO_F32) {
        const float value = strtof(word, &end);
        memcpy(to, &value, size);
    } else if (dtype == HISTO_F64) {
        const double value = strtod(word, &end);
        memcpy(to, &value, size);
    } else if (is_signed) {
        const int64_t value = strtoll(word, &end, 10), reach = size == 8 ? INT64_MAX : INT64_C(1) << (8 * size - 1);
        if (size < 8 && (value < -reach || value >= reach)) return false;
        memcpy(to, LITTLE_ENDIAN_MACHINE ? (const char *)&value : (const char *)&value + 8 - size, size);
    } else {
        const uint64_t value = strtoull(word, &end, 10);
        if (word[0] == '-' || (size < 8 && value >> (8 * size))) return false;
        memcpy(to, LITTLE_ENDIAN_MACHINE ? (const char *)&value : (const char *)&value + 8 - size, size);
    }
    return *end == '\0' && end > word;
}

/* Numbers separated by blanks and commas. */
static int64_t read_text(void *self, void *buffer, size_t size, fault *f)
{
    encoded *d = self;
    const size_t sample = histo_dtype_size(d->dtype);
    size_t made = 0;
    if (begin(d, f) != 0) return -1;
    while (made + sample <= size && !d->ended) {
        char word[64];
        size_t length = 0;
        for (;;) {
            if (d->used == d->filled) {
                const int more = refill(d, f);
                if (more < 0) return -1;
                if (!more) {
                    d->ended = true;
                    break;
                }
            }
            const char c = (char)d->stored[d->used++];
            const bool blank = isspace((unsigned char)c) || c == ',' || c == '\0';
            if (blank && length) break;
            if (!blank && length + 1 < sizeof word) word[length++] = c;
        }
        if (length == 0) break;
        word[length] = '\0';
        if (!store(d->dtype, word, (unsigned char *)buffer + made))
            return fault_set(f, EXIT_DATA, "%s holds '%.40s', which is not a sample of its type %s", d->name, word,
                             histo_dtype_name(d->dtype));
        made += sample;
    }
    return (int64_t)made;
}

static int rewind_encoded(void *self, fault *f)
{
    encoded *d = self;
    if (d->from.rewind(d->from.self, f) != 0) return -1;
    if (d->decoder) d->decoder->close(d->decoder);
    d->decoder = NULL;
    d->begun = d->ended = false;
    d->used = d->filled = 0;
    d->made = 0;
    return 0;
}

static void close_encoded(void *self)
{
    encoded *d = self;
    if (d->decoder) d->decoder->close(d->decoder);
    d->from.close(d->from.self);
    free(d);
}

int64_t encoded_bytes(const grid_info *info, histo_dtype dtype)
{
    int64_t bytes = info->channels * (int64_t)histo_dtype_size(dtype);
    for (int i = 0; i < info->ndim; i++)
        if (__builtin_mul_overflow(bytes, info->shape[i], &bytes)) return -1;
    return bytes;
}

int encoded_decode(plain_place *place, encoding is, int64_t bytes, int64_t skip, fault *f)
{
    static int64_t (*const reads[])(void *, void *, size_t, fault *) = {[ENCODED_COMPRESSED] = read_compressed,
                                                                        [ENCODED_ZLIB] = read_compressed,
                                                                        [ENCODED_TEXT] = read_text,
                                                                        [ENCODED_HEX] = read_hex};
    if (is == ENCODED_RAW) return 0;
    encoded *d = malloc(sizeof *d);
    if (!d) return fault_set(f, EXIT_DATA, "no memory to read %s", place->name);
    memset(d, 0, offsetof(encoded, stored));
    d->used = d->filled = 0;
    d->from = place->bytes;
    d->start = place->start;
    d->name = place->name;
    d->dtype = place->scaling.from;
    d->zlib = is == ENCODED_ZLIB;
    if (__builtin_add_overflow(bytes, skip, &d->bytes)) d->bytes = INT64_MAX;
    place->bytes = (byte_source){.self = d, .read = reads[is], .rewind = rewind_encoded, .close = close_encoded};
    place->start = skip;
    place->size = -1;
    place->swapped = place->swapped && is != ENCODED_TEXT;
    return 0;
}
