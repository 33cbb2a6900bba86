/* How many threads calls use. */
#ifndef BASE_THREADS_H
#define BASE_THREADS_H

#include <histo/histo.h>

enum { HISTO_MAX_THREADS = 1024 };

/* The number of threads for a call that asks for `wanted` >= 0. If 0: the number given to histo_set_threads, else
 * HISTO_THREADS, else the number of CPUs. */
int histo_threads_for(int wanted);

/* The number last given to histo_set_threads, or 0. Takes a nanosecond, unlike histo_threads_for. Not the number of
 * threads that calls use, since 0 stands for the default. */
int histo_threads_set(void);

/* Whether a call can ask for this many threads. */
static inline bool histo_threads_possible(int threads)
{
    return threads >= 0 && threads <= HISTO_MAX_THREADS;
}

/* HISTO_INVALID unless it can. */
histo_status histo_threads_check(int threads);

#endif
