/* Cells: an axis of stored edges cut into so many pieces that few edges are in any. The cell of a sample is arithmetic
 * that never falls as the sample rises, so that edges of lower cells are below it and those of higher cells above,
 * whatever the rounding; only the edges of its own cell are compared with it. */
#ifndef CPU_CELLS_H
#define CPU_CELLS_H

#include "axis/axis.h"

typedef struct histo_cells {
    double lo, hi;        /* first and last edge */
    bool by_bits;         /* a cell is a range of bit patterns of double, else a range of values, all equally wide */
    double per_cell;      /* cells in a unit */
    uint64_t first_bits;  /* the pattern of lo */
    int shift;            /* a cell is 2^shift patterns */
    int32_t most;         /* edges in a cell */
    uint32_t nan;         /* slot of NaN */
    const int32_t *first; /* edges below each cell: the slot of the cell's smallest samples */
    /* The edges, the last as it is compared (see top_of in slots.c), and `most` NaN, which no sample reaches. */
    const double *edges;
} histo_cells;

/* For a lookup by search, and about so many samples. */
histo_status histo_cells_make(histo_cells *cells, const histo_lookup *lookup, int64_t samples);
void histo_cells_free(histo_cells *cells);

#endif
