/* Saving histograms, loading them, and comparing them bitwise. */
#ifndef TESTS_SAVED_H
#define TESTS_SAVED_H

#include <stdbool.h>

#include <histo/histo.h>

/* Axes, counts and sums are bitwise equal. digits: compare all digits of exact sums, not their rounded values. */
void assert_restored(const histo_hist *saved, const histo_hist *loaded, bool digits);

/* The caller frees the result by histo_free. */
void *save(const histo_hist *hist, histo_format format, size_t *size);

/* Load from a copy of exactly this size, so that sanitizers detect reads past its end. */
histo_status load(const void *data, size_t size, const char *name, histo_hist **hist);
histo_hist *load_good(const void *data, size_t size, const char *name);

/* A loaded histogram equals the saved one, and gives the same bytes when saved again; in both formats. */
void check_round_trips(const histo_hist *hist);

/* A histogram of three bins with all kinds of flow. */
histo_hist *small_histogram(histo_weighting weighting);

#endif
