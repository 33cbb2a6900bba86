/* The kernel cache: files of compiled kernels in the directory that histo_kernel_cache sets. A file holds a key
 * and its value. The key is a text of everything that the value depends on. */
#ifndef CUDA_COMPILE_CACHE_H
#define CUDA_COMPILE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HISTO_CACHE_BYTES = 64 << 20 /* of all files in the directory, at most */ };

/* 0 while no directory is set; else a number that grows each time one is set. */
unsigned histo_cache_generation(void);

/* The value of a key, for free(), and its size; NULL if there is none. Files that are damaged, or that anyone but this
 * user may have written, are ignored. */
void *histo_cache_read(const char *key, size_t *size);

/* Write a value. Failures are ignored. */
void histo_cache_write(const char *key, const void *value, size_t size);

/* Delete the least recently used files until the others have at most this many bytes. Also delete abandoned temporary
 * files. */
void histo_cache_trim(const char *directory, uint64_t bytes);

#endif
