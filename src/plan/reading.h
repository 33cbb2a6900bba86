/* A read: which slots of which quantity, their type, and the destination. */
#ifndef PLAN_READING_H
#define PLAN_READING_H

#include "base/host_device.h"

typedef enum histo_quantity { HISTO_READ_COUNTS = 0, HISTO_READ_W, HISTO_READ_W2 } histo_quantity;

/* Slots as an array in C order: element [i0, i1, …] is slot first + i0 * stride[0] + i1 * stride[1] + … The batch is
 * dimension 0, unless dimensions were joined. */
typedef struct histo_slot_grid {
    int ndim;
    int64_t first;
    int64_t extent[HISTO_MAX_AXES + 1], stride[HISTO_MAX_AXES + 1];
} histo_slot_grid;

typedef struct histo_reading {
    histo_quantity quantity;
    histo_slot_grid grid;
    int64_t size;    /* number of elements */
    bool cumulative; /* each element is the sum up to it along the last axis; counts only */
    histo_dtype dtype;
    void *out;
    void *stream; /* for a destination in GPU memory */
    bool done;    /* the fill has already written the destination: see histo_job */
    bool part;    /* not all of the batch, or not all slots of an axis */
} histo_reading;

/* Merge dimensions that are contiguous together. */
static inline void histo_slot_grid_coalesce(histo_slot_grid *grid)
{
    int last = 0;
    for (int d = 1; d < grid->ndim; d++) {
        const bool neighbours = grid->extent[last] == 1 || grid->stride[last] == grid->extent[d] * grid->stride[d];
        const int64_t before = neighbours ? grid->extent[last] : 1;
        last += !neighbours;
        grid->extent[last] = before * grid->extent[d];
        grid->stride[last] = grid->stride[d];
    }
    grid->ndim = last + 1;
}

/* Saturate counts at 2^32 - 1. */
HISTO_INLINE uint32_t histo_saturated(uint64_t count)
{
    return count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
}

#endif
