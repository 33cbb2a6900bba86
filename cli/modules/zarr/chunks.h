/* The samples of an array, from the files of its chunks. */
#ifndef MODULES_ZARR_CHUNKS_H
#define MODULES_ZARR_CHUNKS_H

#include "base/fault.h"
#include "modules/zarr/zarr.h"

typedef struct zarr_chunks zarr_chunks;

/* folder: of the array's metadata (copied). NULL on failure. */
zarr_chunks *zarr_chunks_open(const char *folder, const zarr_metadata *about, fault *f);
/* Read samples [start, start + count) in each dimension, in C order and native byte order. */
int zarr_chunks_read(zarr_chunks *c, const int64_t *start, const int64_t *count, void *buffer, fault *f);
void zarr_chunks_close(zarr_chunks *c);

#endif
