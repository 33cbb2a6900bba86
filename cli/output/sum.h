/* The sum of saved histograms. */
#ifndef CLI_SUM_H
#define CLI_SUM_H

#include "count/result.h"

/* Load files[count], at least one, and add up the histograms with equal names. */
int saved_sum(const char *const *files, int count, result *sum, fault *f);

#endif
