/* Exact quantiles of any number of samples in bounded memory, by several passes. */
#ifndef SURVEY_ORDER_H
#define SURVEY_ORDER_H

#include <histo/histo.h>

typedef struct histo_order histo_order;

/* Room for n quantiles, which are found together. */
histo_status histo_order_create(histo_order **order, histo_dtype dtype, int n);
void histo_order_destroy(histo_order *order);

/* Find the quantiles q[n], each 0 … 1, of the samples added from now on. q is copied. */
void histo_order_start(histo_order *order, histo_quantile_rule rule, const double *q);

/* Add n aligned samples. NaN is left out. */
void histo_order_add(histo_order *order, const void *block, int64_t n);

/* Call after each pass: true if the quantiles are known, false if the same samples must be added again. */
bool histo_order_end_pass(histo_order *order);

/* Quantile i, once known; NaN if there were no samples. */
double histo_order_value(const histo_order *order, int i);

#endif
