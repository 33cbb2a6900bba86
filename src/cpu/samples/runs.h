/* A test for runs of equal samples, which are counted at once, so that counting is bound by memory. */
#ifndef CPU_RUNS_H
#define CPU_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "cpu/samples/prefetch.h"

/* Whether n > 2 values of 1, 2, 4 or 8 bytes are all equal. For nearly all other data, one of two comparisons decides;
 * they look at values near the first, as others may not be in cache yet. Equal data are read at the speed of memory
 * thanks to prefetching: the branch at a run's end is unpredictable, and the hardware prefetcher stops there. */
static inline bool histo_all_equal(const void *values, size_t n, size_t size)
{
    typedef uint64_t word __attribute__((aligned(1), may_alias));
    enum { STEP = 256, WORDS = STEP / sizeof(word), NEAR = 4096 };
    const char *first = values;
    const size_t bytes = n * size, near = bytes < NEAR ? n : NEAR / size;
    if (memcmp(first, first + near / 16 * size, size) != 0) return false;
    if (memcmp(first, first + (near - 1) * size, size) != 0) return false;
    if (bytes < STEP) return memcmp(first, first + size, bytes - size) == 0;
    if (memcmp(first, first + size, sizeof(word) - size) != 0) return false;
    size_t done = 0;
    for (; done + STEP <= bytes; done += STEP) {
        const word *some = (const word *)(first + done);
        uint64_t differences = 0;
        histo_prefetch_l2(some, STEP);
        for (int i = 0; i < WORDS; i++)
            differences |= some[i] ^ *(const word *)first;
        if (differences) return false;
    }
    return memcmp(first, first + done, bytes - done) == 0;
}

#endif
