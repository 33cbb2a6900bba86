/* Lists that grow by one element after the other. */
#ifndef CLI_LIST_H
#define CLI_LIST_H

#include <stddef.h>
#include <stdint.h>

/* A list of `count` elements of `size` bytes, NULL for none, with room for one more. It grows only where its length is
 * a power of two, so that nothing else needs to be kept of it. NULL without memory: then the list is as before. */
void *list_grown(void *list, int64_t count, size_t size);

#endif
