/* Landmarks: exact quantiles of a tone, found in passes over the samples. */
#ifndef CLI_LANDMARKS_H
#define CLI_LANDMARKS_H

#include "apply/job.h"

enum { LANDMARKS_MOST = 64 };

/* The quantiles q[n], each 0 … 1, of the counted samples, for each table of a job's unit: values[tables * n]. above:
 * only of the samples of a table that are at least above[table]; NULL: of all. */
int landmarks_find(job *j, int n, const double *q, const double *above, double *values, fault *f);

/* The means of the counted samples: means[tables]. */
int landmarks_means(job *j, double *means, fault *f);

#endif
