#include "base/threads/threads.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/threads/cpus.h"

static _Atomic int of_process;

int histo_threads_set(void)
{
    return of_process;
}

/* The value of HISTO_THREADS, or 0 unless it is a valid number of threads. */
static int threads_by_environment(void)
{
    const char *text = getenv("HISTO_THREADS");
    if (!text) return 0;
    char *end;
    long wanted = strtol(text, &end, 10);
    return *end == '\0' && wanted >= 1 && wanted <= HISTO_MAX_THREADS ? (int)wanted : 0;
}

int histo_threads_for(int wanted)
{
    if (wanted == 0) wanted = of_process;
    if (wanted == 0) wanted = threads_by_environment();
    if (wanted == 0) wanted = histo_cpus_usable();
    return wanted < HISTO_MAX_THREADS ? wanted : HISTO_MAX_THREADS;
}

histo_status histo_threads_check(int threads)
{
    if (histo_threads_possible(threads)) return HISTO_OK;
    return histo_fail(HISTO_INVALID, "%d threads are not possible: give 1 to %d, or 0 for the default", threads,
                      HISTO_MAX_THREADS);
}

histo_status histo_set_threads(int threads)
{
    const histo_status status = histo_threads_check(threads);
    if (status == HISTO_OK) of_process = threads;
    return status;
}

int histo_threads(void)
{
    return histo_threads_for(0);
}
