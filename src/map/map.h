/* The map object. */
#ifndef MAP_MAP_H
#define MAP_MAP_H

#include "axis/axis.h"

struct histo_map {
    int naxes;
    histo_axis axes[HISTO_MAX_AXES]; /* owned */
    int64_t batch;
    histo_within within;
    int64_t length; /* of a table */
    double *values; /* [batch * length] */
};

/* HISTO_INVALID unless a map of one axis can be made from hist: the same axis, and a table for each batch entry. */
histo_status histo_map_check_source(const histo_map *map, const histo_hist *hist, bool one_axis);

/* The value of a table's entry on a map's only axis: of a bin its value, of an edge the edge. first … last are the
 * entries that have one. */
double histo_map_place(const histo_map *map, int64_t entry);
int64_t histo_map_first(const histo_map *map);
int64_t histo_map_last(const histo_map *map);

/* Set the flow of a STEP table with one axis from its bins. */
void histo_map_set_flow(const histo_map *map, double *table);

/* The counts of the bins of all batch entries; the caller frees them, also after a failure. */
histo_status histo_map_counts(const histo_hist *hist, uint64_t **counts);

/* HISTO_INVALID unless values can go from lo to hi. */
histo_status histo_map_check_range(double lo, double hi);

#endif
