/* Slots and the cells of the Unified Histogram Interface, where the NaN slot of an axis belongs to its overflow cell.
 */
#ifndef COUNTS_CELLS_H
#define COUNTS_CELLS_H

#include "counts/hist.h"

/* One value for each slot of all batch entries: counts, or sums; the other is NULL. */
typedef struct histo_lane {
    uint64_t *counts;
    double *sums;
} histo_lane;

/* The value of a slot as 64 bits; all NaN have the same. */
uint64_t histo_lane_get(histo_lane lane, int64_t slot);

/* Goes through the cells, or all slots, of a histogram in order. Starts as {hist, HISTO_CELLS or HISTO_ALL_SLOTS}. */
enum { HISTO_CELLS = 2, HISTO_ALL_SLOTS = 3 }; /* places on an axis beside its bins */
typedef struct histo_place {
    const histo_hist *hist;
    int flow;
    int64_t entry;
    int64_t at[HISTO_MAX_AXES];
} histo_place;
/* Step on; false behind the last. */
bool histo_place_next(histo_place *place);
int64_t histo_place_slot(const histo_place *place);
bool histo_place_is_nan(const histo_place *place);

/* The value of the cell at a place that is no NaN. */
uint64_t histo_lane_cell(histo_lane lane, const histo_place *cell);

/* The checksum of the cells of one lane or two (the other is {NULL, NULL}). */
uint32_t histo_cells_checksum(const histo_hist *hist, const histo_lane lanes[2]);

/* The cells of a sparse histogram that have a count, by their slots that are no NaN. The caller frees the list. */
histo_status histo_cells_occupied(const histo_hist *hist, histo_list *cells);
/* The checksum of these: of slots and counts. */
uint32_t histo_cells_occupied_checksum(const histo_list *cells);

#endif
