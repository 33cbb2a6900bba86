/* Statistics of weighted samples: exact mean, deviation and quantiles, in as many passes as they need. */
#ifndef CLI_WEIGHTED_H
#define CLI_WEIGHTED_H

#include <histo/histo.h>
#include <stdbool.h>

/* Of the finite samples, except the quantiles. NaN if there are none, or if their weights are not finite or do not add
 * up to more than 0. */
typedef struct weighted_numbers {
    bool any_negative;      /* some weight is negative, so there are no skewness and kurtosis */
    double mean, deviation; /* rounded once, unless a product with a weight overflows a double */
    double skewness, kurtosis;
} weighted_numbers;

typedef struct weighted_search weighted_search;

/* For the quantiles q[n]; NULL if out of memory. */
weighted_search *weighted_make(int n, const double *q);
void weighted_free(weighted_search *of);

/* Begin a pass over all samples; false once everything is known. */
bool weighted_next_pass(weighted_search *of);
/* Views of the same shape; of the filter, mask and where apply. */
void weighted_add(weighted_search *of, const histo_view *samples, const histo_view *weights,
                  const histo_fill_options *filter);

weighted_numbers weighted_read(const weighted_search *of);
/* quantiles[n]: the smallest sample up to which the weights add up to the share q of the total, or more, as in NumPy's
 * inverted_cdf. NaN if a weight is negative. */
void weighted_quantiles(const weighted_search *of, double *quantiles);
bool weighted_has_negative(const weighted_search *of);

#endif
