/* Slots, and cells of the Unified Histogram Interface, which counts an axis's NaN slot in its overflow cell. */
#ifndef COUNTS_CELLS_H
#define COUNTS_CELLS_H

#include "counts/hist.h"

/* The values of all slots of all batch entries: counts or sums; the other pointer is NULL. */
typedef struct histo_lane {
    uint64_t *counts;
    double *sums;
} histo_lane;

/* The value of a slot as 64 bits; all NaN have the same bits. */
uint64_t histo_lane_get(histo_lane lane, int64_t slot);

/* Iterates over the cells, or all slots, of a histogram in order. Initialise it with {hist, HISTO_CELLS or
 * HISTO_ALL_SLOTS}. */
enum { HISTO_CELLS = 2, HISTO_ALL_SLOTS = 3 }; /* places on an axis in addition to its bins */
typedef struct histo_cell {
    const histo_hist *hist;
    int flow;
    int64_t entry;
    int64_t at[HISTO_MAX_AXES];
} histo_cell;
/* Advance; false at the end. */
bool histo_cell_next(histo_cell *place);
int64_t histo_cell_slot(const histo_cell *place);
bool histo_cell_is_nan(const histo_cell *place);

/* The value of a cell, given by the position of its own slot. */
uint64_t histo_lane_cell(histo_lane lane, const histo_cell *cell);

/* The checksum of the axes, the masked samples and all slots of some lanes, or of a sparse histogram's occupied slots;
 * an unused lane is {NULL, NULL}. Fails only if cancelled. */
histo_status histo_cells_checksum(const histo_hist *hist, const histo_lane lanes[3], uint32_t *checksum);

/* The cells of a sparse histogram with nonzero counts, each as its own slot. The caller frees the list. */
histo_status histo_cells_occupied(const histo_hist *hist, histo_list *cells);

#endif
