/* A map prepared for moments, and kept from one call to the next: the window of a tracked object is read several times
 * a frame, and may have fewer samples than the map has values. */
#ifndef MAP_MOMENTS_CACHE_H
#define MAP_MOMENTS_CACHE_H

#include "map/results.h"

typedef struct histo_moments_cache {
    histo_dtype dtypes[HISTO_MAX_AXES];
    bool bytes;          /* all values are whole numbers from 0 to 255 */
    int64_t seen, again; /* samples mapped so far, and how many are to be when tables of results are tried again */
    histo_map_lookup lookup;
    histo_map_results results; /* of HISTO_U8, if these are wanted and all values are bytes, else of HISTO_F64 */
} histo_moments_cache;

/* Take what is kept, if it suits samples with these dtypes, or make it. It then belongs to the caller, who frees it or
 * gives it back. */
histo_status histo_moments_cache_take(const histo_map *map, const histo_view *views, bool bytes,
                                      histo_moments_cache **prepared);
void histo_moments_cache_free(histo_moments_cache *prepared);

/* Keep it for the next call. Any number of threads may take and give. */
void histo_moments_cache_give(const histo_map *map, histo_moments_cache *prepared);

/* Forget what is kept: the values change. */
void histo_moments_cache_clear(const histo_map *map);

#endif
