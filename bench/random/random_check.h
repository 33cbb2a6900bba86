/* The reference count of a random problem, which compares samples with edges. It shares no code with the library. */
#ifndef BENCH_RANDOM_CHECK_H
#define BENCH_RANDOM_CHECK_H

#include "bench/random/random_data.h"
#include "bench/random/random_rule.h"

/* Exact sums: of weights in units of 2^-60, of squares, each rounded to double, in units of 2^-68. */
typedef struct problem_sum {
    __int128 w, w2;
    double size; /* the sum of |w| */
} problem_sum;

/* The counts of all histograms: an array of all slots, or for a sparse histogram a table of the occupied ones. */
typedef struct problem_counts {
    int64_t slots, occupied;
    uint64_t *counts;  /* [slots], or [capacity] */
    int64_t *keys;     /* [capacity]: slots of a sparse histogram; -1: none. NULL for a dense one */
    int64_t capacity;  /* a power of two */
    problem_sum *sums; /* [slots]; NULL without weights */
    uint64_t *masked;  /* [batch] */
    histo_tally tally;
    int64_t sectors; /* of 32 bytes in which a counter changes */
} problem_counts;

/* Make the rule, with tables in host memory. on_host: for the arrays in host memory. Call problem_rule_free in any
 * case. */
histo_status problem_rule_make(const problem_data *data, bool on_host, problem_rule *rule);
void problem_rule_free(problem_rule *rule);

/* Count one fill, where the samples were made. Call problem_counts_free in any case. */
histo_status problem_counts_make(const problem_data *data, int threads, problem_counts *counts);
void problem_counts_free(problem_counts *counts);

/* Compare a histogram that was filled `fills` times: counts, flow, masked samples and sums. HISTO_OK with an empty text
 * if all are right; else the text says what is wrong. Fails only if memory runs out or the histogram cannot be read. */
histo_status problem_counts_compare(const problem_data *data, const problem_counts *counts, const histo_hist *hist,
                                    int fills, char *wrong, size_t size);

#endif
