/* The number of bins by Stone's rule: the histogram of least estimated error among those of 1, 2, 3, … bins. */
#ifndef AXIS_STONE_H
#define AXIS_STONE_H

#include <histo/histo.h>

typedef struct histo_stone histo_stone;

histo_status histo_stone_create(histo_stone **stone, histo_dtype dtype);
void histo_stone_destroy(histo_stone *stone);

/* For the n samples in [lo, hi]. */
void histo_stone_start(histo_stone *stone, uint64_t n, double lo, double hi);

/* count aligned samples in [lo, hi]. */
void histo_stone_add(histo_stone *stone, const void *block, int64_t count);

/* After each pass: true if the number is known, false if the same samples must be added once more. */
bool histo_stone_end_pass(histo_stone *stone);

int64_t histo_stone_bins(const histo_stone *stone);

#endif
