/* Decoders of compressed data, below the readers: gzip, Zstandard, xz and bzip2. The first bytes of data show how they
 * are compressed; they may have several members, one after the other. All but gzip are modules. */
#ifndef CLI_DECODER_H
#define CLI_DECODER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/fault.h"
#include "base/module.h"

/* The memory that decoding may need: that of `zstd --ultra -22` and `xz -9`. */
enum { DECODER_MOST_MEMORY = 144 << 20 };

typedef enum decoded {
    DECODED_SOME,    /* more follows, given more input or room */
    DECODED_MEMBER,  /* a member has ended; another, or padding, may follow */
    DECODED_DAMAGED, /* the data are invalid; `why` says how */
    DECODED_LARGE,   /* they need more than DECODER_MOST_MEMORY */
    DECODED_NO_MEMORY,
} decoded;

/* Input to consume, and room to fill: a decoder advances the beginnings of both. */
typedef struct decoder_span {
    const unsigned char *in;
    size_t in_size;
    unsigned char *out;
    size_t out_size;
} decoder_span;

typedef struct decoder decoder;

struct decoder {
    const char *why;
    decoded (*decode)(decoder *d, decoder_span *s);
    /* Another member begins: false if out of memory. */
    bool (*restart)(decoder *d);
    void (*close)(decoder *d);
};

/* NULL if out of memory. */
typedef decoder *decoder_open_function(void);

typedef struct compression {
    const char *name;    /* "xz" */
    const char *command; /* decompresses to standard output */
    bool (*recognise)(const unsigned char *head, size_t size);
    decoder_open_function *open; /* NULL: the function NAME_decoder of the module NAME */
    const char *library;         /* builds without this library lack the module */
} compression;

/* The compression of data that begin like this; NULL: none. */
const compression *compression_of(const unsigned char *head, size_t size);
/* A decoder for data of this file; NULL on failure. */
decoder *compression_open(const compression *c, const char *file, fault *f);

/* A decoder of deflate with a gzip or a zlib wrapper. */
decoder *deflate_decoder(bool gzip);
typedef decoder *isal_decoder_function(bool gzip);
MODULE_SYMBOL isal_decoder_function isal_decoder;

decoder_open_function gzip_decoder;
MODULE_SYMBOL decoder_open_function zstd_decoder;
MODULE_SYMBOL decoder_open_function xz_decoder;
MODULE_SYMBOL decoder_open_function bzip2_decoder;

#endif
