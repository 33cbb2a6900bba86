/* A map prepared for moments, and kept from one call to the next: the window of a tracked object is read several times
 * a frame, and may have fewer samples than the map has values. */
#ifndef MAP_PREPARED_H
#define MAP_PREPARED_H

#include "map/results.h"

typedef struct histo_map_prepared {
    histo_dtype dtypes[HISTO_MAX_AXES];
    bool bytes;          /* all values are whole numbers from 0 to 255 */
    int64_t seen, again; /* samples mapped so far, and how many are to be when tables of results are tried again */
    histo_map_lookup lookup;
    histo_map_results results; /* of HISTO_U8, if these are wanted and all values are bytes, else of HISTO_F64 */
} histo_map_prepared;

/* What is kept, if it suits samples with these dtypes, or new: it belongs to the caller, who frees it or gives it back.
 */
histo_status histo_map_prepare(const histo_map *map, const histo_view *views, bool bytes,
                               histo_map_prepared **prepared);
void histo_map_prepared_free(histo_map_prepared *prepared);

/* Keep it for the next call. Any number of threads may take and keep. */
void histo_map_keep(const histo_map *map, histo_map_prepared *prepared);

/* Forget what is kept: the values change. */
void histo_map_forget(const histo_map *map);

#endif
