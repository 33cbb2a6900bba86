/* An output file that appears whole or not at all: it is written under another name in the same directory, and renamed
 * when it is complete. "-" is standard output; devices and pipes are written directly.
 *
 *     outfile *o = outfile_open(path, f);
 *     if (!o) return -1;
 *     if (write(outfile_stream(o), …) failed) { outfile_abandon(o); return -1; }
 *     return outfile_commit(o, f);
 *
 * At most four are open at a time. An interrupt abandons them. */
#ifndef CLI_OUTFILE_H
#define CLI_OUTFILE_H

#include <stdio.h>

#include "base/fault.h"
#include "options/settings.h"

typedef struct outfile outfile;

/* NULL on failure, with a message in f. An existing file keeps its permissions, and its content until the commit. */
outfile *outfile_open(const char *path, fault *f);

/* An output in memory, which the commit stores in *bytes, freed by the caller, also after it was abandoned. */
outfile *outfile_open_memory(const char *name, char **bytes, size_t *size, fault *f);

/* Check that it can be opened, before minutes of work. Leaves no files; NULL is allowed. */
int outfile_check(const char *path, fault *f);

/* The stream to write to. Its errors need no check: the commit reports them. */
FILE *outfile_stream(outfile *o);

/* The name for messages: the path, or "standard output". */
const char *outfile_name(const outfile *o);

/* Report a failed write to the stream by its errno, for callers that must stop. Returns -1. */
int outfile_fail(const outfile *o, int error, fault *f);

/* Flush, rename to the target and free o: 0, or -1 with a message in f and no files left. */
int outfile_commit(outfile *o, fault *f);

/* -1 if -o names a file that is also read: an input, the mask, a file of edges or the wisdom. */
int outfile_spare_inputs(const settings *s, fault *f);

/* -1 if `path` names the file `other`, which is read as `what`. Both may be NULL. */
int outfile_spare(const char *path, const char *other, const char *what, fault *f);

/* Remove what was written and free o; NULL is allowed. */
void outfile_abandon(outfile *o);

#endif
