#include "counts/saved/uhi_cells.h"

#include <math.h>
#include <stdlib.h>

#include "base/bits.h"
#include "base/checksum.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/threads/monitor.h"

/* The bits of a double; all NaNs get the same pattern. */
static uint64_t bits_of(double x)
{
    return histo_bits_of(x != x ? (double)NAN : x);
}

uint64_t histo_lane_get(histo_lane lane, int64_t slot)
{
    return lane.counts ? lane.counts[slot] : bits_of(lane.sums[slot]);
}

bool histo_cell_next(histo_cell *place)
{
    int a = place->hist->naxes - 1;
    while (a >= 0 && ++place->at[a] == place->hist->axes[a].bins + place->flow)
        place->at[a--] = 0;
    return a >= 0 || ++place->entry < place->hist->accumulators.batch;
}

int64_t histo_cell_slot(const histo_cell *place)
{
    int64_t slot = place->entry;
    for (int a = 0; a < place->hist->naxes; a++)
        slot = slot * (place->hist->axes[a].bins + 3) + place->at[a];
    return slot;
}

bool histo_cell_is_nan(const histo_cell *place)
{
    for (int a = 0; a < place->hist->naxes; a++)
        if (place->at[a] == place->hist->axes[a].bins + 2) return true;
    return false;
}

/* A cell contains its own slot and, for each subset of the axes on which it is overflow, the slot that is NaN on these
 * axes. */
uint64_t histo_lane_cell(histo_lane lane, const histo_cell *cell)
{
    const histo_hist *hist = cell->hist;
    int64_t first = histo_cell_slot(cell), stride = 1, to_nan[HISTO_MAX_AXES];
    int over = 0;
    for (int a = hist->naxes - 1; a >= 0; a--) {
        if (cell->at[a] == hist->axes[a].bins + 1) to_nan[over++] = stride;
        stride *= hist->axes[a].bins + 3;
    }
    uint64_t count = lane.counts ? lane.counts[first] : 0;
    double sum = lane.sums ? lane.sums[first] : 0;
    for (unsigned set = 1; set < 1U << over; set++) {
        int64_t slot = first;
        for (int i = 0; i < over; i++)
            slot += set >> i & 1 ? to_nan[i] : 0;
        if (lane.counts)
            count += lane.counts[slot];
        else
            sum += lane.sums[slot];
    }
    return lane.counts ? count : bits_of(sum);
}

/* Everything about an axis that loading restores but the fingerprint omits. */
static uint32_t add_axes(uint32_t crc, const histo_hist *hist)
{
    for (int a = 0; a < hist->naxes; a++) {
        crc = histo_checksum_add_u64(crc, (uint64_t)hist->axes[a].kind);
        if (hist->axes[a].kind == HISTO_POWER) crc = histo_checksum_add_u64(crc, bits_of(hist->axes[a].power));
    }
    return crc;
}

histo_status histo_cells_checksum(const histo_hist *hist, const histo_lane lanes[3], uint32_t *checksum)
{
    const int64_t slots = hist->accumulators.batch * hist->accumulators.slots;
    const histo_accumulators *accumulators = &hist->accumulators;
    uint64_t fingerprint = 0;
    histo_hist_fingerprint(hist, &fingerprint);
    uint32_t crc = add_axes(histo_checksum_add_u64(0, fingerprint), hist);
    for (int64_t b = 0; b < accumulators->batch; b++)
        crc = histo_checksum_add_u64(crc, accumulators->masked[b]);
    histo_pace pace = {.stage = "adding up a checksum"};
    for (int i = 0; i < 3; i++)
        for (int64_t slot = 0; slot < slots && (lanes[i].counts || lanes[i].sums) && histo_goes_on(&pace, 1); slot++)
            crc = histo_checksum_add_u64(crc, histo_lane_get(lanes[i], slot));
    const histo_list all = accumulators->sparse ? histo_sparse_all(accumulators->sparse) : (histo_list){0};
    for (int64_t i = 0; i < all.n && histo_goes_on(&pace, 2); i++)
        crc = histo_checksum_add_u64(histo_checksum_add_u64(crc, all.entries[i].slot), all.entries[i].count);
    *checksum = crc;
    return pace.status;
}

/* The slot that represents the cell of a slot. */
static uint64_t cell_of(const histo_hist *hist, uint64_t slot)
{
    uint64_t stride = 1, cell = slot;
    for (int a = hist->naxes - 1; a >= 0; a--) {
        const uint64_t extent = (uint64_t)hist->axes[a].bins + 3;
        if (slot / stride % extent == extent - 1) cell -= stride;
        stride *= extent;
    }
    return cell;
}

histo_status histo_cells_occupied(const histo_hist *hist, histo_list *cells)
{
    const histo_list all = histo_sparse_all(hist->accumulators.sparse);
    const size_t bytes = 2 * (size_t)all.n * sizeof *all.entries;
    *cells = (histo_list){0, histo_malloc(bytes + 1)};
    if (!cells->entries) return histo_fail_memory(bytes, "the cells of a sparse histogram");
    for (int64_t i = 0; i < all.n; i++)
        cells->entries[i] = (histo_entry){cell_of(hist, all.entries[i].slot), all.entries[i].count};
    cells->n = all.n;
    const histo_status status = histo_entries_sort(cells->entries, &cells->n, cells->entries + all.n);
    if (status != HISTO_OK) histo_list_free(cells);
    return status;
}
