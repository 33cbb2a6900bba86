/* How many threads calls use. */
#ifndef BASE_THREADS_H
#define BASE_THREADS_H

#include <histo/histo.h>

enum { HISTO_MAX_THREADS = 1024 };

/* The number of threads of a call that asks for `wanted` >= 0; for 0, that of histo_set_threads, else HISTO_THREADS,
 * else the number of CPUs. */
int histo_threads_for(int wanted);

/* The number that histo_set_threads was last given, or 0. Takes a nanosecond, unlike histo_threads_for.
 * Not the number of threads that calls use: 0 stands for the default. */
int histo_threads_set(void);

/* Can a call ask for so many threads? */
static inline bool histo_threads_possible(int threads)
{
    return threads >= 0 && threads <= HISTO_MAX_THREADS;
}

/* HISTO_INVALID if it cannot. */
histo_status histo_threads_check(int threads);

#endif
