#include "input/readers/arrays/keys.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct keys_node {
    char *name;
    size_t size;
    int in;
    int value;
    int next; /* the key that followed it last time: probably the next one again */
};

static bool is_key(const keys *k, int node, int in, const char *key, size_t size)
{
    const struct keys_node *n = &k->node[node];
    return n->in == in && n->size == size && memcmp(n->name, key, size) == 0;
}

/* FNV-1a */
static size_t hash_of(int in, const char *key, size_t size)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ (uint64_t)in;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (unsigned char)key[i]) * UINT64_C(0x100000001b3);
    return (size_t)(hash ^ hash >> 32);
}

/* The place of a key in the table: its own, or an empty one. */
static int *place_of(const keys *k, int in, const char *key, size_t size)
{
    for (size_t at = hash_of(in, key, size);; at++) {
        int *place = &k->table[at & (k->slots - 1)];
        if (*place == KEYS_NONE || is_key(k, *place, in, key, size)) return place;
    }
}

/* Make room for one more; the table is at most half full. */
static bool reserve(keys *k)
{
    if (k->count < k->room) return true;
    const int room = k->room ? 2 * k->room : 32;
    struct keys_node *node = realloc(k->node, (size_t)room * sizeof *node);
    if (!node) return false;
    k->node = node;
    int *table = malloc(2 * (size_t)room * sizeof *table);
    if (!table) return false;
    free(k->table);
    k->room = room;
    k->table = table;
    k->slots = 2 * (size_t)room;
    memset(table, 0xff, k->slots * sizeof *table);
    for (int i = 1; i < k->count; i++)
        *place_of(k, node[i].in, node[i].name, node[i].size) = i;
    return true;
}

bool keys_make(keys *k)
{
    *k = (keys){0};
    if (!reserve(k)) return false;
    k->node[k->count++] = (struct keys_node){.in = KEYS_NONE, .value = KEYS_NONE, .next = KEYS_NONE};
    return true;
}

void keys_free(keys *k)
{
    for (int i = 0; i < k->count; i++)
        free(k->node[i].name);
    free(k->node);
    free(k->table);
    *k = (keys){0};
}

int keys_find(keys *k, int in, const char *key, size_t size)
{
    int found = k->node[k->last].next;
    if (found == KEYS_NONE || !is_key(k, found, in, key, size)) {
        found = *place_of(k, in, key, size);
        if (found == KEYS_NONE) return KEYS_NONE;
        k->node[k->last].next = found;
    }
    return k->last = found;
}

int keys_add(keys *k, int in, const char *key, size_t size)
{
    const int found = keys_find(k, in, key, size);
    if (found != KEYS_NONE) return found;
    char *name = reserve(k) ? malloc(size + 1) : NULL;
    if (!name) return KEYS_NONE;
    memcpy(name, key, size);
    name[size] = '\0';
    k->node[k->count] = (struct keys_node){name, size, in, KEYS_NONE, KEYS_NONE};
    return *place_of(k, in, key, size) = k->count++;
}

int *keys_value(keys *k, int key)
{
    return &k->node[key].value;
}

char *keys_path(const keys *k, int key)
{
    size_t size = 0;
    for (int i = key; i != KEYS_ROOT; i = k->node[i].in)
        size += k->node[i].size + 1;
    char *path = malloc(size + 1), *at = path + size;
    for (int i = key; path && i != KEYS_ROOT; i = k->node[i].in) {
        *--at = i == key ? '\0' : '.';
        at -= k->node[i].size;
        memcpy(at, k->node[i].name, k->node[i].size);
    }
    return path;
}
