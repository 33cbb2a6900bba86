#include "input/stream/decoder.h"

#include <stdio.h>
#include <string.h>

static bool begins(const unsigned char *head, size_t size, const char *magic, size_t length)
{
    return size >= length && memcmp(head, magic, length) == 0;
}

/* magic, deflate, and no reserved flag */
static bool is_gzip(const unsigned char *head, size_t size)
{
    return size >= 10 && begins(head, size, "\x1f\x8b\x08", 3) && (head[3] & 0xe0) == 0;
}

/* A frame without the reserved bit, after any skippable frames, as pzstd writes them. */
static bool is_zstd(const unsigned char *head, size_t size)
{
    size_t at = 0;
    while (size - at >= 8 && (head[at] & 0xf0) == 0x50 && memcmp(head + at + 1, "\x2a\x4d\x18", 3) == 0) {
        size_t skipped = 0;
        for (int i = 7; i >= 4; i--)
            skipped = skipped << 8 | head[at + (size_t)i];
        if (skipped > size - at - 8) break;
        at += 8 + skipped;
    }
    return size - at >= 5 && begins(head + at, size - at, "\x28\xb5\x2f\xfd", 4) && (head[at + 4] & 8) == 0;
}

static bool is_xz(const unsigned char *head, size_t size)
{
    return begins(head, size,
                  "\xfd"
                  "7zXZ\0",
                  6);
}

/* A level, and the beginning of a block or, for empty data, the end-of-stream marker. */
static bool is_bzip2(const unsigned char *head, size_t size)
{
    return size >= 10 && begins(head, size, "BZh", 3) && head[3] >= '1' && head[3] <= '9' &&
           (memcmp(head + 4, "\x31\x41\x59\x26\x53\x59", 6) == 0 ||
            memcmp(head + 4, "\x17\x72\x45\x38\x50\x90", 6) == 0);
}

static const compression compressions[] = {
    {.name = "gzip", .command = "gzip -dc", .recognise = is_gzip, .open = gzip_decoder},
    {.name = "zstd",
     .command = "zstd -dc --long=31",
     .recognise = is_zstd,
     .open = zstd_decoder,
     .library = "libzstd (Debian: libzstd-dev)"},
    {.name = "xz",
     .command = "xz -dc",
     .recognise = is_xz,
     .open = xz_decoder,
     .library = "liblzma (Debian: liblzma-dev)"},
    {.name = "bzip2",
     .command = "bzip2 -dc",
     .recognise = is_bzip2,
     .open = bzip2_decoder,
     .library = "libbz2 (Debian: libbz2-dev)"},
};

const compression *compression_of(const unsigned char *head, size_t size)
{
    for (size_t i = 0; i < sizeof compressions / sizeof *compressions; i++)
        if (compressions[i].recognise(head, size)) return &compressions[i];
    return NULL;
}

static decoder_open_function *find_open(const compression *c, const char *file, fault *f)
{
    char name[32];
    if (c->open) return c->open;
    if (!module_is_there(c->name)) {
        fault_set(f, EXIT_DATA,
                  "%s is compressed by %s, which this build of histo cannot read: build it with %s, or pipe the file "
                  "through %s into histo",
                  file, c->name, c->library, c->command);
        return NULL;
    }
    snprintf(name, sizeof name, "%s_decoder", c->name);
    return (decoder_open_function *)module_symbol(c->name, name, file, f);
}

decoder *compression_open(const compression *c, const char *file, fault *f)
{
    decoder_open_function *open = find_open(c, file, f);
    decoder *d = open ? open() : NULL;
    if (open && !d) fault_set(f, EXIT_DATA, "no memory to decompress %s", file);
    return d;
}
