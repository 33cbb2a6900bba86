/* What differs between systems: posix/ and windows/ define these functions, and those of locale.h and outfile.h. */
#ifndef BASE_SYSTEM_H
#define BASE_SYSTEM_H

#include <stddef.h>
#include <stdio.h>

/* Open a file for reading, close-on-exec; NULL with errno. */
FILE *histo_open_to_read(const char *path);

/* The number of CPUs that the process may run on. */
int histo_cpus_allowed(void);

/* Memory for vectors: aligned to `alignment`, a power of two that divides `bytes`. Free with free(). Windows aligns to
 * 16 bytes only. */
void *histo_aligned_alloc(size_t alignment, size_t bytes);

/* The usable size of a libc block, at least what was requested. */
size_t histo_block_bytes(void *block);

/* Advise the system to use huge pages for this memory. */
void histo_advise_huge_pages(void *memory, size_t bytes);

/* Memory that the system itself reports as available; SIZE_MAX if it does not. On Linux, memory.c reads its files
 * instead. */
size_t histo_system_memory(void);

/* The address space limit of the process and its current use, if known from `proc` (see histo_memory_available_in), in
 * bytes. */
void histo_address_space(const char *proc, unsigned long long *limit, unsigned long long *used);

/* Register functions to call around and after fork(), as pthread_atfork does. */
void histo_at_fork(void (*prepare)(void), void (*parent)(void), void (*child)(void));

/* Call `start`, which starts threads, with signals blocked: signals are for the application's threads. Faults are the
 * exception: when a worker's read faults because a mapped file was truncated, the application's handler must run, as it
 * would on its own threads; a blocked fault kills the process. */
void histo_with_signals_blocked(void (*start)(void *context), void *context);

#endif
