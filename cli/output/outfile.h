/* An output file that is there whole or not at all: it is written under another name in the same directory, and renamed
 * when it is complete. "-" is standard output; devices and pipes are written as they are.
 *
 *     outfile *o = outfile_open(path, f);
 *     if (!o) return -1;
 *     if (write(outfile_stream(o), …) failed) { outfile_abandon(o); return -1; }
 *     return outfile_commit(o, f);
 *
 * At most one is open at a time. An interrupt abandons it. */
#ifndef CLI_OUTFILE_H
#define CLI_OUTFILE_H

#include <stdio.h>

#include "base/fault.h"
#include "options/settings.h"

typedef struct outfile outfile;

/* NULL on failure, with the sentence in f. An existing file keeps its permissions, and its content until the commit. */
outfile *outfile_open(const char *path, fault *f);

/* Could it be opened? Leaves nothing behind; NULL is fine. For output that is written after minutes of work. */
int outfile_check(const char *path, fault *f);

/* Where to write. Errors of the stream need no check before the commit, which finds them. */
FILE *outfile_stream(outfile *o);

/* What messages call it: the path asked for, or "standard output". */
const char *outfile_name(const outfile *o);

/* The sentence for a write to the stream that failed with an errno, for code that has to stop then. Returns -1. */
int outfile_fail(const outfile *o, int error, fault *f);

/* Flush, put it in its place and free o: 0, or -1 with the sentence in f; nothing is left behind then. */
int outfile_commit(outfile *o, fault *f);

/* -1 if -o names a file that is read to make it: an input, the mask, a file of edges or the wisdom. */
int outfile_spare_inputs(const settings *s, fault *f);

/* Remove what was written and free o; NULL is allowed. */
void outfile_abandon(outfile *o);

#endif
