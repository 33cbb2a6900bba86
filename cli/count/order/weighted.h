/* Statistics of weighted samples: mean, deviation and quantiles, exact, in as many passes as they need. */
#ifndef CLI_WEIGHTED_H
#define CLI_WEIGHTED_H

#include <histo/histo.h>
#include <stdbool.h>

/* Of the finite samples, except the quantiles. NaN where there is none, where their weights are not finite, or do not
 * add up to more than 0. */
typedef struct weighted_numbers {
    bool any_negative;      /* a weight, so that there are no skewness and kurtosis */
    double mean, deviation; /* rounded once, as long as no product with a weight is beyond the doubles */
    double skewness, kurtosis;
} weighted_numbers;

typedef struct weighted_search weighted_search;

/* For the quantiles q[n]; NULL without memory. */
weighted_search *weighted_make(int n, const double *q);
void weighted_free(weighted_search *of);

/* Begin a pass over all samples; false once everything is known. */
bool weighted_next_pass(weighted_search *of);
/* Views of the same shape; of the filter, mask and where apply. */
void weighted_add(weighted_search *of, const histo_view *samples, const histo_view *weights,
                  const histo_fill_options *filter);

weighted_numbers weighted_read(const weighted_search *of);
/* quantiles[n]: the first sample in order with which the weights add up to the share q of all, or more, as NumPy's
 * inverted_cdf has it. NaN if a weight is negative. */
void weighted_quantiles(const weighted_search *of, double *quantiles);
bool weighted_has_negative(const weighted_search *of);

#endif
