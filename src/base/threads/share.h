/* How loops are divided among threads. */
#ifndef BASE_THREADS_SHARE_H
#define BASE_THREADS_SHARE_H

#include <stdint.h>

/* Where share `index` of n elements begins, of `shares` of nearly equal size; it ends where the next one begins.
 * Without overflow of n * index. */
static inline int64_t histo_share_begin(int64_t n, int shares, int index)
{
    return n / shares * index + n % shares * index / shares;
}

#endif
