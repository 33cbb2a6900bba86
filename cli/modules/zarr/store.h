/* Zarr's key-value store: the files of a directory, or the members of a zip archive. */
#ifndef MODULES_ZARR_STORE_H
#define MODULES_ZARR_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

typedef struct zarr_store zarr_store;
typedef struct zarr_object zarr_object;

enum { ZARR_NOT_THERE = 1 };

/* path: the directory, or an archive; name: for messages (copied). NULL on failure. */
zarr_store *zarr_store_open(const char *path, const char *name, fault *f);
void zarr_store_close(zarr_store *s);

/* A key as messages name it. */
const char *zarr_store_name(zarr_store *s, const char *key);
/* The key of an entry of a group ("": the root); false if it is too long. */
bool zarr_store_join(const char *group, const char *entry, char *key, size_t size);

/* The text of a key (freed by the caller); NULL if it is missing, or on failure, with a fault. */
char *zarr_store_text(zarr_store *s, const char *key, size_t *size, fault *f);
/* The possible groups and arrays in a group, in order: returns their number; *names (freed by the caller, each and as a
 * whole) are the last components of the keys. */
int zarr_store_list(zarr_store *s, const char *group, char ***names);

/* Open a key for reading: 0, ZARR_NOT_THERE or -1. */
int zarr_object_open(zarr_store *s, const char *key, zarr_object **object, fault *f);
int64_t zarr_object_size(const zarr_object *o);
/* Read exactly these bytes. */
int zarr_object_read(zarr_object *o, int64_t offset, void *to, size_t size, fault *f);
void zarr_object_close(zarr_object *o);

#endif
