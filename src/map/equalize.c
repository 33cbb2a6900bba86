/* Equalization: tables of the cumulative distribution. */
#include <math.h>

#include "base/error.h"
#include "base/floats.h"
#include "map/map.h"
#include "table/shares.h"

/* values: of the bins, or from the second edge on */
static void equalize(const histo_equalizing *making, const uint64_t *counts, double *values)
{
    const histo_equalizing by = *making; /* not written by way of values */
    histo_totals totals = {0};
    for (int64_t i = 0; i < by.bins; i++)
        totals.n += counts[i];
    while (totals.first < by.bins - 1 && counts[totals.first] == 0)
        totals.first++;
    totals.least = counts[totals.first];
    histo_totals_limit(&totals, &by);
    uint64_t cut = 0, sum = 0, rest;
    for (int64_t i = 0; i < by.bins && totals.most < totals.n; i++)
        cut += histo_cut_of(&totals, counts[i]);
    histo_totals_spread(&totals, &by, cut);
    rest = totals.rest;
    for (int64_t i = 0, next = 0; i < by.bins; i++) {
        sum += histo_limited(&totals, counts[i]);
        if (rest && i == next) {
            sum++;
            rest--;
            next += totals.step;
        }
        values[i] = histo_equalized(&by, &totals, i, sum);
    }
}

static histo_status check_options(const histo_make_options *o)
{
    if (o->rule != HISTO_EQUALIZE_MINIMUM && o->rule != HISTO_EQUALIZE_CDF)
        return histo_fail(HISTO_INVALID, "unknown rule %d", (int)o->rule);
    if (!(o->clip >= 0))
        return histo_fail(HISTO_INVALID, "the contrast limit (clip) is %.17g: give 0 or more", o->clip);
    return histo_map_check_options(o, true);
}

histo_status histo_map_equalize(histo_map *map, const histo_hist *hist, const histo_make_options *options)
{
    HISTO_STANDARD_FLOATS;
    const histo_make_options none = {0};
    histo_make_options o = options ? *options : none;
    histo_status status = histo_map_check_source(map, hist, true);
    if (status == HISTO_OK) status = check_options(&o);
    if (status != HISTO_OK) return status;
    const bool shares = o.lo == 0 && o.hi == 0;
    if (shares) o.hi = 1;
    const bool whole = !shares && histo_map_is_whole(o.lo) && histo_map_is_whole(o.hi) && map->within == HISTO_MAP_STEP;
    bool made;
    const histo_making making = {.by = HISTO_MAKE_EQUALIZED, .options = o, .whole = whole};
    status = histo_map_make_there(map, hist, NULL, &making, &made);
    if (status != HISTO_OK || made) return status;
    const uint64_t *bins;
    uint64_t *copy;
    int64_t pitch;
    status = histo_map_bins(hist, &bins, &pitch, &copy);
    const int64_t batch = histo_hist_batch(hist);
    const histo_equalizing by = histo_equalizing_of(&making, map->axes[0].bins, map->within);
    for (int64_t b = 0; b < map->batch && status == HISTO_OK; b++) {
        double *table = map->values + b * map->length;
        table[0] = by.lo;
        equalize(&by, bins + (batch > 1 ? b * pitch : 0), table + 1);
        histo_map_set_flow(map, table);
    }
    histo_free(copy);
    if (status == HISTO_OK) histo_map_changed(map);
    return status;
}
