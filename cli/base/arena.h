/* Memory that is freed as a whole: what a reader allocates while it opens needs no free of its own. */
#ifndef CLI_ARENA_H
#define CLI_ARENA_H

#include <stddef.h>

typedef struct arena {
    struct arena_block *blocks; /* NULL: none */
} arena;

/* Zeroed memory for `count` elements of `size` bytes; NULL without memory. */
void *arena_take(arena *a, size_t count, size_t size);
void arena_free(arena *a);

#endif
