/* Stone's rule: the number of bins, from 1, 2, 3, … up, with the smallest estimated error. */
#ifndef SURVEY_STONE_RULE_H
#define SURVEY_STONE_RULE_H

#include <histo/histo.h>

#include "survey/samples.h"
#include "survey/saved.h"

typedef struct histo_stone_rule histo_stone_rule;

histo_status histo_stone_rule_create(histo_stone_rule **stone, histo_dtype dtype);
void histo_stone_rule_destroy(histo_stone_rule *stone);

/* Start a search for n samples in [lo, hi]. */
void histo_stone_rule_start(histo_stone_rule *stone, uint64_t n, double lo, double hi);

/* Add aligned samples in [lo, hi]. */
void histo_stone_rule_add(histo_stone_rule *stone, const void *block, int64_t count);

/* Add the samples of a source in a GPU's memory. */
histo_status histo_stone_rule_count(histo_stone_rule *stone, const histo_source *source);

/* Call after each pass: *done if the number is known; otherwise the same samples must be added again. Fails only if
 * cancelled. */
histo_status histo_stone_rule_end_pass(histo_stone_rule *stone, bool *done);

/* What this pass has counted: save it, forget it, and check or add what was saved. */
void histo_stone_rule_save(const histo_stone_rule *stone, histo_bytes *out);
void histo_stone_rule_forget(histo_stone_rule *stone);
void histo_stone_rule_merge(histo_stone_rule *stone, histo_saved *from, bool add);

int64_t histo_stone_rule_bins(const histo_stone_rule *stone);

#endif
