/* Copies of bands that a reader has decoded: on their way from the thread that decoded them, or cached for the next
 * pass, up to a limit for all readers together. */
#ifndef CLI_BAND_CACHE_H
#define CLI_BAND_CACHE_H

#include "input/reader.h"

/* Memory for the next small bands of a thread: freed with the last of them. */
typedef struct band_room band_room;

typedef struct cached_band {
    band band; /* the views are of `memory` */
    void *memory;
    size_t bytes;
    band_room *room;               /* that the memory is of; NULL: its own */
    int64_t unit;                  /* of the reader, after the band */
    uint64_t bad, missing, ragged; /* cells, and rows, left out since the band before */
} cached_band;

/* Copy a band with this many views, into the room of this thread if it is small: false without memory. The room is NULL
 * at first; the thread leaves it after the last band. */
bool cached_band_copy(cached_band *to, const band *from, int views, band_room **room);
void cached_band_free(cached_band *band);
void band_room_leave(band_room **room);

/* The bytes that all readers together may cache when this many threads decode. */
size_t band_cache_limit(int threads);
/* May this many more be cached? If so, they count until they are returned. */
bool band_cache_reserve(size_t bytes, size_t limit);
void band_cache_release(size_t bytes);

#endif
