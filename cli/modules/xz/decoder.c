/* xz, with the checksums of its blocks. */
#include <lzma.h>
#include <stdlib.h>

#include "input/stream/decoder.h"

typedef struct xz {
    decoder base;
    lzma_stream stream;
} xz;

static bool xz_restart(decoder *base)
{
    return lzma_stream_decoder(&((xz *)base)->stream, DECODER_MOST_MEMORY, LZMA_TELL_UNSUPPORTED_CHECK) == LZMA_OK;
}

static decoded xz_decode(decoder *base, decoder_span *s)
{
    lzma_stream *z = &((xz *)base)->stream;
    z->next_in = s->in;
    z->avail_in = s->in_size;
    z->next_out = s->out;
    z->avail_out = s->out_size;
    const lzma_ret result = lzma_code(z, LZMA_RUN);
    s->in = z->next_in;
    s->in_size = z->avail_in;
    s->out = z->next_out;
    s->out_size = z->avail_out;
    switch (result) {
    case LZMA_OK:
    case LZMA_BUF_ERROR:
        return DECODED_SOME;
    case LZMA_STREAM_END:
        return DECODED_MEMBER;
    case LZMA_MEM_ERROR:
        return DECODED_NO_MEMORY;
    case LZMA_MEMLIMIT_ERROR:
        return DECODED_LARGE;
    case LZMA_FORMAT_ERROR:
        base->why = "no xz header";
        return DECODED_DAMAGED;
    case LZMA_OPTIONS_ERROR:
    case LZMA_UNSUPPORTED_CHECK:
        base->why = "unknown options";
        return DECODED_DAMAGED;
    default:
        base->why = "a check fails";
        return DECODED_DAMAGED;
    }
}

static void xz_close(decoder *base)
{
    lzma_end(&((xz *)base)->stream);
    free(base);
}

decoder *xz_decoder(void)
{
    xz *x = calloc(1, sizeof *x);
    if (!x) return NULL;
    x->base = (decoder){.decode = xz_decode, .restart = xz_restart, .close = xz_close};
    x->stream = (lzma_stream)LZMA_STREAM_INIT;
    if (xz_restart(&x->base)) return &x->base;
    xz_close(&x->base);
    return NULL;
}
