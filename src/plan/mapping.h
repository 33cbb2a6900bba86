/* Maps as backends see them: the shape of their tables, where these are stored, and how they are made. */
#ifndef PLAN_MAPPING_H
#define PLAN_MAPPING_H

#include "plan/problem.h"
#include "table/shares.h"

/* The tables of a map, without their values. */
typedef struct histo_mapping {
    int naxes;
    const histo_axis *axes; /* owned by the map */
    histo_within within;
    int64_t batch;
    int64_t length; /* values in a table */
} histo_mapping;

/* The values in a device's memory; the backend that made them knows their full type. */
typedef struct histo_device_map {
    struct histo_device_map *next;
    const struct histo_backend *backend;
    histo_device device;
    bool current;  /* they are the map's current values, or will be when the enqueued work is done */
    bool captured; /* launches of a graph may change them: copies elsewhere may be stale */
} histo_device_map;

typedef enum histo_maker {
    HISTO_MAKE_EQUALIZED = 0,
    HISTO_MAKE_MATCHED,
    HISTO_MAKE_LANDMARKS,
    HISTO_MAKE_PROJECTED,
    HISTO_MAKE_CLASSES,
} histo_maker;

/* How one of the API's histo_map_… functions makes values from counts on a device. */
typedef struct histo_making {
    histo_maker by;
    /* The histogram, and the reference or the histogram that it is compared with, which may be NULL. */
    const histo_device_accumulators *from, *other;
    const histo_axis *other_axes; /* owned axes of `other` */
    histo_make_options options;   /* all defaults filled in */
    bool whole;                   /* round values of bins to whole numbers */
    bool weighted;                /* use sums of weights, not counts */
    histo_split_method method;
    int n;                    /* number of landmarks, or of classes */
    const double *q, *target; /* [n] */
    bool extend;
} histo_making;

static inline histo_equalizing histo_equalizing_of(const histo_making *m, int64_t bins, histo_within within)
{
    const histo_equalizing by = {
        bins, m->options.lo, m->options.hi, m->whole, within == HISTO_MAP_LINEAR, m->options.rule, m->options.clip};
    return by;
}

/* The map operations of a backend with devices. Calls enqueue work on a stream, which an event orders with other uses
 * of the same map. They may be captured into a graph, unless they are said to wait. */
typedef struct histo_map_backend {
    /* Allocate the values, uninitialised. */
    histo_status (*create)(const histo_mapping *mapping, histo_device device, histo_device_map **map);
    void (*free)(histo_device_map *map);
    /* Copy values from or to host memory; waits. */
    histo_status (*send)(histo_device_map *map, const histo_mapping *mapping, const double *values, void *stream);
    histo_status (*fetch)(histo_device_map *map, const histo_mapping *mapping, double *values);
    /* Make the values from counts; false if only the host can do that. */
    bool (*makes)(const histo_mapping *mapping, const histo_making *making);
    histo_status (*make)(histo_device_map *map, const histo_mapping *mapping, const histo_making *making);
    /* Write the values of samples to `out`, all in the device's memory. The arguments have been checked. */
    histo_status (*apply)(histo_device_map *map, const histo_mapping *mapping, const histo_view *views,
                          const histo_view *out, const histo_apply_options *options);
    /* The moments over views in the device's memory, with the mask of the options. Waits if they go to host memory. */
    histo_status (*moments)(histo_device_map *map, const histo_mapping *mapping, const histo_view *views,
                            const histo_apply_options *options, histo_moments *moments);
} histo_map_backend;

#endif
