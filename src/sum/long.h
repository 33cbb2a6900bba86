/* Long integers in two's complement, least significant word first, for exact sums of samples and what is derived from
 * them. */
#ifndef SUM_LONG_H
#define SUM_LONG_H

#include <stdbool.h>
#include <stdint.h>

__extension__ typedef __int128 histo_wide_int;

enum { HISTO_LONG_UNIT = 1074 }; /* exact sums of doubles are in units of 2^-1074 */

/* words += value * 2^shift */
void histo_long_add_at(uint64_t *words, int count, histo_wide_int value, int shift);

/* words += other */
void histo_long_add(uint64_t *words, const uint64_t *other, int count);

void histo_long_negate(uint64_t *words, int count);

static inline bool histo_long_is_negative(const uint64_t *words, int count)
{
    return words[count - 1] >> 63;
}

/* product[n + m] = a[n] * b[m], unsigned */
void histo_long_multiply(const uint64_t *a, int n, const uint64_t *b, int m, uint64_t *product);

/* Compare unsigned numbers: -1, 0 or 1. */
int histo_long_compare(const uint64_t *a, const uint64_t *b, int count);

/* Round the unsigned number words * 2^exponent, plus less than one unit if there is a remainder, to nearest even. */
double histo_long_round(const uint64_t *words, int count, int exponent, bool remainder);

/* The quotient of the unsigned number words * 2^exponent and n. The lowest word must be zero, so that the quotient has
 * more bits than a double. */
double histo_long_divide(uint64_t *words, int count, int exponent, uint64_t n);

#endif
