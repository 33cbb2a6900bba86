/* Comparing histograms. */
#ifndef TESTS_SAME_H
#define TESTS_SAME_H

#include <histo/histo.h>

/* Both have the same contents, to the bit: counts with the flow, masked samples and sums. */
void assert_same(const histo_hist *a, const histo_hist *b);

#endif
