/* Sums of powers of values in groups: of what they are off an origin, and of the squares of that. */
#ifndef PYTHON_POWERS_H
#define PYTHON_POWERS_H

#include <stdint.h>

typedef double sums_pair __attribute__((vector_size(2 * sizeof(double)), aligned(sizeof(double))));

/* Add the number of values of each group, and the sums of d and d * d, where d is a value's distance from the origin.
 */
static inline void add_powers_of(int64_t *totals, sums_pair *sums, const uint32_t *groups, const double *values, int n,
                                 double origin)
{
    for (int i = 0; i < n; i++) {
        const double d = values[i] - origin;
        totals[groups[i]]++;
        sums[groups[i]] += (sums_pair){d, d * d};
    }
}

#endif
