#include "map/lookup.h"

#include <math.h>

histo_status histo_map_lookup_make(histo_map_lookup *lookup, const histo_map *map, const histo_view *views)
{
    *lookup = (histo_map_lookup){.map = map};
    histo_status status = HISTO_OK;
    for (int a = 0; a < map->naxes && status == HISTO_OK; a++) {
        const int64_t samples = histo_view_size(&views[a]);
        lookup->dtypes[a] = views[a].dtype;
        status = histo_lookup_make(&lookup->lookups[a], &map->axes[a], views[a].dtype, samples >= 1 << 16);
        const bool searched = lookup->lookups[a].kind == HISTO_SEARCH && !lookup->lookups[a].table;
        if (status == HISTO_OK && searched) status = histo_spans_make(&lookup->spans[a], &lookup->lookups[a], samples);
    }
    return status;
}

void histo_map_lookup_free(histo_map_lookup *lookup)
{
    for (int a = 0; a < lookup->map->naxes; a++) {
        histo_spans_free(&lookup->spans[a]);
        histo_lookup_free(&lookup->lookups[a]);
    }
}

/* Turn slots of a linear map's axis into places between edges. */
static void find_places(const histo_map_lookup *lookup, const void *samples, int n, histo_map_slots *slots)
{
    const histo_axis *axis = &lookup->map->axes[0];
    const size_t size = histo_dtype_size(lookup->dtypes[0]);
    const uint32_t bins = (uint32_t)axis->bins;
    for (int i = 0; i < n; i++) {
        const uint32_t slot = slots->slot[i];
        const bool below = slot == 0, above = slot == bins + 1, none = slot == bins + 2;
        const uint32_t edge = below || none ? 0 : above ? bins - 1 : slot - 1;
        slots->slot[i] = edge;
        slots->share[i] = below ? 0 : above ? 1 : NAN;
        if (below || above || none) continue;
        const double low = histo_axis_edge(axis, edge), high = histo_axis_edge(axis, edge + 1);
        slots->share[i] =
            (histo_sample_value((const char *)samples + (size_t)i * size, lookup->dtypes[0]) - low) / (high - low);
    }
}

void histo_map_find(const histo_map_lookup *lookup, const void *const *samples, int n, histo_map_slots *slots)
{
    const histo_map *map = lookup->map;
    uint32_t stride = 1;
    for (int a = map->naxes - 1; a >= 0; a--) {
        histo_cpu_kernels_usable()->slots(&lookup->lookups[a], &lookup->spans[a], lookup->dtypes[a], samples[a], n,
                                          stride, a < map->naxes - 1, slots->slot);
        stride *= (uint32_t)map->axes[a].bins + 3;
    }
    if (map->within == HISTO_MAP_LINEAR) find_places(lookup, samples[0], n, slots);
}

void histo_map_values(const histo_map *map, int64_t table, const histo_map_slots *slots, int n, double *values)
{
    const double *entry = map->values + table * map->length;
    if (map->within == HISTO_MAP_STEP)
        for (int i = 0; i < n; i++)
            values[i] = entry[slots->slot[i]];
    else
        for (int i = 0; i < n; i++)
            values[i] = histo_map_between(entry, slots, i);
}
