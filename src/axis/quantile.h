/* Exact quantiles of any number of samples in bounded memory, by several passes. */
#ifndef AXIS_QUANTILE_H
#define AXIS_QUANTILE_H

#include <histo/histo.h>

enum { HISTO_QUANTILES = 2 }; /* found together */

typedef struct histo_quantiles histo_quantiles;

histo_status histo_quantiles_create(histo_quantiles **quantiles, histo_dtype dtype);
void histo_quantiles_destroy(histo_quantiles *quantiles);

/* Find these quantiles (fractions from 0 to 1) of the samples added from now on. */
void histo_quantiles_start(histo_quantiles *quantiles, const double fractions[HISTO_QUANTILES]);

/* Add n aligned samples without NaN. */
void histo_quantiles_add(histo_quantiles *quantiles, const void *block, int64_t n);

/* Call after each pass: true if the quantiles are known, false if the same samples must be added again. */
bool histo_quantiles_end_pass(histo_quantiles *quantiles);

/* Quantile i, once known, interpolated linearly as in NumPy; NaN if there were no samples. */
double histo_quantiles_value(const histo_quantiles *q, int i);

#endif
