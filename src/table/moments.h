/* Sums of moments, in an order that depends neither on the device nor on the number of threads.
 *
 * A row has three sums: of value, x * value and x^2 * value. Sample x of the window belongs to lane x % 32; each lane
 * adds in the order of x, and the lanes are added in halves: lane k and k + 16, k + 8, … k + 1. Row y of the window
 * belongs to lane y % 32 likewise: each lane adds the six moments of its rows in the order of y, and the lanes are
 * added in halves. Every product and every sum is rounded once, to double. */
#ifndef TABLE_MOMENTS_H
#define TABLE_MOMENTS_H

#include "base/host_device.h"

enum { HISTO_MOMENT_LANES = 32, HISTO_ROW_SUMS = 3, HISTO_MOMENTS = 6 };

/* Add a row's sums to m00, m10, m01, m20, m11, m02. */
HISTO_INLINE void histo_add_row_moments(const double *row, int64_t y, double *moments)
{
    const double at = (double)y, square = at * at;
    moments[0] += row[0];
    moments[1] += row[1];
    moments[2] += at * row[0];
    moments[3] += row[2];
    moments[4] += at * row[1];
    moments[5] += square * row[0];
}

#endif
