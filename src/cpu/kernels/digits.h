/* Per-thread exact sums: for each slot, the digits of a few windows of sum/exact.h. Numbers add the same slices as
 * there, but without atomic additions and without checking which windows exist. */
#ifndef CPU_DIGITS_H
#define CPU_DIGITS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    HISTO_DIGITS = 4,
    HISTO_FIRST_DIGIT = 3, /* the lowest possible first window of a sum: see histo_add_digits_fn */
};
typedef int64_t histo_digits[HISTO_DIGITS];

/* The bit patterns of the smallest and largest magnitude among some numbers, ignoring zeros; least > most if all are
 * 0. */
typedef struct histo_magnitudes {
    uint64_t least, most;
} histo_magnitudes;
typedef histo_magnitudes histo_magnitudes_fn(const double *numbers, int n);

/* Properties of numbers: the maximum number of significant bits, and whether all are integers. */
typedef struct histo_numbers {
    int bits;
    bool integers;
} histo_numbers;

/* The windows [low, high) that numbers with these extremes, or their squares, can touch; empty if all are 0. False if
 * there are more than HISTO_DIGITS windows, a subnormal, an infinity, a NaN, or a number too small for
 * histo_add_digits_fn. */
typedef struct histo_reach {
    int low, high;
} histo_reach;
bool histo_reach_of(histo_magnitudes extremes, bool squared, histo_numbers numbers, histo_reach *reach);

/* sums[slots[i]] += numbers[i]; the first digit of a sum is that of window `first`, and the numbers' reach must be
 * within the windows of the sums. A zero is treated as the smallest normal number, whose slices lie below
 * HISTO_FIRST_DIGIT. */
typedef void histo_add_digits_fn(histo_digits *sums, const uint32_t *slots, const double *numbers, int n, int first);

/* digits[i] = the slice of numbers[i] in a window, with its sign; zeros as above. */
typedef void histo_cut_digits_fn(const double *numbers, int n, int window, int64_t *digits);

/* numbers[i] = floats[i]. */
typedef void histo_widen_floats_fn(const float *floats, int n, double *numbers);
#endif
