/* Files that are written completely or not at all: under a temporary name, which then replaces the target atomically.
 */
#ifndef BASE_OUTFILE_H
#define BASE_OUTFILE_H

#include <stdio.h>

typedef struct histo_outfile {
    FILE *stream;
    char *target, *temporary; /* NULL: not a regular file (a device, say), written directly */
} histo_outfile;

/* 0, or the errno of what failed. */
int histo_outfile_open(histo_outfile *out, const char *path);

/* Close, and replace the target if all was written; else leave it as it was. 0, or the errno of what failed. */
int histo_outfile_close(histo_outfile *out);

#endif
