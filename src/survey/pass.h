/* A pass over samples on several threads. */
#ifndef SURVEY_PASS_H
#define SURVEY_PASS_H

#include "survey/order.h"
#include "survey/samples.h"

/* What is added to; each may be NULL. */
typedef struct histo_wanted {
    histo_extremes *extremes;
    histo_stats *stats;
    histo_power_sums *sums;
    histo_order *order;
} histo_wanted;

/* Add all samples. The results do not depend on the number of threads, nor on whose memory they are in. *taken += the
 * number of samples that were not left out. Only of samples in a GPU's memory can it fail. */
histo_status histo_pass_run(const histo_source *source, const histo_wanted *wanted, uint64_t *taken);

#endif
