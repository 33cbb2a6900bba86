/* The kernel cache: files of compiled kernels in the directory that histo_kernel_cache sets. A file holds a value under
 * a key, a text of everything that the value depends on. */
#ifndef CUDA_COMPILE_CACHE_H
#define CUDA_COMPILE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HISTO_CACHE_BYTES = 64 << 20 /* of a directory, at most */ };

/* 0 while there is no directory; grows with every change of it. */
unsigned histo_cache_generation(void);

/* The value of a key, for free(), and its size; NULL if there is none. Files that are damaged, or that anyone but this
 * user may have written, count as none. */
void *histo_cache_read(const char *key, size_t *size);

/* Keep a value if possible. */
void histo_cache_write(const char *key, const void *value, size_t size);

/* Delete the files that were not used for longest until the others have at most this many bytes, and temporary files
 * that nobody will finish. */
void histo_cache_trim(const char *directory, uint64_t bytes);

#endif
