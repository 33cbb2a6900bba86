/* Statistics of histograms: moments, quantiles, mode and entropy, of each axis of each series. They are exact where a
 * bin is a value, and moments also where they were taken from the samples; else they are those of the bins. With
 * weights, all but the extremes take these into account. */
#ifndef CLI_STATISTICS_H
#define CLI_STATISTICS_H

#include "count/result.h"
#include "options/settings.h"

typedef struct statistics {
    bool finite;         /* there is a finite sample: what follows is a number */
    bool exact_extremes; /* min and max are those of the samples */
    bool exact_moments;  /* mean and deviation, too */
    double min, max, mean, deviation;
    bool exact_quantiles;
    const sample_order *order; /* integers that doubles do not hold: their differences, which are exact; else NULL */
    double *quantiles;         /* [n]; infinite where one is beyond the axis */
    bool values;               /* each bin is a value: so is the mode */
    const char *word;          /* the mode, of bins that are words, which have an entropy besides; else NULL */
    double mode; /* the value with the largest count or sum of weights, or the middle of that bin; NaN beside infinite
                    edges */
    double entropy; /* of the bins, in bits */
} statistics;

/* The statistics of all series, one after the other, and of all axes of each. */
typedef struct statistics_list {
    int n;             /* quantiles … */
    double *q;         /* … [n], 0 to 1 */
    statistics *items; /* [series * axes] */
    double *quantiles; /* of all */
} statistics_list;

/* quantiles: in percent, separated by commas; NULL: the quartiles. A zeroed list may be freed even if this fails. */
int statistics_read(statistics_list *list, const result *r, const table *tables, const char *quantiles, fault *f);
void statistics_free(statistics_list *list);

#endif
