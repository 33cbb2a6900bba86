/* The values of blocks of samples, converted to another dtype. Where there are enough samples to repay it, tables of
 * the results of all bit patterns or of all slots are made first. */
#ifndef MAP_RESULTS_H
#define MAP_RESULTS_H

#include "map/lookup.h"

typedef enum histo_results_by {
    HISTO_BY_VALUE,   /* slots, then their values, then conversion */
    HISTO_BY_SLOT,    /* STEP maps: slots, a table of results */
    HISTO_BY_NUMBER,  /* STEP maps, one table, unsigned results: slots, whose numbers are the results, up to a last one
                       */
    HISTO_BY_PATTERN, /* one axis, samples of one or two bytes: a table of results */
    HISTO_BY_PAIR,    /* two axes, samples of one byte, results too */
} histo_results_by;

typedef struct histo_map_results {
    const histo_map *map;
    const histo_map_lookup *lookup;
    histo_dtype dtype; /* of results */
    size_t size;       /* of a result */
    histo_results_by by;
    int64_t length;          /* results of a table */
    uint32_t last;           /* by number */
    void *tables;            /* [map->batch * length] results, unless by value or by number */
    histo_pair_table *pairs; /* [map->batch] by pair */
} histo_map_results;

/* Prepare for so many samples. Free with histo_map_results_free, also after a failure. */
histo_status histo_map_results_make(histo_map_results *results, const histo_map *map, const histo_map_lookup *lookup,
                                    int64_t samples, histo_dtype dtype);
void histo_map_results_free(histo_map_results *results);

/* One thread's memory. */
typedef struct histo_results_block {
    histo_map_slots slots;
    double values[HISTO_BLOCK];
} histo_results_block;

/* Results by one table of n contiguous, aligned samples of each axis: n <= HISTO_BLOCK, unless by pattern or by pair.
 * `to` may be samples of the same size. */
void histo_map_results_of(const histo_map_results *results, int64_t table, const void *const *samples, int n,
                          histo_results_block *block, void *to);

#endif
