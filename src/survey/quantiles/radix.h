/* Radix selection: each pass counts the next 16 bits of the keys, which narrows down the keys that each order statistic
 * is among. */
#ifndef SURVEY_QUANTILES_RADIX_H
#define SURVEY_QUANTILES_RADIX_H

#include "survey/quantiles/state.h"

/* The bits of a digit: for keys of 8 or 16 bits, all of them. */
static inline int histo_digit_bits(const histo_selection *selection)
{
    return selection->bits < HISTO_RADIX_BITS ? selection->bits : HISTO_RADIX_BITS;
}

/* Start counting the highest bits in this pass. */
void histo_radix_start(histo_selection *selection);
/* Start counting, beginning with the keys kept so far. */
void histo_radix_start_with_kept(histo_selection *selection);

void histo_radix_add(histo_selection *selection, const void *block, int64_t n);
bool histo_radix_end_pass(histo_selection *selection);

/* For values of at most 16 bits, which are counted as their only digit. */
void histo_values_start_part(histo_selection_part *part);
void histo_values_add(histo_selection_part *part, const void *block, int64_t n);
void histo_values_end_part(histo_selection_part *part);
void histo_values_count_beyond(histo_selection *selection);

#endif
