/* Random numbers by index: stateless, so any thread can make any of them. */
#ifndef BENCH_RANDOM_NUMBERS_H
#define BENCH_RANDOM_NUMBERS_H

#include <math.h>
#include <stdint.h>

#include "view/half.h" /* HISTO_INLINE */

/* The i-th number of splitmix64 (Steele, Lea, Flood 2014) in stream `stream`. */
HISTO_INLINE uint64_t random_bits(uint64_t stream, int64_t i)
{
    uint64_t z = (stream << 56) + ((uint64_t)i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* [0, 1) */
HISTO_INLINE double random_uniform(uint64_t stream, int64_t i)
{
    return (double)(random_bits(stream, i) >> 11) * 0x1p-53;
}

/* Mean 0, deviation 1 (Box and Muller 1958). */
HISTO_INLINE double random_normal(uint64_t stream, int64_t i)
{
    double u = random_uniform(stream, 2 * i), v = random_uniform(stream, 2 * i + 1);
    return sqrt(-2 * log(1 - u)) * cos(6.283185307179586 * v);
}

#endif
