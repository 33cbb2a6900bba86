/* The map object. */
#ifndef MAP_MAP_H
#define MAP_MAP_H

#include "axis/axis.h"
#include "plan/mapping.h"

/* Where the values are. A map that is only used may get more copies of them, so this can change for a const map. */
typedef struct histo_map_copies {
    bool on_host;
    histo_device_map *on_devices;
    _Atomic(struct histo_moments_cache *) prepared; /* of the values in host memory: see moments_cache.h */
} histo_map_copies;

struct histo_map {
    int naxes;
    histo_axis axes[HISTO_MAX_AXES]; /* owned */
    int64_t batch;
    histo_within within;
    int64_t length; /* of a table */
    double *values; /* [batch * length], if host memory has them: see value_copies.c */
    histo_map_copies *copies;
};

/* The tables, without their values. */
histo_mapping histo_map_mapping(const histo_map *map);

/* Free what devices hold. */
void histo_map_leave_devices(const histo_map *map);

/* Bring the values to host memory, if they are not there; waits. */
histo_status histo_map_fetch(const histo_map *map);

/* The values in host memory have changed: copies elsewhere are stale. */
void histo_map_changed(const histo_map *map);

/* The values in the memory of a device, current on the stream. */
histo_status histo_map_on(const histo_map *map, histo_device device, void *stream, histo_device_map **copy);

/* Make the values on the device that has all counts of hist, and of other, if that is not NULL; *made: they are. Else
 * the host is to make them, which waits: HISTO_UNSUPPORTED if the stream is being captured. `making` lacks the
 * histograms. */
histo_status histo_map_make_there(const histo_map *map, const histo_hist *hist, const histo_hist *other,
                                  const histo_making *making, bool *made);

/* The device whose memory holds samples, results and mask; the latter two may be NULL. HISTO_UNSUPPORTED if there is
 * none, or if maps stay in host memory there. */
histo_status histo_map_locate(const histo_map *map, const histo_view *views, const histo_view *out,
                              const histo_view *mask, histo_device *device);

/* histo_map_apply, and histo_map_moments of whole views, on a device, with checked arguments in its memory. */
histo_status histo_map_apply_on(const histo_map *map, histo_device device, const histo_view *views,
                                const histo_view *out, const histo_apply_options *options);
histo_status histo_map_moments_on(const histo_map *map, histo_device device, const histo_view *views,
                                  const histo_apply_options *options, histo_moments *moments);

/* HISTO_INVALID unless a map of one axis can be made from hist: the same axis, and a table for each batch entry. */
histo_status histo_map_check_source(const histo_map *map, const histo_hist *hist, bool one_axis);

/* The value of a table's entry on a map's only axis: of a bin its value, of an edge the edge. first … last are the
 * entries that have one. */
double histo_map_entry_value(const histo_map *map, int64_t entry);
int64_t histo_map_first(const histo_map *map);
int64_t histo_map_last(const histo_map *map);

/* Set the flow of a STEP table with one axis from its bins. */
void histo_map_set_flow(const histo_map *map, double *table);

/* The counts of the bins of all batch entries; the caller frees them, also after a failure. */
histo_status histo_map_counts(const histo_hist *hist, uint64_t **counts);

/* The counts of the bins of an only axis, those of a batch entry `pitch` after those of the one before: in the
 * histogram or, where that is not possible, in a copy, which the caller frees, also after a failure. */
histo_status histo_map_bins(const histo_hist *hist, const uint64_t **bins, int64_t *pitch, uint64_t **copy);

/* HISTO_INVALID unless values can go from lo to hi, and for options that only equalization has. */
histo_status histo_map_check_options(const histo_make_options *o, bool equalizes);

/* Whether it is a whole number of at most 2^53, up to which doubles have all. */
bool histo_map_is_whole(double x);

#endif
