/* Landmarks: values of a tone at certain shares of its samples, found exactly in passes over the samples. */
#ifndef CLI_LANDMARKS_H
#define CLI_LANDMARKS_H

#include "apply/job.h"

enum { LANDMARKS_MOST = 64 };

/* Of each table of a job's unit, one after the other in values[tables * n]: the quantiles q[n], each 0 … 1, of what is
 * counted; `above` (NULL: everything): of the samples of a table that are at least above[table]. */
int landmarks_find(job *j, int n, const double *q, const double *above, double *values, fault *f);

/* The mean of what is counted: means[tables]. */
int landmarks_means(job *j, double *means, fault *f);

#endif
