/* Paths of keys, such as those of nested objects: each key is within another one, or in the root. */
#ifndef CLI_READERS_KEYS_H
#define CLI_READERS_KEYS_H

#include <stdbool.h>
#include <stddef.h>

enum { KEYS_ROOT = 0, KEYS_NONE = -1 };

typedef struct keys {
    struct keys_node *node;
    int count, room;
    int *table; /* of hashes, with open addressing */
    size_t slots;
    int last; /* the key that was found last */
} keys;

bool keys_make(keys *k);
void keys_free(keys *k);

/* The key within another one; KEYS_NONE if there is none, or it could not be added. */
int keys_find(keys *k, int in, const char *key, size_t size);
int keys_add(keys *k, int in, const char *key, size_t size);

/* The value associated with a key: KEYS_NONE at first. */
int *keys_value(keys *k, int key);

/* "a.b": the names of all keys that it is within, joined by dots; the caller frees it. NULL if out of memory. */
char *keys_path(const keys *k, int key);

#endif
