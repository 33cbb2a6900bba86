/* Looking up the values of samples: first their slots, then the slots' values in a table. */
#ifndef MAP_LOOKUP_H
#define MAP_LOOKUP_H

#include "cpu/kernels/kernels.h"
#include "cpu/samples/block.h"
#include "map/map.h"

/* A map prepared for samples of certain dtypes. */
typedef struct histo_map_lookup {
    const histo_map *map;
    histo_dtype dtypes[HISTO_MAX_AXES];
    histo_lookup lookups[HISTO_MAX_AXES];
    histo_spans spans[HISTO_MAX_AXES];
} histo_map_lookup;

/* Free with histo_map_lookup_free, also after a failure. */
histo_status histo_map_lookup_make(histo_map_lookup *lookup, const histo_map *map, const histo_view *views);
void histo_map_lookup_free(histo_map_lookup *lookup);

/* Where samples are in a table: their slots, and for linear maps their positions between two edges. */
typedef struct histo_map_slots {
    uint32_t slot[HISTO_BLOCK]; /* HISTO_MAP_LINEAR: the edge below */
    double share[HISTO_BLOCK];  /* of the way to the next edge; NaN for NaN */
} histo_map_slots;

/* n <= HISTO_BLOCK contiguous, aligned samples of each axis. */
void histo_map_find(const histo_map_lookup *lookup, const void *const *samples, int n, histo_map_slots *slots);

/* The values that table number `table` has for them. */
void histo_map_values(const histo_map *map, int64_t table, const histo_map_slots *slots, int n, double *values);

#endif
