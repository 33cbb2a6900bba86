/* The parts of the HDF5 reader: which dataset (datasets.c), of what type in memory (types.c), with which attributes
 * (attributes.c), read in which tiles (reader.c). HDF5 may be built for one thread: all calls of these functions are
 * made with the reader's lock held. */
#ifndef MODULES_HDF5_H
#define MODULES_HDF5_H

#include <hdf5.h>

#include "input/readers/arrays/array.h"

/* "FILE: WHAT cannot be read", with the cause from HDF5's error stack. Returns -1. */
int hdf5_fault(const char *file, const char *what, fault *f);

/* ---- Types ---- */

/* How samples of a type are read; closed by the caller. */
typedef struct hdf5_type {
    hid_t memory; /* -1: neither numbers nor strings, but `what` */
    const char *what;
    stored_string string; /* for strings */
    histo_dtype dtype;
    bool boolean; /* 0 and 1 */
    packing rule; /* for dates */
} hdf5_type;

hdf5_type hdf5_type_in_memory(hid_t type);

/* The columns of a compound type. */
int hdf5_find_columns(hid_t type, column_table *table, const char *subject, fault *f);
/* The memory type of records with the wanted columns (NULL: all numeric ones), whose offsets it sets; -1 if there are
 * none. */
hid_t hdf5_record_in_memory(hid_t type, column_table *table, const bool *wanted);

/* ---- Datasets ---- */

/* The contents of a dataset. memory_type is closed, and what info holds is freed, by the caller. */
int hdf5_describe(hid_t dataset, const char *file, const char *name, array_info *info, hid_t *memory_type, fault *f);

/* The requested dataset, or the only one with numbers: its path (freed by the caller), or NULL. */
char *hdf5_choose(hid_t file, const char *name, const char *wanted, fault *f);

/* Check that every filter of a dataset is available. */
int hdf5_check_filters(hid_t creation, const char *file, const char *name, fault *f);

/* ---- Attributes ---- */

/* Scaling, missing values and valid range of a dataset stored in a type, which may become unsigned. */
packing hdf5_rule(hid_t file, hid_t dataset, histo_dtype *stored);
/* By MATLAB's attributes: whether it is an array without elements, of which only the shape is stored; whether its
 * numbers are text. */
bool hdf5_is_empty(hid_t dataset);
bool hdf5_is_text(hid_t dataset);
/* Whether it is a dimension scale, which netCDF files have in addition to their data. */
bool hdf5_is_scale(hid_t dataset);

/* ---- Chunks ---- */

typedef struct hdf5_chunks hdf5_chunks;

/* The chunks of a dataset whose samples are stored as in memory, with deflate; NULL: HDF5 reads it. */
hdf5_chunks *hdf5_chunks_open(hid_t dataset, hid_t creation, hid_t memory_type, const array_info *info);
void hdf5_chunks_close(hdf5_chunks *c);
/* The first chunk, and the next one, that overlaps a tile. */
void hdf5_chunks_first(const hdf5_chunks *c, const int64_t *start, int64_t *at);
bool hdf5_chunks_next(const hdf5_chunks *c, const int64_t *start, const int64_t *count, int64_t *at);
typedef enum hdf5_chunk {
    CHUNK_GOOD,
    CHUNK_LEFT,    /* HDF5 must read it */
    CHUNK_DAMAGED, /* wrong number of samples: HDF5 would read beyond them */
} hdf5_chunk;

/* Load a chunk. */
hdf5_chunk hdf5_chunks_load(hdf5_chunks *c, hid_t dataset, const int64_t *at);
/* Decode it into the tile. Call without the lock. */
hdf5_chunk hdf5_chunks_decode(hdf5_chunks *c, const int64_t *at, const int64_t *start, const int64_t *count,
                              unsigned char *tile);

#endif
