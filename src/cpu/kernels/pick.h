/* Lookups in tables that do not fit vector registers. */
#ifndef CPU_PICK_H
#define CPU_PICK_H

#include <stdint.h>
#include <string.h>

/* Keeps a loop from being vectorised: compilers would move addresses and results between vectors and registers. */
static inline uint64_t histo_scalar(uint64_t found)
{
    __asm__("" : "+r"(found));
    return found;
}

/* The shift of the k-th of several values in a word. */
static inline int histo_place_in_word(int k, int bits)
{
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? k * bits : 64 - (k + 1) * bits;
}

/* name(at, table, n, to): to[i] = table[at[i]]. Results are stored 8 bytes at a time, as processors may only store once
 * per cycle. */
#define HISTO_DEFINE_PICK(name, type, result)                                                                          \
    static inline void name(const type *at, const result *table, int n, result *to)                                    \
    {                                                                                                                  \
        enum { BITS = 8 * sizeof(result), TOGETHER = 64 / BITS };                                                      \
        int i = 0;                                                                                                     \
        for (; i + TOGETHER <= n; i += TOGETHER) {                                                                     \
            uint64_t results = 0;                                                                                      \
            for (int k = 0; k < TOGETHER; k++)                                                                         \
                results |= histo_scalar(table[at[i + k]]) << histo_place_in_word(k, BITS);                             \
            memcpy(to + i, &results, sizeof results);                                                                  \
        }                                                                                                              \
        for (; i < n; i++)                                                                                             \
            to[i] = table[at[i]];                                                                                      \
    }

#endif
