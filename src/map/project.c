/* Back projection: tables of counts, scaled, or of ratios of shares. */
#include <math.h>

#include "base/error.h"
#include "base/floats.h"
#include "base/memory.h"
#include "map/map.h"
#include "table/scaling.h"

static void scale_counts(const uint64_t *counts, int64_t n, double lo, double hi, double *values)
{
    uint64_t lowest = UINT64_MAX, highest = 0;
    for (int64_t i = 0; i < n; i++) {
        lowest = counts[i] < lowest ? counts[i] : lowest;
        highest = counts[i] > highest ? counts[i] : highest;
    }
    const histo_scaling scaling = histo_scaling_of(lowest, highest, lo, hi);
    for (int64_t i = 0; i < n; i++)
        values[i] = histo_scaled(&scaling, counts[i]);
}

static double sum_of(const double *sums, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += sums[i];
    return sum;
}

static void share_ratios(const double *sums, const double *against, int64_t n, double *values)
{
    const double scale = sum_of(against, n) / sum_of(sums, n);
    for (int64_t i = 0; i < n; i++)
        values[i] = histo_share_ratio(sums[i], against[i], scale);
}

/* The bins' sums of weights or, without weights, counts; the caller frees them, also after a failure. */
static histo_status read_sums(const histo_hist *hist, double **sums)
{
    const int64_t size = histo_hist_size(hist, HISTO_BINS);
    *sums = histo_malloc((size_t)size * sizeof **sums);
    if (!*sums) return histo_fail_memory((size_t)size * sizeof **sums, "sums of weights");
    return histo_hist_read_weights(hist, HISTO_BINS, *sums, NULL, size, NULL);
}

/* Put the values of the bins where they are among all slots. */
static void spread_bins(const histo_map *map, const double *bins, double flow, double *table)
{
    int64_t at[HISTO_MAX_AXES] = {0};
    for (int64_t i = 0; i < map->length; i++) {
        bool inside = true;
        for (int a = 0; a < map->naxes; a++)
            inside &= at[a] > 0 && at[a] <= map->axes[a].bins;
        table[i] = inside ? *bins++ : flow;
        for (int a = map->naxes - 1; a >= 0 && ++at[a] == map->axes[a].bins + 3; a--)
            at[a] = 0;
    }
}

static histo_status check(const histo_map *map, const histo_hist *hist, const histo_hist *against,
                          const histo_make_options *o)
{
    histo_status status = histo_map_check_source(map, hist, false);
    if (status == HISTO_OK && against) status = histo_map_check_source(map, against, false);
    if (status != HISTO_OK) return status;
    if (map->within != HISTO_MAP_STEP) return histo_fail(HISTO_INVALID, "back projection needs a HISTO_MAP_STEP map");
    return histo_map_check_options(o, false);
}

histo_status histo_map_project(histo_map *map, const histo_hist *hist, const histo_hist *against,
                               const histo_make_options *options)
{
    HISTO_STANDARD_FLOATS;
    histo_make_options o = options ? *options : (histo_make_options){0};
    histo_status status = check(map, hist, against, &o);
    if (status != HISTO_OK) return status;
    if (o.lo == 0 && o.hi == 0) o.hi = 1;
    const bool weighted = against && (histo_hist_weighting(hist) != HISTO_UNWEIGHTED ||
                                      histo_hist_weighting(against) != HISTO_UNWEIGHTED);
    bool made;
    const histo_making making = {.by = HISTO_MAKE_PROJECTED, .options = o, .weighted = weighted};
    status = histo_map_make_there(map, hist, against, &making, &made);
    if (status != HISTO_OK || made) return status;
    const int64_t each = histo_hist_size(hist, HISTO_BINS) / histo_hist_batch(hist);
    uint64_t *counts = NULL;
    double *sums = NULL, *others = NULL;
    status = against ? read_sums(hist, &sums) : histo_map_counts(hist, &counts);
    if (status == HISTO_OK && against) status = read_sums(against, &others);
    double *bins = histo_malloc((size_t)each * sizeof *bins);
    if (status == HISTO_OK && !bins) status = histo_fail_memory((size_t)each * sizeof *bins, "values");
    for (int64_t b = 0; b < map->batch && status == HISTO_OK; b++) {
        const int64_t first = histo_hist_batch(hist) > 1 ? b * each : 0;
        if (against)
            share_ratios(sums + first, others + (histo_hist_batch(against) > 1 ? b * each : 0), each, bins);
        else
            scale_counts(counts + first, each, o.lo, o.hi, bins);
        spread_bins(map, bins, against ? 0 : o.lo, map->values + b * map->length);
    }
    histo_free(bins);
    histo_free(others);
    histo_free(sums);
    histo_free(counts);
    if (status == HISTO_OK) histo_map_changed(map);
    return status;
}
