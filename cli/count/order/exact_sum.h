/* Exact sums of doubles, as in histo_power_sums, and what is derived from them. */
#ifndef CLI_EXACT_SUM_H
#define CLI_EXACT_SUM_H

#include <histo/histo.h>
#include <stdbool.h>

/* Two's complement, in units of 2^-1074, least significant word first. */
typedef struct exact_sum {
    uint64_t words[HISTO_SUM_WORDS];
} exact_sum;

/* values[n] are finite. False if out of memory. */
bool exact_sum_add_all(exact_sum *sum, const double *values, int64_t n);
void exact_sum_add(exact_sum *sum, double value);
void exact_sum_join(exact_sum *sum, const exact_sum *more);
bool exact_sum_is_positive(const exact_sum *sum);

/* digits / 10^places */
typedef struct decimal_share {
    uint64_t digits;
    int places;
} decimal_share;

/* The decimal number meant by a share, 0 to 1, whose percentage was written in at most 15 digits: as a double, 0.07 is
 * above 7 %. */
decimal_share decimal_of_percent(double share);
/* Whether part >= share * whole, exactly, for 0 <= share <= 1 and a non-negative whole. */
bool exact_sum_reaches(const exact_sum *part, decimal_share share, const exact_sum *whole);

/* An unevaluated sum of two doubles. */
typedef struct two_doubles {
    double high, low;
} two_doubles;

two_doubles exact_sum_read(const exact_sum *sum);
two_doubles two_doubles_of_sum(double a, double b);
two_doubles two_doubles_of_product(double a, double b);
two_doubles two_doubles_subtract(two_doubles a, two_doubles b);
two_doubles two_doubles_multiply(two_doubles a, two_doubles b);
two_doubles two_doubles_divide(two_doubles a, two_doubles b);
/* Not negative. */
two_doubles two_doubles_root(two_doubles a);

#endif
