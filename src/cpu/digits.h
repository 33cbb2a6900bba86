/* A thread's own exact sums: of each slot the digits of a few windows of sum/exact.h, to which a number adds the same
 * slices. No atomic additions, and no need to look which windows there are. */
#ifndef CPU_DIGITS_H
#define CPU_DIGITS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    HISTO_DIGITS = 4,
    HISTO_FIRST_DIGIT = 3, /* no sums begin with a window below: see histo_add_digits */
};
typedef int64_t histo_digits[HISTO_DIGITS];

/* The patterns of the smallest and the largest magnitude of some numbers, zeros left out; least > most if all are. */
typedef struct histo_extremes {
    uint64_t least, most;
} histo_extremes;
typedef histo_extremes histo_extremes_fn(const double *numbers, int n);

/* The windows [low, high) that slices of numbers, or of their squares, with these extremes may be in; none of no
 * numbers. False, and nothing known, if these are more than HISTO_DIGITS, or if there is a subnormal, an infinity, a
 * NaN, or a number too small for histo_add_digits. bits: significant ones of a number, at most. */
typedef struct histo_reach {
    int low, high;
} histo_reach;
bool histo_reach_of(histo_extremes extremes, bool squared, int bits, histo_reach *reach);

/* Add numbers to sums[slots[i]], whose first digit is of window `first`. Their reach is in the windows that sums have.
 * A zero is taken for the smallest normal number, which leaves nothing in windows from HISTO_FIRST_DIGIT on.
 * Compiled once for each level of the instruction set (digits.c), as the other. */
typedef void histo_add_digits_fn(histo_digits *sums, const uint32_t *slots, const double *numbers, int n, int first);

/* numbers[i] = floats[i]. */
typedef void histo_widen_floats_fn(const float *floats, int n, double *numbers);
#endif
