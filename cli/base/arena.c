#include "base/arena.h"

#include <stdlib.h>

struct arena_block {
    struct arena_block *next;
    max_align_t data[];
};

void *arena_take(arena *a, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) ||
        __builtin_add_overflow(bytes, sizeof(struct arena_block), &bytes))
        return NULL;
    struct arena_block *b = calloc(1, bytes);
    if (!b) return NULL;
    b->next = a->blocks;
    a->blocks = b;
    return b->data;
}

void arena_free(arena *a)
{
    while (a->blocks) {
        struct arena_block *next = a->blocks->next;
        free(a->blocks);
        a->blocks = next;
    }
}
