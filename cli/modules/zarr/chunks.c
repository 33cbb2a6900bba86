/* A chunk is an object, or a part of a shard, and is decoded as a whole; the last one is kept, as it may be read in
 * parts. Missing chunks are filled with the fill value. */
#include "modules/zarr/chunks.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "input/readers/arrays/array.h"

struct zarr_chunks {
    zarr_store *store;
    char *key;
    zarr_metadata about;
    size_t item, chunk_bytes;
    int64_t strides[HISTO_MAX_DIMS]; /* of a decoded chunk, in bytes */
    int64_t at[HISTO_MAX_DIMS];      /* the decoded chunk */
    bool decoded, there;             /* whether there is a decoded chunk, and whether it was in the file rather than
                                      * filled */
    unsigned char *samples;
    unsigned char *stored; /* as in the object */
    size_t stored_room;

    /* The open shard, and the positions of its chunks. */
    char *shard_key;
    zarr_object *shard; /* NULL: missing */
    uint64_t *index;    /* offsets and sizes */
    size_t chunks_in_shard;
};

static int fault_chunk(const char *path, const char *why, fault *f)
{
    return fault_set(f, EXIT_DATA, "%s is damaged: %s; copy the array again", path, why);
}

zarr_chunks *zarr_chunks_open(zarr_store *store, const char *key, const zarr_metadata *about, fault *f)
{
    zarr_chunks *c = calloc(1, sizeof *c);
    if (c) c->key = strdup(key);
    if (!c || !c->key) {
        fault_set(f, EXIT_DATA, "no memory to read %s", zarr_store_name(store, key));
        zarr_store_close(store);
        free(c);
        return NULL;
    }
    c->about = *about;
    c->store = store;
    c->item = histo_dtype_size(about->dtype);
    int64_t bytes = (int64_t)c->item, chunks = 1;
    bool fits = true;
    for (int k = about->ndim - 1; k >= 0; k--) {
        const int d = about->codecs.order[k];
        c->strides[d] = bytes;
        fits = fits && !__builtin_mul_overflow(bytes, about->chunk[d], &bytes) && bytes < PTRDIFF_MAX / 4;
        if (about->sharded) fits = fits && !__builtin_mul_overflow(chunks, about->shard[d] / about->chunk[d], &chunks);
    }
    c->chunk_bytes = (size_t)bytes;
    c->chunks_in_shard = (size_t)chunks;
    if (fits && chunks < PTRDIFF_MAX / 64) return c;
    fault_set(f, EXIT_DATA, "%s: the sizes of its chunks are invalid", zarr_store_name(store, key));
    zarr_chunks_close(c);
    return NULL;
}

static void close_shard(zarr_chunks *c)
{
    zarr_object_close(c->shard);
    free(c->shard_key);
    c->shard = NULL;
    c->shard_key = NULL;
}

void zarr_chunks_close(zarr_chunks *c)
{
    if (!c) return;
    close_shard(c);
    free(c->index);
    free(c->samples);
    free(c->stored);
    zarr_store_close(c->store);
    free(c->key);
    free(c);
}

/* ---- Objects -------------------------------------------------------------------------------------------- */

/* The key of a chunk or shard, given its indices. */
static bool name_object(const zarr_chunks *c, const int64_t *numbers, char path[PATH_MAX])
{
    const zarr_metadata *z = &c->about;
    size_t length = (size_t)snprintf(path, PATH_MAX, "%s%s%s", c->key, *c->key ? "/" : "", z->prefixed ? "c" : "");
    if (z->ndim == 0 && !z->prefixed && length < PATH_MAX)
        length += (size_t)snprintf(path + length, PATH_MAX - length, "0");
    for (int d = 0; d < z->ndim && length < PATH_MAX; d++) {
        const char separator[2] = {d > 0 || z->prefixed ? z->separator : '\0', '\0'};
        length += (size_t)snprintf(path + length, PATH_MAX - length, "%s%" PRId64, separator, numbers[d]);
    }
    return length < PATH_MAX;
}

/* Read bytes of an object into memory that grows with what is there. */
static int read_stored(zarr_chunks *c, zarr_object *from, const char *name, int64_t offset, size_t size, fault *f)
{
    if (size > c->stored_room) {
        free(c->stored);
        c->stored = NULL;
        c->stored_room = 0;
        if (fault_beyond_memory(f, (double)size, name, "store it in smaller chunks") != 0) return -1;
        if (!(c->stored = malloc(size))) return fault_set(f, EXIT_DATA, "no memory to read %s", name);
        c->stored_room = size;
    }
    return zarr_object_read(from, offset, c->stored, size, f);
}

/* ---- Shards --------------------------------------------------------------------------------------------- */

/* Read the index of the open shard. */
static int read_index(zarr_chunks *c, const char *name, fault *f)
{
    const zarr_codecs *codecs = &c->about.index_codecs;
    const int64_t size = zarr_object_size(c->shard);
    const size_t wanted = c->chunks_in_shard * 2 * sizeof *c->index;
    const size_t sums = (size_t)codecs->count * 4; /* the only codec that an index may have; it is not compressed */
    const char *why;
    if (wanted + sums > (uint64_t)size) return fault_chunk(name, "it is shorter than its index", f);
    if (!c->index && !(c->index = malloc(wanted + 1))) return fault_set(f, EXIT_DATA, "no memory to read %s", name);
    const int64_t begin = c->about.index_first ? 0 : size - (int64_t)(wanted + sums);
    if (read_stored(c, c->shard, name, begin, wanted + sums, f) != 0) return -1;
    if (!zarr_decode(codecs, c->stored, wanted + sums, (unsigned char *)c->index, wanted, &why))
        return fault_chunk(name, why, f);
    if (codecs->big_endian == LITTLE_ENDIAN_MACHINE) array_swap_bytes(c->index, 8, 2 * c->chunks_in_shard);
    return 0;
}

/* Open the shard with this key and keep it open: 0, ZARR_NOT_THERE or -1. */
static int open_shard(zarr_chunks *c, const char *key, fault *f)
{
    if (c->shard_key && strcmp(c->shard_key, key) == 0) return c->shard ? 0 : ZARR_NOT_THERE;
    close_shard(c);
    if (!(c->shard_key = strdup(key))) return fault_set(f, EXIT_DATA, "no memory to read %s", key);
    const int opened = zarr_object_open(c->store, key, &c->shard, f);
    if (opened == 0 && read_index(c, zarr_store_name(c->store, key), f) == 0) return 0;
    if (opened == ZARR_NOT_THERE) return ZARR_NOT_THERE;
    close_shard(c);
    return -1;
}

/* ---- Chunks --------------------------------------------------------------------------------------------- */

/* Find the bytes of a chunk in the open shard: 0 with their size, ZARR_NOT_THERE or -1. */
static int find_in_shard(zarr_chunks *c, size_t number, const char *name, size_t *size, fault *f)
{
    const uint64_t offset = c->index[2 * number], bytes = c->index[2 * number + 1];
    const uint64_t all = (uint64_t)zarr_object_size(c->shard);
    if (offset == UINT64_MAX && bytes == UINT64_MAX) return ZARR_NOT_THERE;
    if (offset > all || bytes > all - offset) return fault_chunk(name, "its index is invalid", f);
    *size = (size_t)bytes;
    return read_stored(c, c->shard, name, (int64_t)offset, *size, f);
}

/* Read the stored bytes of a chunk: 0 with their size, ZARR_NOT_THERE or -1. */
static int find_stored(zarr_chunks *c, const int64_t *chunk, char key[PATH_MAX], size_t *size, fault *f)
{
    const zarr_metadata *z = &c->about;
    int64_t shard[HISTO_MAX_DIMS];
    size_t in_shard = 0;
    for (int d = 0; d < z->ndim; d++) {
        const int64_t each = z->sharded ? z->shard[d] / z->chunk[d] : 1;
        shard[d] = chunk[d] / each;
        in_shard = in_shard * (size_t)each + (size_t)(chunk[d] % each);
    }
    if (!name_object(c, shard, key))
        return fault_set(f, EXIT_DATA, "%s: its path is too long", zarr_store_name(c->store, c->key));
    zarr_object *object;
    const int opened = z->sharded ? open_shard(c, key, f) : zarr_object_open(c->store, key, &object, f);
    if (opened != 0) return opened;
    const char *name = zarr_store_name(c->store, key);
    if (z->sharded) return find_in_shard(c, in_shard, name, size, f);
    *size = (size_t)zarr_object_size(object);
    const int failed = read_stored(c, object, name, 0, *size, f);
    zarr_object_close(object);
    return failed;
}

/* Decode a chunk, unless it is the current one. */
static int decode(zarr_chunks *c, const int64_t *chunk, fault *f)
{
    const zarr_codecs *codecs = &c->about.codecs;
    const size_t dims = (size_t)c->about.ndim * sizeof *chunk;
    char key[PATH_MAX];
    size_t size = 0;
    const char *why;
    if (c->decoded && memcmp(c->at, chunk, dims) == 0) return 0;
    c->decoded = false;
    const int found = find_stored(c, chunk, key, &size, f);
    if (found < 0) return -1;
    c->there = found != ZARR_NOT_THERE;
    const char *name = zarr_store_name(c->store, key);
    if (c->there && !c->samples) {
        if (fault_beyond_memory(f, (double)c->chunk_bytes, name, "store it in smaller chunks") != 0) return -1;
        if (!(c->samples = malloc(c->chunk_bytes + 1))) return fault_set(f, EXIT_DATA, "no memory to read %s", name);
    }
    if (c->there) {
        if (!zarr_decode(codecs, c->stored, size, c->samples, c->chunk_bytes, &why)) return fault_chunk(name, why, f);
        if (codecs->big_endian == LITTLE_ENDIAN_MACHINE)
            array_swap_bytes(c->samples, c->item, c->chunk_bytes / c->item);
    }
    memcpy(c->at, chunk, dims);
    c->decoded = true;
    return 0;
}

/* Copy a row of the box from the decoded chunk, or fill it. */
static void copy_row(const zarr_chunks *c, const int64_t *from, int64_t length, unsigned char *to)
{
    const int last = c->about.ndim - 1;
    const int64_t step = last < 0 ? 0 : c->strides[last], item = (int64_t)c->item;
    const unsigned char *sample = c->samples;
    for (int d = 0; d <= last && c->there; d++)
        sample += from[d] * c->strides[d];
    if (c->there && step == item) {
        memcpy(to, sample, (size_t)(length * item));
        return;
    }
    for (int64_t i = 0; i < length; i++, to += item)
        memcpy(to, c->there ? sample + i * step : c->about.fill, (size_t)item);
}

/* The next indices within [begin, end), the last dimension fastest; false after the last. */
static bool advance(int ndim, int64_t *at, const int64_t *begin, const int64_t *end)
{
    for (int d = ndim - 1; d >= 0; d--) {
        if (++at[d] < end[d]) return true;
        at[d] = begin[d];
    }
    return false;
}

/* Copy the chunk's part of the box. */
static void copy_part(const zarr_chunks *c, const int64_t *chunk, const int64_t *start, const int64_t *count,
                      unsigned char *buffer)
{
    const int ndim = c->about.ndim;
    int64_t begin[HISTO_MAX_DIMS], end[HISTO_MAX_DIMS], at[HISTO_MAX_DIMS], from[HISTO_MAX_DIMS], length = 1;
    for (int d = 0; d < ndim; d++) {
        const int64_t first = chunk[d] * c->about.chunk[d], behind = first + c->about.chunk[d];
        begin[d] = first > start[d] ? first : start[d];
        end[d] = behind < start[d] + count[d] ? behind : start[d] + count[d];
        at[d] = begin[d];
    }
    if (ndim) length = end[ndim - 1] - begin[ndim - 1];
    do {
        int64_t place = 0;
        for (int d = 0; d < ndim; d++) {
            from[d] = at[d] - chunk[d] * c->about.chunk[d];
            place = place * count[d] + at[d] - start[d];
        }
        copy_row(c, from, length, buffer + (size_t)place * c->item);
    } while (advance(ndim - 1, at, begin, end));
}

int zarr_chunks_read(zarr_chunks *c, const int64_t *start, const int64_t *count, void *buffer, fault *f)
{
    const int ndim = c->about.ndim;
    int64_t begin[HISTO_MAX_DIMS], end[HISTO_MAX_DIMS], at[HISTO_MAX_DIMS];
    for (int d = 0; d < ndim; d++) {
        at[d] = begin[d] = start[d] / c->about.chunk[d];
        end[d] = (start[d] + count[d] - 1) / c->about.chunk[d] + 1;
    }
    do {
        if (decode(c, at, f) != 0) return -1;
        copy_part(c, at, start, count, buffer);
    } while (advance(ndim, at, begin, end));
    return 0;
}
