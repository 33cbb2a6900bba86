/* Moments of contiguous samples. */
#ifndef SURVEY_STATS_H
#define SURVEY_STATS_H

#include <histo/histo.h>

/* Add n aligned samples. */
void histo_stats_add_block(histo_stats *stats, histo_dtype dtype, const void *block, int64_t n);

/* histo_stats_merge without its check, for numbers of samples that cannot overflow. */
void histo_stats_join(histo_stats *stats, const histo_stats *other);

static inline uint64_t histo_stats_finite(const histo_stats *stats)
{
    return stats->samples - stats->nan - stats->infinite;
}

#endif
