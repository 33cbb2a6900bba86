/* Copies of bands that a reader has decoded: in transit from the thread that decoded them, or cached for the next pass,
 * up to a limit for all readers together. */
#ifndef CLI_BAND_CACHE_H
#define CLI_BAND_CACHE_H

#include "input/reader.h"

/* A memory block for the next small bands of a thread: freed with the last of them. */
typedef struct band_room band_room;

typedef struct cached_band {
    band band; /* its views refer to `memory` */
    void *memory;
    size_t bytes;
    band_room *room;               /* the block that the memory belongs to; NULL: its own */
    int64_t unit;                  /* of the reader, after the band */
    uint64_t bad, missing, ragged; /* cells, and rows, left out since the previous band */
} cached_band;

/* Copy a band with this many views, into this thread's block if it is small: false if out of memory. The block is NULL
 * at first; the thread leaves it after the last band. */
bool cached_band_copy(cached_band *to, const band *from, int views, band_room **room);
void cached_band_free(cached_band *band);
void band_room_leave(band_room **room);

/* The bytes that all readers together may cache when this many threads decode. */
size_t band_cache_limit(int threads);
/* Whether this many more bytes may be cached. If so, they are reserved until returned. */
bool band_cache_reserve(size_t bytes, size_t limit);
void band_cache_release(size_t bytes);

#endif
