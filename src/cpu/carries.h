/* Tables of counters of one byte. A counter that comes round to 0 carries 256, once in 256 times: too seldom to be
 * foreseen, and a branch for it that was foreseen wrongly costs as much as a hundred increments. So carries are only
 * noted here, as bits, and looked at later, when no increment has to wait for it. */
#ifndef CPU_CARRIES_H
#define CPU_CARRIES_H

#include <stdint.h>

#include "cpu/runs.h"

enum { HISTO_CARRIES = 64 /* increments whose carries are the bits of a word */, HISTO_CARRY = 256 };

/* Add to a counter, and append whether it came round. */
static inline uint64_t histo_add_to_byte(uint8_t *counter, uint8_t count, uint64_t carries)
{
#if defined(__x86_64__)
    __asm__("addb %2, %1\n\tadcq %0, %0" : "+r"(carries), "+m"(*counter) : "iq"(count) : "cc");
    return carries;
#else
    *counter = (uint8_t)(*counter + count);
    return 2 * carries + (*counter < count);
#endif
}

/* name(table, at): table[at[i]]++ for HISTO_CARRIES of them; returns the carries. Increments of one counter wait for
 * each other, and so a run is added at once. */
#define HISTO_DEFINE_COUNT_BYTES(name, index_type)                                                                     \
    static inline uint64_t name(uint8_t *table, const index_type *at)                                                  \
    {                                                                                                                  \
        enum { RUN = 16, ALL = HISTO_CARRIES };                                                                        \
        if (histo_all_equal(at, ALL, sizeof *at)) return histo_add_to_byte(&table[*at], ALL, 0) << (ALL - 1);          \
        uint64_t carries = 0;                                                                                          \
        for (const index_type *end = at + HISTO_CARRIES; at < end; at += RUN) {                                        \
            if (histo_all_equal(at, RUN, sizeof *at))                                                                  \
                carries = histo_add_to_byte(&table[*at], RUN, carries) << (RUN - 1);                                   \
            else                                                                                                       \
                for (int i = 0; i < RUN; i++)                                                                          \
                    carries = histo_add_to_byte(&table[at[i]], 1, carries);                                            \
        }                                                                                                              \
        return carries;                                                                                                \
    }

/* The place among the last HISTO_CARRIES increments of one carry, which is taken away. */
static inline int histo_take_carry(uint64_t *carries)
{
    int place = HISTO_CARRIES - 1 - __builtin_ctzll(*carries);
    *carries &= *carries - 1;
    return place;
}

#endif
