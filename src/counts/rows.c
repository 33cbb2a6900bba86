#include "counts/rows.h"

void histo_slot_rows_grid(histo_slot_grid *grid, const histo_hist *hist, histo_slots slots)
{
    const bool bins = slots == HISTO_BINS;
    int64_t stride = 1;
    grid->ndim = 1 + hist->naxes;
    grid->first = 0;
    for (int a = hist->naxes - 1; a >= 0; a--) {
        grid->extent[1 + a] = hist->axes[a].bins + (bins ? 0 : 3);
        grid->stride[1 + a] = stride;
        grid->first += bins ? stride : 0;
        stride *= hist->axes[a].bins + 3;
    }
    grid->extent[0] = hist->accumulators.batch;
    grid->stride[0] = stride;
}

void histo_slot_rows_restart(histo_slot_rows *rows)
{
    rows->n = rows->grid.extent[rows->grid.ndim - 1];
    rows->slot = rows->grid.first;
    for (int d = 0; d < rows->grid.ndim; d++)
        rows->at[d] = 0;
    rows->done = false;
}

void histo_slot_rows_start(histo_slot_rows *rows, const histo_hist *hist, histo_slots slots)
{
    histo_slot_rows_grid(&rows->grid, hist, slots);
    histo_slot_grid_coalesce(&rows->grid);
    histo_slot_rows_restart(rows);
}

bool histo_slot_rows_next(histo_slot_rows *rows, int64_t *slot)
{
    const histo_slot_grid *grid = &rows->grid;
    if (rows->done) return false;
    *slot = rows->slot;
    int d = grid->ndim - 2;
    for (; d >= 0 && ++rows->at[d] == grid->extent[d]; d--) {
        rows->slot -= (grid->extent[d] - 1) * grid->stride[d];
        rows->at[d] = 0;
    }
    if (d >= 0) rows->slot += grid->stride[d];
    rows->done = d < 0;
    return true;
}
