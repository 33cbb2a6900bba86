/* Arrays of numbers (.npy, .npz, raw binary, bytes; HDF5 uses the conventions and reads for itself): how an array
 * becomes a page, and a reader that streams one from any source of bytes.
 *
 * The conventions, for every format that holds arrays:
 *   - two dimensions: rows x columns, one channel;
 *   - three dimensions, the last of 1 to 4: rows x columns x channels;
 *   - any others: one channel, flattened, in the order that the array is stored in: height is the number of samples,
 *     width 1. No dimension at all is one sample;
 *   - Fortran order: rows, columns and channels are the same ones, and come as bands of columns. */
#ifndef CLI_READERS_ARRAY_H
#define CLI_READERS_ARRAY_H

#include "input/reader.h"

#define LITTLE_ENDIAN_MACHINE (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)

/* Samples in a band, in bytes: large enough for many threads, small beside memory. Fuzzing cuts small files too. */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
enum { BAND_BYTES = 4096, MAPPED_BAND_BYTES = 2 * BAND_BYTES };
#else
enum { BAND_BYTES = 4 << 20, MAPPED_BAND_BYTES = 64 << 20 };
#endif

typedef struct array_info {
    histo_dtype dtype;
    bool swapped; /* not in this machine's byte order */
    bool fortran;
    int ndim;
    int64_t shape[HISTO_MAX_DIMS]; /* of one dimension, -1: as much as there is */
} array_info;

typedef struct array_page {
    int channels;
    int64_t height, width;
    int64_t bytes;   /* -1 where not known */
    bool flat;       /* of other than two dimensions (and channels) */
    bool by_columns; /* stored column after column */
    bool planes;     /* and channel after channel */
} array_page;

/* False if the size of the array does not fit in an int64_t. */
bool array_page_of(const array_info *info, array_page *page);

/* Where the bytes of an array come from. read, rewind and map are as input_read, input_rewind and input_map; map may be
 * NULL. */
typedef struct byte_source {
    int64_t (*read)(void *self, void *buffer, size_t size, fault *f);
    int (*rewind)(void *self, fault *f);
    void (*close)(void *self);
    void *self;
    const void *(*map)(void *self, size_t size);
} byte_source;

/* An input as a source; closing the source leaves the input open. */
byte_source byte_source_of_input(input *in);

/* Read size bytes, fewer only at the end of the data: how many, or -1. */
int64_t byte_source_read_full(const byte_source *source, void *buffer, size_t size, fault *f);

/* How an array lies in its source, and the words for sentences about it. */
typedef struct array_place {
    int64_t start;         /* the source's bytes before the array; they have been read */
    int64_t size;          /* bytes after them, -1 where not known */
    const char *subject;   /* "a.npz, member x.npy" (copied) */
    const char *described; /* "its header describes" */
    const char *remedy;    /* "save it again" */
} array_place;

/* A reader of the array at a place in a source; takes over in and source, also on failure. */
reader *array_reader_open(const reader_kind *kind, input *in, byte_source source, const array_info *info,
                          const array_place *place, fault *f);

#endif
