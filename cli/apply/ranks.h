/* Ranks: the values of a tone in order, each with the number of samples up to it. They depend on the samples alone,
 * unlike bins over their range, which a single sample can widen. */
#ifndef CLI_RANKS_H
#define CLI_RANKS_H

#include "apply/job.h"

/* Values and numbers of samples never decrease, and at least one of the two increases. */
typedef struct curve {
    int64_t count;
    double *values;
    uint64_t *upto;
} curve;

/* Whether a dtype has too many values for a bin each. */
bool ranks_suit(histo_dtype dtype);
/* Whether the options leave the bins to the command. */
bool ranks_allowed(const settings *s);

/* Find the curves of all tables of a job: curves[tables], initially zero. Also sets its levels. */
int ranks_find(job *j, curve *curves, fault *f);
/* Set the levels without a pass; results for integers go from lo to hi. */
int ranks_levels(job *j, int table, double lo, double hi, fault *f);
/* The curve of a saved histogram: at the bins of integers, or at the edges of other types. */
int ranks_of_hist(const histo_hist *hist, const char *name, curve *made, fault *f);
void curve_free(curve *c);

/* The share of the samples up to value i. */
double curve_share(const curve *c, int64_t i);
/* The value at a share, interpolated linearly between the points of the curve; *at: the position of the last one. */
double curve_value(const curve *c, double share, int64_t *at);
/* Make a piecewise linear map from the values of a curve to these results. */
int ranks_map(job *j, int table, const curve *c, const double *results, fault *f);

#endif
