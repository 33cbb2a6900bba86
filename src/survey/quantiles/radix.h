/* Radix selection: a pass counts the next 16 bits of keys, by which each order statistic is among fewer keys. */
#ifndef SURVEY_QUANTILES_RADIX_H
#define SURVEY_QUANTILES_RADIX_H

#include "survey/quantiles/state.h"

/* The bits of a digit: all bits of a key of 8 or 16. */
static inline int histo_digit_bits(const histo_selection *selection)
{
    return selection->bits < HISTO_RADIX_BITS ? selection->bits : HISTO_RADIX_BITS;
}

/* Begin to count the highest bits in this pass. */
void histo_radix_start(histo_selection *selection);
/* Begin to count, and first count the keys that have been kept until now. */
void histo_radix_start_with_kept(histo_selection *selection);

void histo_radix_add(histo_selection *selection, const void *block, int64_t n);
bool histo_radix_end_pass(histo_selection *selection);

/* Values of at most 16 bits, whose counts are those of the only digit. */
void histo_values_start_part(histo_selection_part *part);
void histo_values_add(histo_selection_part *part, const void *block, int64_t n);
void histo_values_end_part(histo_selection_part *part);
void histo_values_count_beyond(histo_selection *selection);

#endif
