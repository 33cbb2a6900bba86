/* Statistics of histograms: moments, quantiles, mode and entropy, for each axis of each series. They are exact if a bin
 * is a single value; moments also if they were taken from the samples. Otherwise they are computed from the bins.
 * Weights are taken into account, except by the extremes. */
#ifndef CLI_STATISTICS_H
#define CLI_STATISTICS_H

#include "count/result.h"
#include "options/settings.h"

typedef struct statistics {
    bool finite;         /* there is a finite sample, so the following are numbers */
    bool exact_extremes; /* min and max are those of the samples */
    bool exact_moments;  /* so are mean and deviation */
    double min, max, mean, deviation;
    bool exact_quantiles;
    const sample_order *order; /* for integers that doubles cannot represent: their exact differences; else NULL */
    double *quantiles;         /* [n]; infinite if beyond the axis */
    bool values;               /* each bin is a single value, and so is the mode */
    const char *word;          /* the mode if bins are words, which otherwise only have an entropy; else NULL */
    double mode; /* the value with the largest count or sum of weights, or the centre of that bin; NaN next to infinite
                  * edges */
    double entropy; /* of the bins, in bits */
} statistics;

/* The statistics of all series, one after the other, and of all axes of each. */
typedef struct statistics_list {
    int n;             /* quantiles … */
    double *q;         /* … [n], 0 to 1 */
    statistics *items; /* [series * axes] */
    double *quantiles; /* of all items */
} statistics_list;

/* quantiles: in percent, separated by commas; NULL: the quartiles. A zeroed list may be freed even if this fails. */
int statistics_read(statistics_list *list, const result *r, const table *tables, const char *quantiles, fault *f);
void statistics_free(statistics_list *list);

#endif
