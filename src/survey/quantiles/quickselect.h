/* Order statistics of keys in memory. */
#ifndef SURVEY_QUANTILES_QUICKSELECT_H
#define SURVEY_QUANTILES_QUICKSELECT_H

#include <stdbool.h>
#include <stdint.h>

/* The key with `rank` smaller ones before it in sorted order. */
typedef struct histo_order_statistic {
    uint64_t rank, key; /* key: once it is known */
} histo_order_statistic;

/* Find the keys of `count` statistics in order of rank, all of which are among keys[n]. The smallest of these keys has
 * rank `before`. Reorders the keys. */
void histo_quickselect(histo_order_statistic *statistics, int count, uint64_t *keys, uint64_t n, uint64_t before);

enum { HISTO_SELECT_SCRATCH = 1 << 16 };

/* The same for many keys, which keep their order. The statistics are among the keys in [low, high]; `before` is the
 * rank of the smallest of these. scratch[HISTO_SELECT_SCRATCH] */
void histo_select_in_place(histo_order_statistic *statistics, int count, const uint64_t *keys, uint64_t n, uint64_t low,
                           uint64_t high, uint64_t before, uint64_t *scratch);

enum { HISTO_MOST_RANGES = 8 };

/* A range of keys, the smallest of which has rank `before`. */
typedef struct histo_key_range {
    uint64_t low, high, before;
} histo_key_range;

/* The same for at most two statistics in each of several ranges in order, which contain all keys and statistics. False
 * if too many keys are close to a statistic: then use histo_select_in_place for each range. */
bool histo_select_in_ranges(histo_order_statistic *statistics, int count, const uint64_t *keys, uint64_t n,
                            const histo_key_range *ranges, int ranges_count, uint64_t *scratch);

#endif
