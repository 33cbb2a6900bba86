#include "map/map.h"

#include <math.h>
#include <string.h>

#include "base/floats.h"
#include "base/memory.h"
#include "counts/hist.h"
#include "map/moments_cache.h"
#include "numbers/occupied.h"

/* ---- Objects ---- */

static histo_status check_options(int naxes, const histo_axis *axes, const histo_map_options *o)
{
    const histo_status status = histo_check_reserved(o->reserved, sizeof o->reserved, "histo_map_options");
    if (status != HISTO_OK) return status;
    if (naxes < 1 || naxes > HISTO_MAX_AXES)
        return histo_fail(HISTO_INVALID, "a map has 1 to %d axes, not %d", HISTO_MAX_AXES, naxes);
    if (!axes) return histo_fail(HISTO_INVALID, "the axes are NULL");
    if (o->within != HISTO_MAP_STEP && o->within != HISTO_MAP_LINEAR)
        return histo_fail(HISTO_INVALID, "unknown kind of map %d", (int)o->within);
    if (o->within == HISTO_MAP_LINEAR && naxes > 1) return histo_fail(HISTO_INVALID, "linear maps have one axis");
    if (o->batch < 0) return histo_fail(HISTO_INVALID, "a map has 1 or more tables, not %lld", (long long)o->batch);
    return HISTO_OK;
}

static histo_status allocate(histo_map *map)
{
    map->length = 1;
    for (int a = 0; a < map->naxes; a++)
        if (__builtin_mul_overflow(map->length, map->axes[a].bins + (map->within == HISTO_MAP_STEP ? 3 : 1),
                                   &map->length))
            map->length = INT64_MAX;
    if (map->length > HISTO_MAX_SLOTS || map->batch > HISTO_MAX_SLOTS / map->length)
        return histo_fail(HISTO_INVALID, "a map has at most 2^31 values");
    const size_t n = (size_t)(map->batch * map->length);
    map->values = histo_calloc(n, sizeof *map->values);
    map->copies = histo_calloc(1, sizeof *map->copies);
    if (!map->values || !map->copies) return histo_fail_memory(n * sizeof *map->values, "the values of a map");
    map->copies->on_host = true;
    return HISTO_OK;
}

histo_status histo_map_create(histo_map **out, int naxes, const histo_axis *axes, const histo_map_options *options)
{
    HISTO_STANDARD_FLOATS;
    if (out) *out = NULL;
    if (!out) return histo_fail(HISTO_INVALID, "the place for the map is NULL");
    const histo_map_options none = {0}, *o = options ? options : &none;
    histo_status status = check_options(naxes, axes, o);
    if (status != HISTO_OK) return status;
    histo_map *map = histo_calloc(1, sizeof *map);
    if (!map) return histo_fail_memory(sizeof *map, "a map");
    map->batch = o->batch ? o->batch : 1;
    map->within = o->within;
    for (int a = 0; a < naxes && status == HISTO_OK; a++)
        status = histo_axis_check_description(&axes[a]);
    for (; map->naxes < naxes && status == HISTO_OK; map->naxes += status == HISTO_OK)
        status = histo_axis_own(&axes[map->naxes], &map->axes[map->naxes]);
    for (int a = 0; a < naxes && status == HISTO_OK; a++)
        if (!histo_axis_is_ordinary(&map->axes[a]))
            status = histo_fail(HISTO_INVALID, "a map takes finite edges that increase; axis %d has others", a);
    if (status == HISTO_OK) status = allocate(map);
    if (status == HISTO_OK)
        *out = map;
    else
        histo_map_destroy(map);
    return status;
}

void histo_map_destroy(histo_map *map)
{
    if (!map) return;
    for (int a = 0; a < map->naxes; a++)
        histo_axis_disown(&map->axes[a]);
    histo_map_leave_devices(map);
    if (map->copies) histo_moments_cache_clear(map);
    histo_free(map->copies);
    histo_free(map->values);
    histo_free(map);
}

int64_t histo_map_size(const histo_map *map)
{
    if (!map) return 0;
    return map->batch * map->length;
}

static histo_status check_values(const histo_map *map, const double *values, int64_t size)
{
    if (!map || !values) return histo_fail(HISTO_INVALID, "the map or the array is NULL");
    if (size == histo_map_size(map)) return HISTO_OK;
    return histo_fail(HISTO_INVALID, "the array has %lld values, the map %lld", (long long)size,
                      (long long)histo_map_size(map));
}

histo_status histo_map_write(histo_map *map, const double *values, int64_t size)
{
    histo_status status = check_values(map, values, size);
    if (status != HISTO_OK) return status;
    memcpy(map->values, values, (size_t)size * sizeof *values);
    histo_map_changed(map);
    return HISTO_OK;
}

histo_status histo_map_read(const histo_map *map, double *values, int64_t size)
{
    histo_status status = check_values(map, values, size);
    if (status == HISTO_OK) status = histo_map_fetch(map);
    if (status == HISTO_OK) memcpy(values, map->values, (size_t)size * sizeof *values);
    return status;
}

/* ---- Making values ---- */

histo_status histo_map_check_source(const histo_map *map, const histo_hist *hist, bool one_axis)
{
    if (!map || !hist) return histo_fail(HISTO_INVALID, "the map or the histogram is NULL");
    if (one_axis && map->naxes > 1)
        return histo_fail(HISTO_INVALID, "the map must have one axis, it has %d", map->naxes);
    bool equal = map->naxes == hist->naxes;
    for (int a = 0; a < map->naxes && equal; a++)
        equal = histo_axis_equal(&map->axes[a], &hist->axes[a]);
    if (!equal) return histo_fail(HISTO_INVALID, "the map and the histogram have different axes");
    const int64_t batch = histo_hist_batch(hist);
    if (batch == 1 || batch == map->batch) return HISTO_OK;
    return histo_fail(HISTO_INVALID, "the map has %lld tables, the histogram a batch of %lld", (long long)map->batch,
                      (long long)batch);
}

histo_status histo_map_check_options(const histo_make_options *o, bool equalizes)
{
    const histo_status status = histo_check_reserved(o->reserved, sizeof o->reserved, "histo_make_options");
    if (status != HISTO_OK) return status;
    if (!equalizes && (o->rule || o->clip != 0))
        return histo_fail(HISTO_INVALID, "rule and clip are for histo_map_equalize");
    if (isfinite(o->lo) && isfinite(o->hi) && isfinite(o->hi - o->lo)) return HISTO_OK;
    return histo_fail(HISTO_INVALID, "lo, hi or hi - lo is not finite");
}

bool histo_map_is_whole(double x)
{
    return fabs(x) <= 0x1p53 && x == rint(x);
}

int64_t histo_map_first(const histo_map *map)
{
    return map->within == HISTO_MAP_STEP ? 1 : 0;
}

int64_t histo_map_last(const histo_map *map)
{
    return map->axes[0].bins;
}

double histo_map_entry_value(const histo_map *map, int64_t entry)
{
    return map->within == HISTO_MAP_STEP ? histo_bin_value(&map->axes[0], entry - 1)
                                         : histo_edge_at(&map->axes[0], entry);
}

void histo_map_set_flow(const histo_map *map, double *table)
{
    if (map->within != HISTO_MAP_STEP) return;
    const int64_t bins = map->axes[0].bins;
    table[0] = table[1];
    table[bins + 1] = table[bins];
    table[bins + 2] = NAN;
}

histo_status histo_map_counts(const histo_hist *hist, uint64_t **counts)
{
    const int64_t size = histo_hist_size(hist, HISTO_BINS);
    *counts = histo_malloc((size_t)size * sizeof **counts);
    if (!*counts) return histo_fail_memory((size_t)size * sizeof **counts, "counts");
    return histo_hist_read_counts(hist, HISTO_BINS, *counts, size, NULL);
}

histo_status histo_map_bins(const histo_hist *hist, const uint64_t **bins, int64_t *pitch, uint64_t **copy)
{
    const histo_accumulators *in = &hist->accumulators;
    *copy = NULL;
    if (in->counts && !histo_accumulators_home(in)) {
        *bins = in->counts + 1; /* after the underflow */
        *pitch = in->slots;
        return histo_accumulators_to_host(in);
    }
    histo_status status = histo_map_counts(hist, copy);
    *bins = *copy;
    *pitch = hist->bins;
    return status;
}
