/* The parts of the Zarr reader: the metadata of an array (metadata.cpp), its chunks and their codecs (chunks.c,
 * codecs.c), and the choice of an array in a group (reader.c). */
#ifndef MODULES_ZARR_H
#define MODULES_ZARR_H

#include <histo/histo.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "input/samples/epoch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Metadata ---- */

typedef enum zarr_codec { ZARR_GZIP /* or zlib */, ZARR_ZSTD, ZARR_BLOSC, ZARR_CRC32C } zarr_codec;

enum { ZARR_MOST_CODECS = 8, ZARR_MOST_ATTRIBUTES = 16, ZARR_MOST_NUMBERS = 8 };

/* How the samples of a chunk are stored. */
typedef struct zarr_codecs {
    bool big_endian;
    int order[HISTO_MAX_DIMS]; /* the array's dimensions in stored order, the last one contiguous */
    int count;                 /* then these codecs compress the bytes, in this order */
    zarr_codec codec[ZARR_MOST_CODECS];
} zarr_codecs;

typedef struct zarr_attribute {
    char name[16];
    int count; /* number of numbers; 0: text */
    double values[ZARR_MOST_NUMBERS];
    int64_t whole[ZARR_MOST_NUMBERS]; /* the same as integers */
    bool integers;
    char text[64];
} zarr_attribute;

typedef struct zarr_metadata {
    bool is_group;
    histo_dtype dtype;
    bool boolean, dated;
    time_epoch epoch; /* for dates */
    int ndim;
    int64_t shape[HISTO_MAX_DIMS];
    int64_t chunk[HISTO_MAX_DIMS];
    zarr_codecs codecs;

    bool sharded; /* chunks are in shards of this shape, with an index of offsets and sizes */
    int64_t shard[HISTO_MAX_DIMS];
    zarr_codecs index_codecs;
    bool index_first;

    char separator; /* in the names of chunks */
    bool prefixed;  /* names begin with c */

    bool has_fill; /* missing chunks are filled with this, in native byte order */
    unsigned char fill[8];

    char only_dimension[64]; /* the dimension's name, if there is only one */
    bool fill_is_missing;    /* by xarray's convention */
    int attributes_count;
    zarr_attribute attributes[ZARR_MOST_ATTRIBUTES];
} zarr_metadata;

enum { ZARR_WHY_BYTES = 200 };

/* Parse a zarr.json file or, for version 2, .zarray or .zgroup. False with a reason in why if it cannot be read. */
bool zarr_parse(const char *text, size_t size, zarr_metadata *found, char why[ZARR_WHY_BYTES]);
/* Parse a .zattrs file, in addition to .zarray. */
bool zarr_parse_attributes(const char *text, size_t size, zarr_metadata *found, char why[ZARR_WHY_BYTES]);

/* ---- Codecs ---- */

/* Decode `size` bytes, which may be modified, into exactly `wanted` bytes at `to`. False with a reason in why if they
 * are invalid, or memory runs out. */
bool zarr_decode(const zarr_codecs *codecs, unsigned char *bytes, size_t size, unsigned char *to, size_t wanted,
                 const char **why);

#ifdef __cplusplus
}
#endif

#endif
