/* Decoding ahead: a reader that wraps readers. Threads decode parts of a file, each with a reader of its own, while
 * earlier bands are counted; what they have decoded is cached for the next pass (input/feed/band_cache.h). A file that
 * cannot be divided is decoded by one thread. The bands come in the order of the file, and are the same for any number
 * of threads. */
#ifndef CLI_PREFETCH_H
#define CLI_PREFETCH_H

#include "input/reader.h"

/* A reader of the same file that replaces `from` and owns it; or `from` itself if decoding ahead is useless or
 * impossible. keep: it will be read more than once. parts: it may be divided into its units. threads: 0 for all. */
reader *prefetch_open(reader *from, const char *path, const read_options *options, bool keep, bool parts, int threads);

#endif
