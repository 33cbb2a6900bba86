/* Decoding ahead: a reader of readers. Threads decode parts of a file, each with a reader of its own, while the bands
 * before are counted; what they have decoded is cached for the next pass (input/feed/band_cache.h). A file that cannot
 * be divided is decoded by one thread. The bands come in the order of the file, and are the same for any number of
 * threads. */
#ifndef CLI_PREFETCH_H
#define CLI_PREFETCH_H

#include "input/reader.h"

/* A reader of the same file in place of `from`, which it owns, or `from` itself where this would gain nothing or cannot
 * be done. keep: it will be read more than once. parts: it may be divided into its units. threads: 0 for all. */
reader *prefetch_open(reader *from, const char *path, const read_options *options, bool keep, bool parts, int threads);

#endif
