/* Where NumPy's rules for quantiles look among sorted samples. */
#ifndef AXIS_QUANTILE_RULE_H
#define AXIS_QUANTILE_RULE_H

#include <histo/histo.h>

/* A place among the sorted samples 0 … n-1: between `below` and the next one, `share` of the way. */
typedef struct histo_place {
    double below, share;
} histo_place;

/* HISTO_INVALID for an unknown rule, or if a quantile of q[n] is not in 0 … 1. */
histo_status histo_quantile_check(histo_quantile_rule rule, int n, const double *q);

/* n is at least 1. */
histo_place histo_quantile_place(histo_quantile_rule rule, double n, double q);

/* `share` of the way from a to b, whose distance is finite. */
double histo_quantile_between(double a, double b, double distance, double share);

#endif
