/* 512-bit integers, for comparing fractions exactly. */
#ifndef BASE_WIDE_H
#define BASE_WIDE_H

#include "base/host_device.h"

enum { WIDE_WORDS = 8 };

__extension__ typedef unsigned __int128 wide_word_pair;

typedef struct wide {
    uint64_t word[WIDE_WORDS]; /* least significant word first */
} wide;

HISTO_INLINE wide wide_of(wide_word_pair value)
{
    wide of = {{(uint64_t)value, (uint64_t)(value >> 64)}};
    return of;
}

/* a * b, which must be below 2^512. */
HISTO_INLINE wide wide_multiply(wide a, wide b)
{
    wide product = {{0, 0, 0, 0, 0, 0, 0, 0}};
    for (int i = 0; i < WIDE_WORDS; i++) {
        uint64_t carry = 0;
        for (int j = 0; i + j < WIDE_WORDS && a.word[i]; j++) {
            const wide_word_pair sum = (wide_word_pair)a.word[i] * b.word[j] + product.word[i + j] + carry;
            product.word[i + j] = (uint64_t)sum;
            carry = (uint64_t)(sum >> 64);
        }
    }
    return product;
}

/* Negative, zero or positive as a is below, equal to or above b. */
HISTO_INLINE int wide_compare(wide a, wide b)
{
    for (int i = WIDE_WORDS - 1; i >= 0; i--)
        if (a.word[i] != b.word[i]) return a.word[i] < b.word[i] ? -1 : 1;
    return 0;
}

/* |a - b| */
HISTO_INLINE wide wide_distance(wide a, wide b)
{
    if (wide_compare(a, b) < 0) return wide_distance(b, a);
    uint64_t borrow = 0;
    for (int i = 0; i < WIDE_WORDS; i++) {
        const wide_word_pair difference = (wide_word_pair)a.word[i] - b.word[i] - borrow;
        a.word[i] = (uint64_t)difference;
        borrow = (uint64_t)(difference >> 64) & 1;
    }
    return a;
}

/* Rounded, with a relative error below 2^-51. */
HISTO_INLINE double wide_to_double(wide a)
{
    double value = 0;
    for (int i = WIDE_WORDS - 1; i >= 0; i--)
        value = value * 0x1p64 + (double)a.word[i];
    return value;
}

#endif
