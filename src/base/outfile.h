/* Files that are written completely or not at all: under a temporary name, which then atomically replaces the
 * target. */
#ifndef BASE_OUTFILE_H
#define BASE_OUTFILE_H

#include <stdio.h>

typedef struct histo_outfile {
    FILE *stream;
    char *target, *temporary; /* NULL for anything but a regular file (a device, say), which is written directly */
} histo_outfile;

/* 0, or errno. */
int histo_outfile_open(histo_outfile *out, const char *path);

/* Close, and replace the target if everything was written; else leave it unchanged. 0, or errno. */
int histo_outfile_close(histo_outfile *out);

#endif
