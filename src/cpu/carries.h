/* Tables of counters of one byte. A counter that comes round to 0 carries 256, once in 256 times: too seldom to be
 * foreseen, and a branch for it that was foreseen wrongly costs as much as a hundred increments. So carries are only
 * noted here, as bits, and looked at later, when no increment has to wait for it. */
#ifndef CPU_CARRIES_H
#define CPU_CARRIES_H

#include <stdint.h>

enum { HISTO_CARRIES = 64 /* increments whose carries are the bits of a word */, HISTO_CARRY = 256 };

/* Increment, and append whether the counter came round. */
static inline uint64_t histo_count_byte(uint8_t *counter, uint64_t carries)
{
#if defined(__x86_64__)
    __asm__("addb $1, %1\n\tadcq %0, %0" : "+r"(carries), "+m"(*counter) : : "cc");
    return carries;
#else
    return 2 * carries + (++*counter == 0);
#endif
}

/* The place among the last HISTO_CARRIES increments of one carry, which is taken away. */
static inline int histo_take_carry(uint64_t *carries)
{
    int place = HISTO_CARRIES - 1 - __builtin_ctzll(*carries);
    *carries &= *carries - 1;
    return place;
}

#endif
