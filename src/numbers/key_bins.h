/* Counts and exact sums of samples between keys (survey/quantiles/keys.h). */
#ifndef NUMBERS_KEY_BINS_H
#define NUMBERS_KEY_BINS_H

#include <histo/histo.h>

#include "survey/distinct.h"

/* A sum of samples in units of 2^-HISTO_LONG_UNIT. */
enum { HISTO_KEY_SUM_WORDS = 36 };
typedef struct histo_key_sum {
    uint64_t word[HISTO_KEY_SUM_WORDS];
} histo_key_sum;

/* The samples with keys up to this one, and their sum. */
typedef struct histo_key_point {
    uint64_t key, upto;
    histo_key_sum sum;
} histo_key_point;

/* The keys, in increasing order, between which a pass counts. */
typedef struct histo_key_list {
    uint64_t *keys; /* [room] */
    int64_t count, room;
} histo_key_list;

/* Add the value of a key `times` times to a sum. */
void histo_key_sum_add(histo_key_sum *sum, histo_dtype dtype, uint64_t key, uint64_t times);
/* sum -= the value of a key, `times` times */
void histo_key_sum_subtract(histo_key_sum *sum, histo_dtype dtype, uint64_t key, uint64_t times);
/* The sum times 2^-exponent, rounded once. */
double histo_key_sum_round(const histo_key_sum *sum, int exponent);

/* The value of a key, as a double or 64-bit integer. */
histo_number histo_key_number(histo_dtype dtype, uint64_t key);
/* The largest key of a finite sample whose value is at most x, or below x; `least` if no key is above that. */
uint64_t histo_key_upto(histo_dtype dtype, double x, uint64_t least);
uint64_t histo_key_below(histo_dtype dtype, double x, uint64_t least);

/* Add `quantiles` of the drawn keys to the list, each with its predecessor so that a common key is counted alone, and
 * both ends. Keys already in the list stay. */
histo_status histo_key_list_add(histo_key_list *list, const histo_distinct *drawn, int64_t quantiles);
void histo_key_list_free(histo_key_list *list);

/* histo_source_make_typed for samples in host memory. */
histo_status histo_key_source_make(histo_source *source, const histo_view *samples, const histo_fill_options *options,
                                   histo_dtype dtype, const char *whose);

/* Create a histogram whose bin i counts the samples above key i - 1 up to key i. The first key is the smallest
 * sample's, the last the largest's. sums: also keep exact sums. */
histo_status histo_key_bins_create(histo_hist **hist, histo_dtype dtype, const histo_key_list *list, bool sums);
/* Count the samples, which are those of the source. */
histo_status histo_key_bins_fill(histo_hist *hist, const histo_source *source, const histo_view *samples,
                                 const histo_fill_options *options);
/* points[list->count]; with sums only if the histogram has them. */
histo_status histo_key_bins_read(const histo_hist *hist, const histo_key_list *list, histo_key_point *points);

#endif
