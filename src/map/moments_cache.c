#include "map/moments_cache.h"
#include "base/memory.h"

#include <stdatomic.h>
#include <string.h>

static bool are_bytes(const histo_map *map)
{
    bool bytes = true;
    for (int64_t i = 0; i < map->length; i++) {
        const double clamped = map->values[i] >= 0 && map->values[i] <= 255 ? map->values[i] : -1;
        bytes &= clamped == (double)(int32_t)clamped && clamped >= 0;
    }
    return bytes;
}

static histo_status make(const histo_map *map, const histo_view *views, bool bytes, int64_t seen,
                         histo_moments_cache **prepared)
{
    histo_moments_cache *p = *prepared = histo_calloc(1, sizeof *p);
    if (!p) return histo_fail_memory(sizeof *p, "a cache for moments");
    for (int a = 0; a < map->naxes; a++)
        p->dtypes[a] = views[a].dtype;
    p->bytes = are_bytes(map);
    p->seen = seen;
    p->again = seen > INT64_MAX / 2 ? INT64_MAX : 2 * seen;
    histo_status status = histo_map_lookup_make(&p->lookup, map, views);
    if (status == HISTO_OK)
        status = histo_map_results_make(&p->results, map, &p->lookup, seen, bytes && p->bytes ? HISTO_U8 : HISTO_F64);
    if (status != HISTO_OK) {
        histo_moments_cache_free(p);
        *prepared = NULL;
    }
    return status;
}

void histo_moments_cache_free(histo_moments_cache *p)
{
    if (!p) return;
    histo_map_results_free(&p->results);
    histo_map_lookup_free(&p->lookup);
    histo_free(p);
}

static bool suits(const histo_moments_cache *p, const histo_view *views, bool bytes)
{
    const histo_dtype wanted = bytes && p->bytes ? HISTO_U8 : HISTO_F64;
    if (p->results.dtype != wanted) return false;
    for (int a = 0; a < p->results.map->naxes; a++)
        if (p->dtypes[a] != views[a].dtype) return false;
    return p->results.by != HISTO_BY_VALUE || p->seen < p->again;
}

histo_status histo_moments_cache_take(const histo_map *map, const histo_view *views, bool bytes,
                                      histo_moments_cache **prepared)
{
    const int64_t samples = histo_view_size(&views[0]);
    histo_moments_cache *cache = atomic_exchange(&map->copies->prepared, NULL);
    int64_t seen = samples;
    if (cache && __builtin_add_overflow(cache->seen, samples, &seen)) seen = INT64_MAX;
    if (cache) cache->seen = seen;
    if (cache && suits(cache, views, bytes)) {
        *prepared = cache;
        return HISTO_OK;
    }
    histo_moments_cache_free(cache);
    return make(map, views, bytes, seen, prepared);
}

void histo_moments_cache_give(const histo_map *map, histo_moments_cache *prepared)
{
    histo_moments_cache_free(atomic_exchange(&map->copies->prepared, prepared));
}

void histo_moments_cache_clear(const histo_map *map)
{
    histo_moments_cache_give(map, NULL);
}
