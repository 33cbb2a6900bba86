/* The arguments of kernels that apply maps: plain structs, filled on the host (map_apply.cu). */
#ifndef CUDA_MAPS_MAP_WORK_H
#define CUDA_MAPS_MAP_WORK_H

#include "cuda/device/work.h"

enum { HISTO_MAP_TILE_DIMS = 3, HISTO_MAP_MOST_TILES = 96 /* in each dimension, for kernels that work in cells */ };

/* A grid of tiles over the last dimensions of the samples. */
typedef struct histo_map_grid {
    int ndim; /* 0: no tiles */
    int64_t count[HISTO_MAP_TILE_DIMS], size[HISTO_MAP_TILE_DIMS];
    int64_t origin[HISTO_MAP_TILE_DIMS]; /* the place of the first sample in the grid */
    float per_size[HISTO_MAP_TILE_DIMS]; /* 1 / size */
} histo_map_grid;

/* The tile whose centre is at or before a place, from -1 on, and the share of the next one: in float, in the order of
 * cv::CLAHE. */
HISTO_INLINE float histo_tile_before(float per_size, float place, float *share)
{
    const float at = place * per_size - 0.5f, low = floorf(at);
    *share = at - low;
    return low;
}

/* Operands of the iterator: samples of each axis, results, mask if there is one. */
typedef struct histo_map_work {
    histo_cuda_work samples;
    histo_map_grid tiles;
    bool linear;
    int64_t length;       /* entries of a table */
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
    int64_t entry_stride[2], row_stride[2], stride[2]; /* those of samples, and of results */
    uint32_t vectors;                                  /* in a row */
    histo_divisor by_vectors;
    histo_dtype dtype, result; /* for kernels that are not made for one of each */
    uint32_t kept;             /* entries of each table that shared memory has room for; 0: too few */
} histo_map_rows;

/* Rows of samples of several axes, of one byte each. Of `rows`, samples are not used. */
enum { HISTO_MAP_JOINT_AXES = 3 };
typedef struct histo_map_joint {
    histo_map_rows rows;
    int naxes;
    histo_dtype dtypes[HISTO_MAP_JOINT_AXES];
    histo_lookup lookups[HISTO_MAP_JOINT_AXES];
    uint32_t slot_strides[HISTO_MAP_JOINT_AXES];
    const char *from[HISTO_MAP_JOINT_AXES];
    int64_t entry_stride[HISTO_MAP_JOINT_AXES], row_stride[HISTO_MAP_JOINT_AXES], stride[HISTO_MAP_JOINT_AXES];
} histo_map_joint;

/* Threads of a block that blends tiles, at most, and blocks of a multiprocessor: where tables are those of bytes, and
 * where they are longer. */
enum {
    HISTO_MAP_SHORT_THREADS = 256,
    HISTO_MAP_SHORT_BLOCKS = 3,
    HISTO_MAP_LONG_THREADS = 512,
    HISTO_MAP_LONG_BLOCKS = 2
};

/* Cells: samples that have the same tiles around them. top and left: where those of a dimension begin, and the end. */
enum { HISTO_MAP_COPIED = 128 /* bytes of the copies of an entry of tables of bytes */ };
typedef struct histo_map_cells {
    histo_map_rows rows;
    uint32_t first_strips, strips; /* blocks for the first row of cells, and for each other */
    int32_t strip_rows;            /* rows of samples in a block; twice as many in cells of half the width */
    int32_t top[HISTO_MAP_MOST_TILES + 2], left[HISTO_MAP_MOST_TILES + 2];
} histo_map_cells;

#endif
