/* Prefetching the memory that follows samples. */
#ifndef CPU_PREFETCH_H
#define CPU_PREFETCH_H

#include <stddef.h>

/* Prefetch what follows a piece at a short distance, so that memory is busy while slots are counted. Use it for few
 * lines at a time: many prefetches at once wait for each other. */
enum { HISTO_LINE = 64, HISTO_AHEAD = 8192 };
static inline void histo_prefetch_l2(const void *at, size_t bytes)
{
    for (size_t line = 0; line < bytes; line += HISTO_LINE)
        __builtin_prefetch((const char *)at + HISTO_AHEAD + line, 0, 2);
}

/* Prefetch into the L1 cache: for use while slots are counted and the L2 cache is busy with counters. */
static inline void histo_prefetch_l1(const void *at, size_t bytes)
{
    for (size_t line = 0; line < bytes; line += HISTO_LINE)
        __builtin_prefetch((const char *)at + HISTO_AHEAD + line, 0, 3);
}

#endif
