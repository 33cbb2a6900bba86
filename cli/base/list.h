/* Lists that grow by one element at a time. */
#ifndef CLI_LIST_H
#define CLI_LIST_H

#include <stddef.h>
#include <stdint.h>

/* Make room for one more element in a list of `count` elements of `size` bytes; NULL is the empty list. It is
 * reallocated only if its length is a power of two, so nothing else need be stored about it. NULL if out of memory; the
 * list is then unchanged. */
void *list_grown(void *list, int64_t count, size_t size);

#endif
