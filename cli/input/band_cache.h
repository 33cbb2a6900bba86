/* Copies of bands that a reader has decoded: on their way from the thread that decoded them, or cached for the next
 * pass, up to a limit for all readers together. */
#ifndef CLI_BAND_CACHE_H
#define CLI_BAND_CACHE_H

#include "input/reader.h"

typedef struct cached_band {
    band band; /* the views are of `memory` */
    void *memory;
    size_t bytes;
    int64_t unit;          /* of the reader, after the band */
    uint64_t bad, missing; /* cells left out since the band before */
} cached_band;

/* Copy a band with this many views: false without memory. */
bool cached_band_copy(cached_band *to, const band *from, int views);
void cached_band_free(cached_band *it);

/* The bytes that all readers together may cache when this many threads decode. */
size_t band_cache_limit(int threads);
/* May this many more be cached? If so, they count until they are returned. */
bool band_cache_reserve(size_t bytes, size_t limit);
void band_cache_release(size_t bytes);

#endif
