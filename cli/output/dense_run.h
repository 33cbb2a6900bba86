/* Where most samples of a heat map are: --dense. */
#ifndef CLI_DENSE_RUN_H
#define CLI_DENSE_RUN_H

#include "count/result.h"

/* The narrowest run of bins of the first axis that holds at least seven eighths of what is in bins (Ross 2014, 5.8.3,
 * has these on chip). */
typedef struct dense_run {
    int64_t first, bins;
    double lo, hi;
    double share; /* of what is in bins */
} dense_run;

/* False if there is nothing in bins, or no memory. */
bool dense_run_find(const table *t, dense_run *run);

#endif
