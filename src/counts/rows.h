/* Rows: the runs of contiguous slots that make up an array of bins, or of all slots. */
#ifndef COUNTS_ROWS_H
#define COUNTS_ROWS_H

#include "counts/hist.h"

typedef struct histo_slot_rows {
    histo_slot_grid grid;           /* dimensions are merged, unless rows of the last axis alone are wanted */
    int64_t n;                      /* slots in a row */
    int64_t slot;                   /* the first slot of the next row, numbered over the whole batch */
    int64_t at[HISTO_MAX_AXES + 1]; /* its position; the last dimension is unused */
    bool done;
} histo_slot_rows;

/* The slots of a read, in the order of the read. */
void histo_slot_rows_grid(histo_slot_grid *grid, const histo_hist *hist, histo_slots slots);

/* Start at the first row, of the longest possible rows or of a grid that has been set. */
void histo_slot_rows_start(histo_slot_rows *rows, const histo_hist *hist, histo_slots slots);
void histo_slot_rows_restart(histo_slot_rows *rows);

/* The first slot of the next row; false at the end. */
bool histo_slot_rows_next(histo_slot_rows *rows, int64_t *slot);

#endif
