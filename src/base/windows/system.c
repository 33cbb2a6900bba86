/* system.h on Windows. */
#include "base/system.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <windows.h>

FILE *histo_open_to_read(const char *path)
{
    return fopen(path, "rbN");
}

int histo_cpus_allowed(void)
{
    DWORD_PTR process, system;
    int cpus = 0;
    /* The process's own group of 64 CPUs; applications that ask for more threads use more. */
    if (GetProcessAffinityMask(GetCurrentProcess(), &process, &system)) cpus = __builtin_popcountll(process);
    return cpus ? cpus : 1;
}

size_t histo_block_bytes(void *block)
{
    return _msize(block);
}

void *histo_aligned_alloc(size_t alignment, size_t bytes)
{
    (void)alignment;
    return malloc(bytes);
}

void histo_advise_huge_pages(void *memory, size_t bytes)
{
    (void)memory;
    (void)bytes;
}

size_t histo_system_memory(void)
{
    MEMORYSTATUSEX status = {.dwLength = sizeof status};
    return GlobalMemoryStatusEx(&status) ? (size_t)status.ullAvailPageFile : SIZE_MAX;
}

void histo_address_space(const char *proc, unsigned long long *limit, unsigned long long *used)
{
    (void)proc;
    *limit = ULLONG_MAX;
    *used = 0;
}

/* Windows has no fork. */
void histo_at_fork(void (*prepare)(void), void (*parent)(void), void (*child)(void))
{
    (void)prepare;
    (void)parent;
    (void)child;
}

void histo_with_signals_blocked(void (*start)(void *context), void *context)
{
    start(context);
}
