/* The bit patterns of doubles. */
#ifndef BASE_BITS_H
#define BASE_BITS_H

#include <stdint.h>
#include <string.h>

static inline uint64_t histo_bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double histo_double_of(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

#endif
