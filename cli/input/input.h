/* A stream of bytes from a file or standard input, gzip undone on the way, that can be looked at before it is
 * read, and read again. */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

typedef struct input input;

enum { INPUT_PEEK_BYTES = 65536 };

/* path "-" is standard input. NULL on failure, with the sentence in f. */
input *input_open(const char *path, fault *f);
void input_close(input *in);

/* What messages call it: the path, or "standard input". */
const char *input_name(const input *in);

/* The first bytes (at most INPUT_PEEK_BYTES, fewer only at the end of the data), after gunzip; nothing is consumed.
 * Only before the first input_read. NULL on failure. */
const unsigned char *input_peek(input *in, size_t *size, fault *f);

/* Read up to size bytes; 0 at the end; -1 on failure (a truncated or corrupt gzip member included). */
int64_t input_read(input *in, void *buffer, size_t size, fault *f);

/* The next `size` bytes where the file lies in memory, taken as if they were read, and valid until the next call:
 * without the copy that reading makes. NULL if they cannot be had so (gzip, pipes, no such bytes, no mmap): then
 * nothing is consumed; use input_read. */
const void *input_map(input *in, size_t size);

/* Be able to rewind: an input that cannot seek (a pipe) is copied to a temporary file now, which is removed at exit
 * whatever happens. Only before the first input_read. */
int input_keep(input *in, fault *f);
/* Back to the first byte: 0, or -1. Works on files always, on others after input_keep. */
int input_rewind(input *in, fault *f);
bool input_can_rewind(const input *in);
/* True if input_keep had to copy: the command says so with --verbose. */
bool input_was_spooled(const input *in);

/* A path by which a library can open the (gunzipped) bytes with random access, spooling if it must; NULL on failure. */
const char *input_path(input *in, fault *f);

/* Bytes in all as stored, and consumed so far as stored (for a progress bar); size -1 where it is not known. */
int64_t input_size(const input *in);
int64_t input_position(const input *in);

/* Bytes of data in all, after gunzip; -1 where only reading them tells (gzip, pipes). Only after input_peek. */
int64_t input_data_size(const input *in);

#endif
