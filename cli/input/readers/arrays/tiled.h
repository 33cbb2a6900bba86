/* Chunked arrays (HDF5, Zarr): read in tiles of complete chunks, so that each chunk is decoded once. Arrays become
 * pages by the conventions in array.h. */
#ifndef CLI_READERS_TILED_H
#define CLI_READERS_TILED_H

#include "input/readers/arrays/array.h"

typedef struct tiled_source {
    void *self;
    /* Read `count` samples, or records, from `start` on in each dimension, in native byte order. */
    int (*read)(void *self, const int64_t *start, const int64_t *count, void *buffer, fault *f);
    /* For records: from now on, read only the wanted columns, and set their offsets. Returns the size of a record, at
     * most the one in the info, or -1. */
    int64_t (*select)(void *self, column_table *columns, const bool *wanted, fault *f);
    void (*close)(void *self);
} tiled_source;

/* A reader of an array with chunks of this shape; NULL: not chunked. Takes ownership of source and of what info holds,
 * also on failure. */
reader *tiled_open(input *in, tiled_source source, const array_info *info, const int64_t *chunk, fault *f);

/* The bytes of the chunks that are read in several tiles; 0: each in one. False if the array's size exceeds int64_t. */
bool tiled_split_bytes(const array_info *info, const int64_t *chunk, int64_t *bytes);

#endif
