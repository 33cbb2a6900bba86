/* Allocation with a check of available memory: too large a request fails at once, where the system might grant it and
 * kill the process later. */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* histo_memory_available with other mount points than /proc and /sys/fs/cgroup, for tests. */
size_t histo_memory_available_in(const char *proc, const char *mount);

/* Is this much available? Small requests always pass, because the check takes some microseconds. */
bool histo_memory_suffices(size_t bytes);

/* malloc and calloc that return NULL if the memory is not available. Free with free(). */
void *histo_malloc(size_t bytes);
void *histo_calloc(size_t count, size_t size);

#endif
