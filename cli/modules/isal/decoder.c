/* Deflate by Intel's ISA-L, which takes half the time of zlib. */
#include <isa-l/igzip_lib.h>
#include <limits.h>
#include <stdlib.h>

#include "input/stream/decoder.h"

typedef struct isal {
    decoder base;
    bool gzip;
    struct inflate_state state;
} isal;

static uint32_t at_most(size_t size)
{
    return size < UINT_MAX ? (uint32_t)size : UINT_MAX;
}

/* Why decoding failed, in zlib's words. */
static const char *reason(int result)
{
    switch (result) {
    case ISAL_INVALID_BLOCK:
        return "invalid block type";
    case ISAL_INVALID_SYMBOL:
        return "invalid code";
    case ISAL_INVALID_LOOKBACK:
        return "invalid distance too far back";
    case ISAL_UNSUPPORTED_METHOD:
        return "unknown compression method";
    case ISAL_INCORRECT_CHECKSUM:
        return "incorrect data check";
    case ISAL_NEED_DICT:
        return "it needs a dictionary";
    default:
        return "incorrect header check";
    }
}

static decoded isal_decode(decoder *base, decoder_span *s)
{
    struct inflate_state *z = &((isal *)base)->state;
    z->next_in = (uint8_t *)s->in;
    z->avail_in = at_most(s->in_size);
    z->next_out = s->out;
    z->avail_out = at_most(s->out_size);
    const int result = isal_inflate(z);
    s->in_size -= (size_t)(z->next_in - s->in);
    s->in = z->next_in;
    s->out_size -= (size_t)(z->next_out - s->out);
    s->out = z->next_out;
    base->why = reason(result);
    if (result < 0 || result == ISAL_NEED_DICT) return DECODED_DAMAGED;
    return z->block_state == ISAL_BLOCK_FINISH ? DECODED_MEMBER : DECODED_SOME;
}

static bool isal_restart(decoder *base)
{
    isal *d = (isal *)base;
    isal_inflate_init(&d->state);
    d->state.crc_flag = d->gzip ? ISAL_GZIP : ISAL_ZLIB;
    return true;
}

static void isal_close(decoder *base)
{
    free(base);
}

decoder *isal_decoder(bool gzip)
{
    isal *d = calloc(1, sizeof *d);
    if (!d) return NULL;
    d->base = (decoder){.decode = isal_decode, .restart = isal_restart, .close = isal_close};
    d->gzip = gzip;
    isal_restart(&d->base);
    return &d->base;
}
