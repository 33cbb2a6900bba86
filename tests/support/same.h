/* Comparing histograms. */
#ifndef TESTS_SAME_H
#define TESTS_SAME_H

#include <histo/histo.h>

/* The counts of all slots, from malloc. */
uint64_t *counts_of(const histo_hist *h);

/* The sums of weights of all slots, followed by those of their squares, or zeros if the weighting has none; from
 * malloc. */
double *sums_of(const histo_hist *h);

/* Both have counted and masked equally many samples. */
void assert_same_tally(const histo_hist *a, const histo_hist *b);

/* Both have the same counts, including the flow, and the same masked samples. */
void assert_same_counts(const histo_hist *a, const histo_hist *b);

/* Both have the same counts and masked samples; fails with the first slot that differs, where the masked samples of
 * each batch entry come after all slots. */
void assert_same_slots(const histo_hist *a, const histo_hist *b, const char *what);

/* Both have bitwise equal counts and sums. */
void assert_same(const histo_hist *a, const histo_hist *b);
void assert_same_then_destroy(histo_hist *a, histo_hist *b);

#endif
