/* Finds where most samples of a heat map are: --dense. */
#ifndef CLI_DENSE_RUN_H
#define CLI_DENSE_RUN_H

#include "count/result.h"

/* The narrowest run of bins of the first axis that holds at least seven eighths of the samples in bins (Ross 2014,
 * 5.8.3, keeps these on chip). */
typedef struct dense_run {
    int64_t first, bins;
    double lo, hi;
    double share; /* of the samples in bins */
} dense_run;

/* False if there are none in bins, or memory runs out. */
bool dense_run_find(const table *t, dense_run *run);

#endif
