/* How many threads calls use. */
#ifndef BASE_THREADS_H
#define BASE_THREADS_H

#include <histo/histo.h>

enum { HISTO_MAX_THREADS = 1024 };

/* The number of threads for a call that asks for `wanted`, not negative; 0: what histo_set_threads, else HISTO_THREADS,
 * else the machine says. */
int histo_threads_for(int wanted);

/* What calls ask for that do not say: the number of the last histo_set_threads, or 0. Takes a nanosecond, unlike
 * histo_threads_for. */
int histo_threads_set(void);

/* HISTO_INVALID for a number of threads that cannot be. */
histo_status histo_fail_threads(int threads);

#endif
