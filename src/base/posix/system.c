/* system.h on POSIX systems. */
#define _GNU_SOURCE
#include "base/system.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#ifdef __APPLE__
#include <malloc/malloc.h>
#else
#include <malloc.h>
#endif

FILE *histo_open_to_read(const char *path)
{
    return fopen(path, "re");
}

#ifdef __linux__
/* Double the set until the kernel's mask fits: a plain cpu_set_t holds only 1024 CPUs. */
int histo_cpus_allowed(void)
{
    enum { MAX = 1 << 20 };
    for (size_t most = CPU_SETSIZE; most <= MAX; most *= 2) {
        cpu_set_t *set = CPU_ALLOC(most);
        if (!set) break;
        size_t size = CPU_ALLOC_SIZE(most);
        bool found = sched_getaffinity(0, size, set) == 0, too_small = !found && errno == EINVAL;
        int cpus = found ? CPU_COUNT_S(size, set) : 1;
        CPU_FREE(set);
        if (!too_small) return cpus;
    }
    return 1;
}
#else
int histo_cpus_allowed(void)
{
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    return cpus >= 1 && cpus <= INT_MAX ? (int)cpus : 1;
}
#endif

void *histo_aligned_alloc(size_t alignment, size_t bytes)
{
    return aligned_alloc(alignment, bytes);
}

size_t histo_block_bytes(void *block)
{
#ifdef __APPLE__
    return malloc_size(block);
#else
    return malloc_usable_size(block);
#endif
}

void histo_advise_huge_pages(void *memory, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    madvise(memory, bytes, MADV_HUGEPAGE); /* a hint; failure is harmless */
#else
    (void)memory;
    (void)bytes;
#endif
}

size_t histo_system_memory(void)
{
    return SIZE_MAX;
}

void histo_address_space(const char *proc, unsigned long long *limit, unsigned long long *used)
{
    struct rlimit resource;
    char path[PATH_MAX];
    unsigned long long pages = 0;
    *limit = ULLONG_MAX;
    *used = 0;
    if (getrlimit(RLIMIT_AS, &resource) != 0 || resource.rlim_cur == RLIM_INFINITY) return;
    snprintf(path, sizeof path, "%s/self/statm", proc);
    FILE *file = histo_open_to_read(path);
    if (file && fscanf(file, "%llu", &pages) != 1) pages = 0;
    if (file) fclose(file);
    *limit = resource.rlim_cur;
    *used = pages * (unsigned long long)sysconf(_SC_PAGESIZE);
}

void histo_at_fork(void (*prepare)(void), void (*parent)(void), void (*child)(void))
{
    pthread_atfork(prepare, parent, child);
}

void histo_with_signals_blocked(void (*start)(void *context), void *context)
{
    static const int faults[] = {SIGBUS, SIGSEGV, SIGFPE, SIGILL};
    sigset_t blocked, before;
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigdelset(&blocked, faults[i]);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    start(context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}
