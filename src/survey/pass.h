/* A pass over samples on several threads. */
#ifndef SURVEY_PASS_H
#define SURVEY_PASS_H

#include "survey/quantiles/selection.h"
#include "survey/samples.h"

/* What a pass finds about the samples, and adds to; each may be NULL. */
typedef struct histo_facts {
    histo_extremes *extremes;
    histo_stats *stats;
    histo_power_sums *sums;
    histo_selection *selection;
} histo_facts;

/* Add all samples. The results do not depend on the number of threads, nor on whose memory they are in. *seen += the
 * number of samples that were not left out. Samples in host memory can only be
 * cancelled; then nothing is added but to the selection, which holds a part. */
histo_status histo_pass_run(const histo_source *source, const histo_facts *facts, uint64_t *seen);

/* A pass over the samples of a view, in one piece. */
histo_status histo_pass_over(const histo_view *samples, const histo_fill_options *options, const histo_facts *facts);

#endif
