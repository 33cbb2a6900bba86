/* Exact quantiles of the samples of files, in as many passes as the selection needs. */
#ifndef CLI_SELECTION_H
#define CLI_SELECTION_H

#include <histo/histo.h>

#include "input/feed/feed.h"

/* The quantiles q[n], each 0 to 1, of everything that c chooses: values[c->count][n], NaN without samples; *nan: the
 * number of NaN samples, which are ignored. c: for the first file of the feed, which has been begun. */
int selection_find(feed *from, const choice *c, histo_quantile_rule rule, int n, const double *q, double *values,
                   uint64_t *nan, fault *f);

#endif
