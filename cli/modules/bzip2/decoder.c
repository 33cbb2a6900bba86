/* bzip2, with the checksums of its blocks. */
#include <bzlib.h>
#include <limits.h>
#include <stdlib.h>

#include "input/stream/decoder.h"

typedef struct bzip2 {
    decoder base;
    bz_stream stream;
} bzip2;

static unsigned at_most(size_t size)
{
    return size < UINT_MAX ? (unsigned)size : UINT_MAX;
}

static bool bzip2_restart(decoder *base)
{
    bz_stream *z = &((bzip2 *)base)->stream;
    BZ2_bzDecompressEnd(z);
    *z = (bz_stream){0};
    return BZ2_bzDecompressInit(z, 0, 0) == BZ_OK;
}

static decoded bzip2_decode(decoder *base, decoder_span *s)
{
    bz_stream *z = &((bzip2 *)base)->stream;
    z->next_in = (char *)s->in;
    z->avail_in = at_most(s->in_size);
    z->next_out = (char *)s->out;
    z->avail_out = at_most(s->out_size);
    const int result = BZ2_bzDecompress(z);
    const size_t consumed = (size_t)(z->next_in - (const char *)s->in), made = (size_t)(z->next_out - (char *)s->out);
    s->in += consumed;
    s->in_size -= consumed;
    s->out += made;
    s->out_size -= made;
    switch (result) {
    case BZ_OK:
        return DECODED_SOME;
    case BZ_STREAM_END:
        return DECODED_MEMBER;
    case BZ_MEM_ERROR:
        return DECODED_NO_MEMORY;
    default:
        base->why = result == BZ_DATA_ERROR_MAGIC ? "no bzip2 header" : "a check fails";
        return DECODED_DAMAGED;
    }
}

static void bzip2_close(decoder *base)
{
    BZ2_bzDecompressEnd(&((bzip2 *)base)->stream);
    free(base);
}

decoder *bzip2_decoder(void)
{
    bzip2 *b = calloc(1, sizeof *b);
    if (!b) return NULL;
    b->base = (decoder){.decode = bzip2_decode, .restart = bzip2_restart, .close = bzip2_close};
    if (bzip2_restart(&b->base)) return &b->base;
    free(b);
    return NULL;
}
