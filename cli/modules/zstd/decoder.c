/* Zstandard: frames, including skippable ones, with their content checksums if present. */
#include <stdlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "input/stream/decoder.h"

typedef struct zstd {
    decoder base;
    ZSTD_DStream *stream;
} zstd;

static decoded zstd_decode(decoder *base, decoder_span *s)
{
    ZSTD_inBuffer in = {s->in, s->in_size, 0};
    ZSTD_outBuffer out = {s->out, s->out_size, 0};
    const size_t result = ZSTD_decompressStream(((zstd *)base)->stream, &out, &in);
    s->in += in.pos;
    s->in_size -= in.pos;
    s->out += out.pos;
    s->out_size -= out.pos;
    if (!ZSTD_isError(result)) return result == 0 ? DECODED_MEMBER : DECODED_SOME;
    base->why = ZSTD_getErrorName(result);
    switch (ZSTD_getErrorCode(result)) {
    case ZSTD_error_frameParameter_windowTooLarge:
        return DECODED_LARGE;
    case ZSTD_error_memory_allocation:
        return DECODED_NO_MEMORY;
    default:
        return DECODED_DAMAGED;
    }
}

static bool zstd_restart(decoder *base)
{
    return !ZSTD_isError(ZSTD_DCtx_reset(((zstd *)base)->stream, ZSTD_reset_session_only));
}

static void zstd_close(decoder *base)
{
    ZSTD_freeDStream(((zstd *)base)->stream);
    free(base);
}

decoder *zstd_decoder(void)
{
    enum { WINDOW_LOG = 27 }; /* 128 MiB, the library's default limit and the largest window of `zstd --ultra -22` */
    zstd *z = calloc(1, sizeof *z);
    if (!z) return NULL;
    z->base = (decoder){.decode = zstd_decode, .restart = zstd_restart, .close = zstd_close};
    z->stream = ZSTD_createDStream();
    if (z->stream && !ZSTD_isError(ZSTD_DCtx_setParameter(z->stream, ZSTD_d_windowLogMax, WINDOW_LOG))) return &z->base;
    zstd_close(&z->base);
    return NULL;
}
