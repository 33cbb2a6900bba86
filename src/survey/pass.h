/* A pass over samples on several threads. */
#ifndef SURVEY_PASS_H
#define SURVEY_PASS_H

#include "survey/quantiles/selection.h"
#include "survey/samples.h"

/* The results of a pass, each of which may be NULL. The pass adds to them. */
typedef struct histo_facts {
    histo_extremes *extremes;
    histo_stats *stats;
    histo_power_sums *sums;
    histo_selection *selection;
} histo_facts;

/* Add all samples. The results depend neither on the number of threads nor on whose memory the samples are in. *seen +=
 * the number of unmasked samples. For samples in host memory it can fail only by being cancelled; then nothing has been
 * added, except to the selection, which is incomplete. */
histo_status histo_pass_run(const histo_source *source, const histo_facts *facts, uint64_t *seen);

/* A pass over the samples of a view, in one piece. */
histo_status histo_pass_over(const histo_view *samples, const histo_fill_options *options, const histo_facts *facts);

#endif
