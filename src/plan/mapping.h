/* Maps as backends see them: what their tables are, where they lie, and what they are made from. */
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
    int64_t length; /* values of a table */
} histo_mapping;

/* The values in the memory of a device; the backend that made them knows their full type. */
typedef struct histo_device_map {
    struct histo_device_map *next;
    const struct histo_backend *backend;
    histo_device device;
    bool current;  /* they are the map's values, or will be when the device has done what is enqueued */
    bool captured; /* launches of a graph may change them: copies elsewhere may be old */
} histo_device_map;

typedef enum histo_maker {
    HISTO_MAKE_EQUALIZED = 0,
    HISTO_MAKE_MATCHED,
    HISTO_MAKE_LANDMARKS,
    HISTO_MAKE_PROJECTED,
    HISTO_MAKE_CLASSES,
} histo_maker;

/* How a function histo_map_… of the API makes values, from counts on a device. */
typedef struct histo_making {
    histo_maker by;
    /* The histogram, and the reference or what it is compared with, which may be NULL. */
    const histo_device_accumulators *from, *other;
    const histo_axis *other_axes; /* owned axes of `other` */
    histo_make_options options;   /* no fields are left to defaults */
    bool whole;                   /* round values of bins to whole numbers */
    bool weighted;                /* sums of weights matter, and not counts */
    histo_split_method method;
    int n;                    /* landmarks, or classes */
    const double *q, *target; /* [n] */
    bool extend;
} histo_making;

static inline histo_equalizing histo_equalizing_of(const histo_making *m, int64_t bins, histo_within within)
{
    const histo_equalizing by = {
        bins, m->options.lo, m->options.hi, m->whole, within == HISTO_MAP_LINEAR, m->options.rule, m->options.clip};
    return by;
}

/* What the maps of a backend with devices do. Calls enqueue work on a stream, which an event orders with other uses of
 * the same map, and may be captured into a graph, unless they say that they wait. */
typedef struct histo_map_backend {
    /* Allocate the values, which are not set. */
    histo_status (*create)(const histo_mapping *mapping, histo_device device, histo_device_map **map);
    void (*free)(histo_device_map *map);
    /* Copy values from or to host memory; waits. */
    histo_status (*send)(histo_device_map *map, const histo_mapping *mapping, const double *values, void *stream);
    histo_status (*fetch)(histo_device_map *map, const histo_mapping *mapping, double *values);
    /* Make the values from counts, unless only the host can do so. */
    bool (*makes)(const histo_mapping *mapping, const histo_making *making);
    histo_status (*make)(histo_device_map *map, const histo_mapping *mapping, const histo_making *making);
    /* Write what the values give for samples to `out`, all in memory of the device. The arguments have been checked. */
    histo_status (*apply)(histo_device_map *map, const histo_mapping *mapping, const histo_view *views,
                          const histo_view *out, const histo_apply_options *options);
    /* The moments over views in memory of the device, with the mask of the options. Into host memory: waits. */
    histo_status (*moments)(histo_device_map *map, const histo_mapping *mapping, const histo_view *views,
                            const histo_apply_options *options, histo_moments *moments);
} histo_map_backend;

#endif
