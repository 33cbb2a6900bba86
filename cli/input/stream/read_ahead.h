/* Threads that ask the system for bytes of a file before they are needed: while the disk is busy, the requesting thread
 * blocks. */
#ifndef CLI_READ_AHEAD_H
#define CLI_READ_AHEAD_H

#include <sys/types.h>

typedef struct read_ahead read_ahead;

/* Begin to read an open file ahead; NULL if no thread can be started. */
read_ahead *read_ahead_start(int fd);
/* From now on, bytes begin … end - 1 are wanted; those requested before are skipped. NULL is allowed. */
void read_ahead_want(read_ahead *a, off_t begin, off_t end);
/* Before the file is closed. NULL is allowed. */
void read_ahead_stop(read_ahead *a);

#endif
