/* A test for a run of equal samples, which memory-bound code counts at once. */
#ifndef CPU_RUNS_H
#define CPU_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Are n > 2 values of `size` bytes all equal? Two comparisons say no for nearly all data that is not, the first of them
 * of values near by: others may not be in a cache yet. */
static inline bool histo_all_equal(const void *values, size_t n, size_t size)
{
    const char *first = values;
    return memcmp(first, first + n / 16 * size, size) == 0 && memcmp(first, first + (n - 1) * size, size) == 0 &&
           memcmp(first, first + size, (n - 1) * size) == 0;
}

#endif
