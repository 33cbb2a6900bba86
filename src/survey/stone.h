/* Stone's rule: the number of bins, from 1, 2, 3, … up, with the smallest estimated error. */
#ifndef SURVEY_STONE_H
#define SURVEY_STONE_H

#include <histo/histo.h>

#include "survey/samples.h"
#include "survey/saved.h"

typedef struct histo_stone histo_stone;

histo_status histo_stone_create(histo_stone **stone, histo_dtype dtype);
void histo_stone_destroy(histo_stone *stone);

/* Start a search for n samples in [lo, hi]. */
void histo_stone_start(histo_stone *stone, uint64_t n, double lo, double hi);

/* Add aligned samples in [lo, hi]. */
void histo_stone_add(histo_stone *stone, const void *block, int64_t count);

/* Add the samples of a source in a GPU's memory. */
histo_status histo_stone_count(histo_stone *stone, const histo_source *source);

/* Call after each pass: true if the number is known, false if the same samples must be added again. */
bool histo_stone_end_pass(histo_stone *stone);

/* What this pass has counted: save it, forget it; check what was saved, or add it. */
void histo_stone_save(const histo_stone *stone, histo_bytes *out);
void histo_stone_forget(histo_stone *stone);
void histo_stone_merge(histo_stone *stone, histo_saved *from, bool add);

int64_t histo_stone_bins(const histo_stone *stone);

#endif
