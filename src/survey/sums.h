/* Exact sums of contiguous samples. */
#ifndef SURVEY_SUMS_H
#define SURVEY_SUMS_H

#include <histo/histo.h>

/* Add n aligned samples, also to extremes of the same dtype. */
/* histo_power_sums_merge without its check, as histo_stats_join. */
void histo_power_sums_join(histo_power_sums *sums, const histo_power_sums *other);

void histo_power_sums_add_block(histo_power_sums *sums, histo_dtype dtype, const void *block, int64_t n,
                                histo_extremes *extremes);

#endif
