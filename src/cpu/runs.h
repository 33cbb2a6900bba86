/* A test for a run of equal samples, which memory-bound code counts at once. */
#ifndef CPU_RUNS_H
#define CPU_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "cpu/cpu.h"

/* Are n > 2 values of 1, 2, 4 or 8 bytes all equal? Two comparisons say no for nearly all data that is not, of values
 * near by, and the first of them nearer: others may not be in a cache yet. Data that is gets as far as memory does, if
 * that is asked for what comes next: a run ends where nobody foresees it, so that the CPU itself asks for no more of
 * it. */
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
