/* Exact quantiles of any amount of data in bounded memory, by looking at it a few times. */
#ifndef AXIS_QUANTILE_H
#define AXIS_QUANTILE_H

#include <histo/histo.h>

enum { HISTO_QUANTILES = 2 }; /* looked for at once */

typedef struct histo_quantiles histo_quantiles;

histo_status histo_quantiles_create(histo_quantiles **quantiles, histo_dtype dtype);
void histo_quantiles_destroy(histo_quantiles *quantiles);

/* Look for these fractions (0 … 1) of the samples added from now on. */
void histo_quantiles_start(histo_quantiles *quantiles, const double fractions[HISTO_QUANTILES]);

/* n aligned samples, none NaN. */
void histo_quantiles_add(histo_quantiles *quantiles, const void *block, int64_t n);

/* After each pass: true if the quantiles are known, false if the same samples must be added once more. */
bool histo_quantiles_end_pass(histo_quantiles *quantiles);

/* Quantile i, interpolated linearly as NumPy does, once they are known; NaN if there were no samples. */
double histo_quantiles_value(const histo_quantiles *q, int i);

#endif
