/* Arrays of numbers (.npy, .npz, raw binary, bytes; HDF5 follows the conventions but has its own reader): how an array
 * becomes a page, and a reader that streams one from any source of bytes.
 *
 * The conventions for all formats that contain arrays:
 *   - records: a table, of a column for each field and a row for each record, in storage order;
 *   - two dimensions: rows x columns, one channel;
 *   - three dimensions, the last of 1 to 4: rows x columns x channels;
 *   - other arrays: one channel, flattened in storage order: height is the number of samples, width 1. An array without
 *     dimensions is one sample;
 *   - Fortran order: rows, columns and channels keep their meaning; bands consist of columns. */
#ifndef CLI_READERS_ARRAY_H
#define CLI_READERS_ARRAY_H

#include "input/readers/arrays/columns.h"
#include "input/readers/names.h"

#define LITTLE_ENDIAN_MACHINE (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)

/* Bytes of samples in a band: enough for many threads, small compared with memory. Fuzzing splits small files too. */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
enum { BAND_BYTES = 4096, MAPPED_BAND_BYTES = 2 * BAND_BYTES, CACHED_BAND_BYTES = BAND_BYTES };
#else
enum { BAND_BYTES = 4 << 20, MAPPED_BAND_BYTES = 64 << 20, CACHED_BAND_BYTES = 1 << 20 };
#endif

typedef struct array_info {
    histo_dtype dtype;
    bool swapped; /* not in native byte order */
    bool boolean; /* u8 of 0 and 1 */
    bool fortran;
    int ndim;
    int64_t shape[HISTO_MAX_DIMS]; /* at most one dimension is -1: determined by the length of the data */
    packing rule;                  /* which values are missing */
    column_table columns;          /* if elements are records */
    int64_t record_bytes;          /* size of an element; 0: elements are samples of the dtype */
} array_info;

void array_info_free(array_info *info);
/* Whether its elements are strings, not records. Such arrays are the default only if there are no others. */
bool array_info_has_strings(const array_info *info);
/* Add an array to a list of names: "t2m (8 x 73 x 144 i16)", "events (100 rows of 12 columns)". */
void array_info_list(name_list *list, const char *name, const array_info *info);
/* For --raw: no value is missing. */
void array_info_forget_missing(array_info *info);

typedef struct array_page {
    int channels;
    int64_t height, width;
    int64_t bytes;   /* -1 if unknown */
    bool flat;       /* neither two dimensions nor two with channels */
    bool by_columns; /* column-major */
    bool planes;     /* and channel after channel */
} array_page;

/* False if the array's size exceeds int64_t. */
bool array_page_of(const array_info *info, array_page *page);

/* A source of an array's bytes. read, rewind, map and seek behave like input_read, input_rewind, input_map and
 * input_seek; map and seek may be NULL. */
typedef struct byte_source {
    int64_t (*read)(void *self, void *buffer, size_t size, fault *f);
    int (*rewind)(void *self, fault *f);
    void (*close)(void *self);
    void *self;
    const void *(*map)(void *self, size_t size);
    int (*seek)(void *self, int64_t position, fault *f);
    bool in_parts; /* bands fit the cache of the thread that reads them */
} byte_source;

/* A source that reads an input; closing the source does not close the input. */
byte_source byte_source_of_input(input *in, const read_options *options);

/* Skip this many bytes by reading; returns how many there were, or -1. */
int64_t byte_source_skip(const byte_source *source, int64_t bytes, fault *f);

/* Read size bytes, fewer only at the end of the data; returns their number, or -1. */
int64_t byte_source_read_full(const byte_source *source, void *buffer, size_t size, fault *f);

/* Reverse the bytes of each sample. */
void array_swap_bytes(void *samples, size_t size, size_t count);

/* The position of an array in its source, and words for messages about it. */
typedef struct array_place {
    int64_t start;         /* bytes of the source before the array, already read */
    int64_t size;          /* bytes of the source after `start`; -1 if unknown */
    const char *subject;   /* "a.npz, member x.npy" (copied) */
    const char *described; /* "its header describes" */
    const char *remedy;    /* "save it again" */
} array_place;

/* A reader of the array at a position in a source. Takes ownership of source and of what info holds, also on
 * failure. */
reader *array_reader_open(input *in, byte_source source, const array_info *info, const array_place *place, fault *f);

#endif
