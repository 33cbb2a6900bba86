/* Samples in order of value: for some of the values, how many samples are up to them, and their sums. These alone
 * determine thresholds. */
#ifndef NUMBERS_ORDERED_H
#define NUMBERS_ORDERED_H

#include "base/threads/monitor.h"
#include "numbers/key_bins.h"

/* The samples with keys up to this one, and the sum of their distances from the smallest. */
typedef struct histo_ordered_level {
    uint64_t key, upto;
    double sum;
} histo_ordered_level;

typedef struct histo_order {
    histo_dtype dtype;
    int exponent;                  /* distances are scaled by 2^-exponent, so that none overflows */
    const histo_key_point *points; /* [points_count] of a pass that counted between keys; may be empty */
    int64_t points_count;
    histo_ordered_level *levels; /* [count] increasing; the first is the smallest sample's */
    int64_t count;
} histo_order;

/* Make levels at the points and at values[values_count]; spans between points either have all of their values or none.
 * The points are borrowed. Free with histo_ordered_free, also after a failure. */
histo_status histo_ordered_make(histo_order *o, histo_dtype dtype, const histo_key_point *points, int64_t points_count,
                                const histo_key_count *values, int64_t values_count, histo_pace *pace);
void histo_ordered_free(histo_order *o);

/* The spans between levels in which a threshold by HISTO_SPLIT_OTSU, LI or ISODATA may be: spans[*count], with room for
 * all levels. */
void histo_ordered_search(const histo_order *o, histo_split_method method, histo_key_span *spans, int64_t *count);

/* The threshold, once all values in these spans are levels: the largest key that is not above it. */
histo_status histo_ordered_threshold(const histo_order *o, histo_split_method method, uint64_t *key, histo_pace *pace);
/* Otsu's thresholds between more than two classes, at levels: keys[classes - 1]. */
histo_status histo_ordered_split(const histo_order *o, int classes, uint64_t *keys, histo_pace *pace);

#endif
