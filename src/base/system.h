/* What systems do differently: posix/ and windows/ define these, and those of locale.h and outfile.h. */
#ifndef BASE_SYSTEM_H
#define BASE_SYSTEM_H

#include <stddef.h>
#include <stdio.h>

/* Open a file to read, which programs that the application starts do not inherit; NULL with errno. */
FILE *histo_open_to_read(const char *path);

/* The CPUs that the process may run on. */
int histo_cpus_allowed(void);

/* Memory for vectors: aligned to `alignment`, a power of two, of which `bytes` is a multiple. Free with free(), except
 * on Windows, which aligns to 16 bytes. */
void *histo_aligned_alloc(size_t alignment, size_t bytes);

/* The size of a block of libc's, at least what was asked for. */
size_t histo_block_bytes(void *block);

/* Advise the system to use huge pages for this memory. */
void histo_advise_huge_pages(void *memory, size_t bytes);

/* Memory that the system itself says it can provide; SIZE_MAX if it does not. Linux is asked by its files (memory.c).
 */
size_t histo_system_memory(void);

/* The address space that the process may have, and has if `proc` tells (see histo_memory_available_in), in bytes. */
void histo_address_space(const char *proc, unsigned long long *limit, unsigned long long *used);

/* Call these around and after fork(), as pthread_atfork. */
void histo_at_fork(void (*prepare)(void), void (*parent)(void), void (*child)(void));

/* Run `start`, which starts threads. They block all signals, which are for the application's threads, except faults:
 * when a worker's read faults because a mapped file was truncated, the application's handler must run, as it would on
 * its own threads; a blocked fault kills the process. */
void histo_with_signals_blocked(void (*start)(void *context), void *context);

#endif
