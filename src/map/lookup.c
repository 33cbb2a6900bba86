#include "map/lookup.h"

#include "view/dtype.h"

histo_status histo_map_lookup_make(histo_map_lookup *lookup, const histo_map *map, const histo_view *views)
{
    *lookup = (histo_map_lookup){.map = map};
    histo_status status = HISTO_OK;
    for (int a = 0; a < map->naxes && status == HISTO_OK; a++) {
        const int64_t samples = histo_view_size(&views[a]);
        lookup->dtypes[a] = views[a].dtype;
        status = histo_lookup_make(&lookup->lookups[a], &map->axes[a], views[a].dtype, samples >= 1 << 16);
        const bool searched = lookup->lookups[a].kind == HISTO_SEARCH && !lookup->lookups[a].table;
        if (status == HISTO_OK && searched)
            status = histo_spans_make(&lookup->spans[a], &lookup->lookups[a], histo_axis_off(&map->axes[a]), samples);
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

/* Contiguous samples as histo_sample_value has them. */
static void widen_samples(const void *samples, histo_dtype dtype, int n, double *values)
{
    switch (dtype) {
#define CASE(constant, name, storage, compute, widen)                                                                  \
    case constant:                                                                                                     \
        for (int i = 0; i < n; i++)                                                                                    \
            values[i] = (double)widen(((const storage *)samples)[i]);                                                  \
        break;
        HISTO_DTYPES(CASE)
#undef CASE
    default:
        break;
    }
}

/* Turn slots of a linear map's axis into places between edges. */
static void find_places(const histo_map_lookup *lookup, const void *samples, int n, histo_map_slots *slots)
{
    const histo_axis *axis = &lookup->map->axes[0];
    const histo_between_edges edges = {.lo = axis->lo,
                                       .step = histo_axis_step(axis),
                                       .top = axis->hi,
                                       .edges = histo_axis_doubles(axis),
                                       .bins = (int32_t)axis->bins};
    double values[HISTO_BLOCK];
    if (lookup->dtypes[0] != HISTO_F64) widen_samples(samples, lookup->dtypes[0], n, values);
    histo_cpu_kernels_usable()->maps->find_places(&edges, lookup->dtypes[0] == HISTO_F64 ? samples : values, n,
                                                  slots->slot, slots->share);
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
        histo_cpu_kernels_usable()->maps->interpolate(entry, slots->slot, slots->share, n, values);
}
