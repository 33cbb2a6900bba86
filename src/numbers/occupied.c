#include "numbers/occupied.h"

#include <string.h>

#include "axis/axis.h"
#include "base/error.h"
#include "base/memory.h"

histo_status histo_occupied_read(histo_occupied *occupied, const histo_hist *hist, histo_slots slots)
{
    *occupied = (histo_occupied){0};
    histo_status status = histo_hist_occupied(hist, slots, &occupied->size);
    if (status != HISTO_OK) return status;
    occupied->per_entry = histo_hist_size(hist, slots) / histo_hist_batch(hist);
    const size_t room = (size_t)occupied->size + 1;
    occupied->index = histo_malloc(room * sizeof *occupied->index);
    occupied->counts = histo_malloc(room * sizeof *occupied->counts);
    if (!occupied->index || !occupied->counts)
        return histo_fail_memory(room * (sizeof *occupied->index + sizeof *occupied->counts), "the occupied bins");
    return histo_hist_read_occupied(hist, slots, occupied->index, occupied->counts, occupied->size);
}

histo_status histo_occupied_read_finite(histo_occupied *occupied, const histo_hist *hist, const char *what)
{
    const histo_axis axis = histo_hist_axis(hist, 0);
    const histo_status status = histo_axis_check_finite(&axis, what);
    if (status == HISTO_OK) return histo_occupied_read(occupied, hist, HISTO_BINS);
    *occupied = (histo_occupied){0};
    return status;
}

void histo_occupied_release(histo_occupied *occupied)
{
    histo_free(occupied->index);
    histo_free(occupied->counts);
}

histo_levels histo_occupied_next(histo_occupied *occupied, histo_pace *pace)
{
    const int64_t begin = occupied->at, first = occupied->entry++ * occupied->per_entry;
    histo_levels levels = {.bin = occupied->index + begin, .count = occupied->counts + begin};
    for (; occupied->at < occupied->size && occupied->index[occupied->at] - first < occupied->per_entry &&
           histo_goes_on(pace, 1);
         occupied->at++) {
        occupied->index[occupied->at] -= first;
        levels.total += occupied->counts[occupied->at];
    }
    levels.n = occupied->at - begin;
    return levels;
}

histo_status histo_numbers_check(const histo_hist *hist, int naxes, const void *out, const char *what)
{
    if (!hist) return histo_fail(HISTO_INVALID, "the histogram is NULL");
    if (!out) return histo_fail(HISTO_INVALID, "the array for the %s is NULL", what);
    if (histo_hist_naxes(hist) == naxes) return HISTO_OK;
    return histo_fail(HISTO_INVALID, "%s: the histogram must have %d %s, it has %d", what, naxes,
                      naxes == 1 ? "axis" : "axes", histo_hist_naxes(hist));
}

double histo_bin_value(const histo_axis *axis, int64_t bin)
{
    const double lower = histo_edge_at(axis, bin);
    return axis->kind == HISTO_INTEGER ? lower : 0.5 * lower + 0.5 * histo_edge_at(axis, bin + 1);
}

histo_status histo_name_find(const char *const *names, int n, const char *name, const char *what, int *found)
{
    if (!name) return histo_fail(HISTO_INVALID, "the name of the %s is NULL", what);
    for (int i = 0; i < n; i++) {
        if (strcmp(names[i], name) != 0) continue;
        *found = i;
        return HISTO_OK;
    }
    return histo_fail(HISTO_INVALID, "unknown %s '%s'", what, name);
}
