/* The arguments of kernels that apply maps: plain structs, filled on the host (apply.cu). */
#ifndef CUDA_MAP_WORK_H
#define CUDA_MAP_WORK_H

#include "cuda/device/work.h"

enum { HISTO_MAP_TILE_DIMS = 3 };

/* A grid of tiles over the last dimensions of the samples. */
typedef struct histo_map_grid {
    int ndim; /* 0: no tiles */
    int64_t count[HISTO_MAP_TILE_DIMS], size[HISTO_MAP_TILE_DIMS];
    int64_t origin[HISTO_MAP_TILE_DIMS]; /* of the samples */
    float per_size[HISTO_MAP_TILE_DIMS]; /* 1 / size */
} histo_map_grid;

/* Operands of the iterator: samples of each axis, results, mask if there is one. */
typedef struct histo_map_work {
    histo_cuda_work samples;
    histo_map_grid tiles;
    bool linear;
    int64_t length;       /* of a table */
    int64_t entry_tables; /* from the tables of a batch entry to those of the next; 0: all entries have the same */
    const double *values; /* [tables][length] */
} histo_map_work;

/* Samples and results in rows, for kernels of one axis without a mask. A vector is what a thread reads at once; the
 * last one of a row may have fewer samples. Strides are in bytes. */
typedef struct histo_map_rows {
    histo_lookup lookup;
    histo_map_grid tiles;
    bool linear;
    int64_t length, entry_tables;
    const double *values;
    const char *from;
    char *to;
    int64_t entries, rows, columns;
    int64_t entry_stride[2], row_stride[2], stride[2]; /* of samples; of results */
    uint32_t vectors;                                  /* of a row */
    histo_divisor by_vectors;
    histo_dtype dtype, result; /* where a kernel is not made for them */
    uint32_t strips;           /* of a cell between tiles' centres, for a block each, … */
    uint32_t strip_rows;       /* … and the least rows of one */
    uint32_t kept;             /* entries of each table that shared memory has room for; 0: too few */
} histo_map_rows;

#endif
