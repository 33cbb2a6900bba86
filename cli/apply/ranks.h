/* Ranks: the values of a tone in order, and how many of its samples there are up to each. What follows from them
 * follows from the samples, and not from bins over their range, which one sample can widen. */
#ifndef CLI_RANKS_H
#define CLI_RANKS_H

#include "apply/job.h"

/* Neither the values nor the numbers of samples ever decrease; one of both increases. */
typedef struct curve {
    int64_t count;
    double *values;
    uint64_t *upto;
} curve;

/* Is a dtype one with too many values for a bin each? */
bool ranks_suit(histo_dtype dtype);
/* Do the settings leave the bins to the command? */
bool ranks_allowed(const settings *s);

/* Curves of all tables of a job, curves[tables], which are zero before. Sets its levels, too. */
int ranks_find(job *j, curve *curves, fault *f);
/* Set the levels without a pass; the results of integers go from lo to hi. */
int ranks_levels(job *j, int table, double lo, double hi, fault *f);
/* The curve of a saved histogram: at the bins of integers, or at the edges of others. */
int ranks_of_hist(const histo_hist *hist, const char *name, curve *made, fault *f);
void curve_free(curve *c);

/* The share of the samples up to value i. */
double curve_share(const curve *c, int64_t i);
/* The value at a share, which is on straight lines between those of the curve; *at is where the last one was. */
double curve_value(const curve *c, double share, int64_t *at);
/* A map of straight lines from the values of a curve to these results. */
int ranks_map(job *j, int table, const curve *c, const double *results, fault *f);

#endif
