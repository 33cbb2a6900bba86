/* Sums for the moments of contiguous samples. */
#ifndef CPU_MOMENTS_H
#define CPU_MOMENTS_H

#include <histo/histo.h>

/* widened[i] = samples[i], aligned and of any dtype; 64-bit integers are rounded to nearest. */
typedef void histo_widen_fn(histo_dtype dtype, const void *samples, int n, double *widened);

/* The sum of n > 0 numbers, their minimum and maximum. NaN or infinity makes the sum non-finite; *min and *max are then
 * undefined. */
typedef double histo_sum_fn(const double *x, int n, double *min, double *max);

/* sums[k] = the sum of (x[i] - mean)^(k + 1) */
typedef void histo_sum_powers_fn(const double *x, int n, double mean, double sums[4]);

#endif
