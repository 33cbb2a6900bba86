/* A stream of bytes from a file or standard input, decompressed transparently (input/stream/decoder.h), with peeking
 * and rewinding. */
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

typedef struct child child;

/* From now on, read the output of a program that decodes this file. Takes ownership of the child; 0 or -1. */
int input_decode_by(input *in, child *c, fault *f);

/* The name for messages: the path, or "standard input". */
const char *input_name(const input *in);
/* Change the name, to that of the directory that the file describes. There is no input_path then. */
int input_rename(input *in, const char *name, fault *f);

/* The first bytes (at most INPUT_PEEK_BYTES, fewer only at the end of the data), decompressed, without consuming them.
 * Only before the first input_read. NULL on failure. */
const unsigned char *input_peek(input *in, size_t *size, fault *f);

/* Read up to size bytes; 0 at the end; -1 on failure, including truncated or damaged compressed data. */
int64_t input_read(input *in, void *buffer, size_t size, fault *f);

/* Map the next `size` bytes and consume them; valid until the next call. Saves the copy of input_read. NULL if
 * impossible (compressed data, pipes, too few bytes, no mmap): nothing is consumed then; use input_read. */
const void *input_map(input *in, size_t size);

/* Move to this byte, if input_data_size is known. */
int input_seek(input *in, int64_t position, fault *f);

/* Prepare for rewinding: copy an input that cannot seek (a pipe) to a temporary file, which disappears at exit. Only
 * before the first input_read. */
int input_keep(input *in, fault *f);
/* Go back to the first byte: 0, or -1. Files always support it, other inputs after input_keep. */
int input_rewind(input *in, fault *f);
bool input_can_rewind(const input *in);
/* Whether input_keep made a copy. Reported with --verbose. */
bool input_was_spooled(const input *in);

/* A path through which a library can read the decompressed bytes with random access, spooling if necessary; NULL on
 * failure. */
const char *input_path(input *in, fault *f);

/* Prepare for input_read_at, spooling if necessary: returns the number of (decompressed) bytes, -1 on failure. */
int64_t input_random(input *in, fault *f);
/* Read at any position after input_random: fewer than size bytes only at the end of the data; -1 on failure. */
int64_t input_read_at(const input *in, int64_t position, void *buffer, size_t size, fault *f);

/* All remaining bytes, at most max_bytes; freed by the caller. NULL on failure. */
unsigned char *input_read_all(input *in, size_t max_bytes, size_t *size, fault *f);

/* For samples that are drawn as they arrive: before each read of stored bytes, `wait` is called with the descriptor. It
 * returns true when the descriptor should be read, or false to stop, which makes the read fail (EXIT_OK, no sentence).
 * An input with a waiter delivers what is available rather than wait for more. */
typedef struct input_waiter {
    bool (*wait)(void *self, int fd);
    void *self;
} input_waiter;
void input_wait_with(input *in, const input_waiter *waiter);
bool input_has_waiter(const input *in);
/* Whether a read would block; false without a waiter. */
bool input_waits(const input *in);

/* Stored bytes in total and consumed so far, for a progress bar; size is -1 if unknown. */
int64_t input_size(const input *in);
int64_t input_position(const input *in);

/* Bytes of data in total, decompressed; -1 if unknown before reading (compressed data, pipes). Only after
 * input_peek. */
int64_t input_data_size(const input *in);

#endif
