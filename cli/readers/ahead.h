/* Reading ahead: a thread of its own reads the next bytes of a source while those before them are counted. */
#ifndef CLI_READERS_AHEAD_H
#define CLI_READERS_AHEAD_H

#include "array.h"

typedef struct read_ahead read_ahead;

/* NULL if there is no memory or no thread for it: then nothing is read ahead. */
read_ahead *read_ahead_new(const byte_source *source);
/* Begin to read size bytes into buffer. Nobody else may use the source until read_ahead_finish. */
void read_ahead_start(read_ahead *ahead, void *buffer, size_t size);
/* What byte_source_read_full gave. */
int64_t read_ahead_finish(read_ahead *ahead, fault *f);
/* Finishes first. NULL is allowed. */
void read_ahead_free(read_ahead *ahead);

#endif
