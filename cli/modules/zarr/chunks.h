/* The samples of an array, from the objects of its chunks. */
#ifndef MODULES_ZARR_CHUNKS_H
#define MODULES_ZARR_CHUNKS_H

#include "base/fault.h"
#include "modules/zarr/store.h"
#include "modules/zarr/zarr.h"

typedef struct zarr_chunks zarr_chunks;

/* key: of the array's metadata (copied). Takes ownership of the store, also on failure: NULL. */
zarr_chunks *zarr_chunks_open(zarr_store *store, const char *key, const zarr_metadata *about, fault *f);
/* Read samples [start, start + count) in each dimension, in C order and native byte order. */
int zarr_chunks_read(zarr_chunks *c, const int64_t *start, const int64_t *count, void *buffer, fault *f);
void zarr_chunks_close(zarr_chunks *c);

#endif
