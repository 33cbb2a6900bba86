/* Allocation that checks available memory first: too large a request fails immediately, where the system might grant it
 * and kill the process later. */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* histo_memory_available with other mount points than /proc and /sys/fs/cgroup, for tests. */
size_t histo_memory_available_in(const char *proc, const char *mount);

/* Whether this much is available. Small requests always pass, because the check takes some microseconds. */
bool histo_memory_suffices(size_t bytes);

/* All memory of the library, except file paths: from the application's allocator or libc's, within the memory limit.
 * NULL if it is not available. Free with histo_free. */
void *histo_malloc(size_t bytes);
void *histo_calloc(size_t count, size_t size);
void *histo_realloc(void *block, size_t bytes);
/* Aligned to a power of two that divides `bytes`. The application's allocator aligns to 64 bytes only, and Windows to
 * 16. */
void *histo_malloc_aligned(size_t alignment, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
