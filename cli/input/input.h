/* A stream of bytes from a file or standard input, gunzipped transparently, with peeking and rewinding. */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

typedef struct input input;

enum { INPUT_PEEK_BYTES = 65536 };

/* path "-" is standard input. NULL on failure, with a message in f. */
input *input_open(const char *path, fault *f);
void input_close(input *in);

/* The name for messages: the path, or "standard input". */
const char *input_name(const input *in);

/* The first bytes (at most INPUT_PEEK_BYTES, fewer only at the end of the data) after gunzip, without consuming them.
 * Only before the first input_read. NULL on failure. */
const unsigned char *input_peek(input *in, size_t *size, fault *f);

/* Read up to size bytes; 0 at the end; -1 on failure, including a truncated or corrupt gzip member. */
int64_t input_read(input *in, void *buffer, size_t size, fault *f);

/* Map the next `size` bytes and consume them; valid until the next call. Saves the copy of input_read. NULL if
 * impossible (gzip, pipes, too few bytes, no mmap): nothing is consumed then; use input_read. */
const void *input_map(input *in, size_t size);

/* Prepare for rewinding: copy an input that cannot seek (a pipe) to a temporary file, which disappears at exit. Only
 * before the first input_read. */
int input_keep(input *in, fault *f);
/* Back to the first byte: 0, or -1. Files always support it, other inputs after input_keep. */
int input_rewind(input *in, fault *f);
bool input_can_rewind(const input *in);
/* Did input_keep make a copy? Reported with --verbose. */
bool input_was_spooled(const input *in);

/* A path through which a library can read the (gunzipped) bytes with random access, spooling if necessary; NULL on
 * failure. */
const char *input_path(input *in, fault *f);

/* Stored bytes in total and consumed so far, for a progress bar; size is -1 if unknown. */
int64_t input_size(const input *in);
int64_t input_position(const input *in);

/* Bytes of data in total, after gunzip; -1 if unknown before reading (gzip, pipes). Only after input_peek. */
int64_t input_data_size(const input *in);

#endif
