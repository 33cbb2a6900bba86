/* Reference counts of a fill, which every histogram that is measured must have. */
#ifndef BENCH_REFERENCE_H
#define BENCH_REFERENCE_H

#include "bench/reference/rule.h"

/* Exact sums: of weights in units of 2^-60, of squares, each rounded to double, in units of 2^-68. */
typedef struct reference_sum {
    __int128 w, w2;
    double size; /* the sum of |w| */
} reference_sum;

/* The counts of all histograms: an array of all slots, or for a sparse histogram a table of the occupied ones. */
typedef struct reference_counts {
    int axes;
    int64_t bins[HISTO_MAX_AXES], batch;
    histo_weighting weighting;
    int64_t slots, occupied;
    uint64_t *counts;    /* [slots], or [capacity] */
    int64_t *keys;       /* [capacity]: slots of a sparse histogram; -1: none. NULL for a dense one */
    int64_t capacity;    /* a power of two */
    reference_sum *sums; /* [slots]; NULL without weights */
    uint64_t *masked;    /* [batch]; NULL: only slots are known */
    histo_tally tally;
    int64_t sectors; /* of 32 bytes in which a counter changes */
} reference_counts;

/* Count on a device: counts, masked and sums. The tables of the rule's finders are in host memory, everything else in
 * the device's. */
typedef histo_status reference_device(const reference_rule *rule, reference_counts *counts);

/* Finds slots by these edges [bins + 1], which must outlive it. */
histo_status reference_finder_make(reference_finder *f, const double *edges, int64_t bins, bool closed);
/* Free the finders of a rule, also after a failure. */
void reference_finders_free(reference_rule *rule);

/* Zeros, to count by this rule. sparse: only occupied slots take memory, and only the host can count. Call
 * reference_counts_free in any case. */
histo_status reference_counts_begin(const reference_rule *rule, bool sparse, reference_counts *counts);
void reference_counts_free(reference_counts *counts);

/* Count one fill; device: NULL if the samples are in host memory. */
histo_status reference_count(const reference_rule *rule, reference_device *device, int threads,
                             reference_counts *counts);

/* Compare a histogram that was filled `fills` times: counts, flow, masked samples and sums. HISTO_OK with an empty text
 * if all are right; else the text says what is wrong. Fails only if memory runs out or the histogram cannot be read. */
histo_status reference_compare(const reference_counts *counts, const histo_hist *hist, int64_t fills, char *wrong,
                               size_t size);

#endif
