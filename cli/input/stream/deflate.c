/* Deflate with the wrappers and checks of gzip and zlib: by ISA-L, or by zlib if builds or machines lack that. */
#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

#include "input/stream/decoder.h"

typedef struct inflater {
    decoder base;
    z_stream stream;
} inflater;

static uInt at_most(size_t size)
{
    return size < UINT_MAX ? (uInt)size : UINT_MAX;
}

static decoded zlib_decode(decoder *base, decoder_span *s)
{
    z_stream *z = &((inflater *)base)->stream;
    z->next_in = (Bytef *)s->in;
    z->avail_in = at_most(s->in_size);
    z->next_out = s->out;
    z->avail_out = at_most(s->out_size);
    const int result = inflate(z, Z_NO_FLUSH);
    s->in_size -= (size_t)(z->next_in - s->in);
    s->in = z->next_in;
    s->out_size -= (size_t)(z->next_out - s->out);
    s->out = z->next_out;
    base->why = z->msg ? z->msg : "it needs a dictionary";
    switch (result) {
    case Z_OK:
    case Z_BUF_ERROR:
        return DECODED_SOME;
    case Z_STREAM_END:
        return DECODED_MEMBER;
    case Z_MEM_ERROR:
        return DECODED_NO_MEMORY;
    default:
        return DECODED_DAMAGED;
    }
}

static bool zlib_restart(decoder *base)
{
    return inflateReset(&((inflater *)base)->stream) == Z_OK;
}

static void zlib_close(decoder *base)
{
    inflateEnd(&((inflater *)base)->stream);
    free(base);
}

static decoder *zlib_decoder(bool gzip)
{
    inflater *d = calloc(1, sizeof *d);
    if (!d) return NULL;
    d->base = (decoder){.decode = zlib_decode, .restart = zlib_restart, .close = zlib_close};
    if (inflateInit2(&d->stream, gzip ? 15 + 16 : 15) == Z_OK) return &d->base;
    free(d);
    return NULL;
}

decoder *deflate_decoder(bool gzip)
{
    fault ignored = {0};
    isal_decoder_function *faster = isal_decoder;
    if (!faster && module_is_there("isal"))
        faster = (isal_decoder_function *)module_symbol("isal", "isal_decoder", "deflate", &ignored);
    return faster ? faster(gzip) : zlib_decoder(gzip);
}

decoder *gzip_decoder(void)
{
    return deflate_decoder(true);
}
