/* Exact sums of contiguous samples. */
#ifndef SURVEY_SUMS_H
#define SURVEY_SUMS_H

#include <histo/histo.h>

/* Add n aligned samples, also to extremes of the same dtype. */
void histo_power_sums_add_block(histo_power_sums *sums, histo_dtype dtype, const void *block, int64_t n,
                                histo_extremes *extremes);

#endif
