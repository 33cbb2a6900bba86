/* Sorted numbers and their median. */
#ifndef BENCH_SORT_H
#define BENCH_SORT_H

#include <stddef.h>

/* In ascending order; none is NaN. */
void bench_sort(double *values, size_t n);

/* The median of n > 0 sorted values. */
double bench_sorted_median(const double *sorted, int n);

#endif
