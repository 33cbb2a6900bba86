/* Decodes the codecs of Zarr's chunks: decompresses zlib, gzip, zstd and Blosc, and verifies checksums. */
#include "modules/zarr/zarr.h"

#include <blosc.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

/* Each returns the size of the result, at most `room`, or -1. */

static int64_t inflate_bytes(const unsigned char *bytes, size_t size, unsigned char *to, size_t room)
{
    z_stream z = {.next_in = (unsigned char *)bytes, .next_out = to};
    enum { MOST = 1 << 30 };
    int result = Z_OK;
    if (inflateInit2(&z, 15 + 32) != Z_OK) return -1; /* zlib or gzip */
    size_t read = 0, made = 0;
    while (result == Z_OK) {
        z.avail_in = size - read < MOST ? (uInt)(size - read) : MOST;
        z.avail_out = room - made < MOST ? (uInt)(room - made) : MOST;
        const uInt in = z.avail_in, out = z.avail_out;
        result = inflate(&z, Z_NO_FLUSH);
        read += in - z.avail_in;
        made += out - z.avail_out;
        if (in == z.avail_in && out == z.avail_out) break;
    }
    inflateEnd(&z);
    return result == Z_STREAM_END ? (int64_t)made : -1;
}

static int64_t unpack_zstd(const unsigned char *bytes, size_t size, unsigned char *to, size_t room)
{
    const size_t made = ZSTD_decompress(to, room, bytes, size);
    return ZSTD_isError(made) ? -1 : (int64_t)made;
}

static int64_t unpack_blosc(const unsigned char *bytes, size_t size, unsigned char *to, size_t room)
{
    size_t made;
    if (blosc_cbuffer_validate(bytes, size, &made) < 0 || made > room) return -1;
    return made == 0 ? 0 : blosc_decompress_ctx(bytes, to, room, 1);
}

/* CRC-32C (Castagnoli), byte by byte with a table. */
static uint32_t crc32c(const unsigned char *bytes, size_t size)
{
    uint32_t table[256], sum = 0xffffffff;
    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i;
        for (int bit = 0; bit < 8; bit++)
            table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0x82f63b78 : 0);
    }
    for (size_t i = 0; i < size; i++)
        sum = sum >> 8 ^ table[(sum ^ bytes[i]) & 255];
    return ~sum;
}

static int64_t check_sum(const unsigned char *bytes, size_t size, unsigned char *to, size_t room)
{
    if (size < 4 || size - 4 > room) return -1;
    const unsigned char *stored = bytes + size - 4;
    const uint32_t wanted =
        stored[0] | (uint32_t)stored[1] << 8 | (uint32_t)stored[2] << 16 | (uint32_t)stored[3] << 24;
    if (crc32c(bytes, size - 4) != wanted) return -1;
    memcpy(to, bytes, size - 4);
    return (int64_t)(size - 4);
}

static int64_t undo(zarr_codec codec, const unsigned char *bytes, size_t size, unsigned char *to, size_t room)
{
    switch (codec) {
    case ZARR_GZIP:
        return inflate_bytes(bytes, size, to, room);
    case ZARR_ZSTD:
        return unpack_zstd(bytes, size, to, room);
    case ZARR_BLOSC:
        return unpack_blosc(bytes, size, to, room);
    case ZARR_CRC32C:
        return check_sum(bytes, size, to, room);
    }
    return -1;
}

bool zarr_decode(const zarr_codecs *codecs, unsigned char *bytes, size_t size, unsigned char *to, size_t wanted,
                 const char **why)
{
    const size_t room = wanted + wanted / 8 + (1 << 16); /* of the output of other codecs */
    unsigned char *between[2] = {NULL, NULL};
    int64_t made = (int64_t)size;
    *why = "its compressed bytes are invalid";
    for (int i = codecs->count - 1; i >= 0 && made >= 0; i--) {
        unsigned char **next = &between[i % 2];
        if (i > 0 && !*next && !(*next = malloc(room))) {
            *why = "there is no memory for it";
            made = -1;
            break;
        }
        made = undo(codecs->codec[i], bytes, (size_t)made, i > 0 ? *next : to, i > 0 ? room : wanted);
        bytes = i > 0 ? *next : to;
    }
    if (made >= 0 && (size_t)made != wanted) *why = "it has another size than its shape says";
    const bool good = made >= 0 && (size_t)made == wanted;
    if (good && codecs->count == 0) memcpy(to, bytes, wanted);
    free(between[0]);
    free(between[1]);
    return good;
}
