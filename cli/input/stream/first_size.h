/* The sizes of files when they were first opened: a file that grows while it is read, such as a log, keeps that size in
 * all passes and threads. */
#ifndef CLI_FIRST_SIZE_H
#define CLI_FIRST_SIZE_H

#include <sys/stat.h>

/* From now on, remember sizes. Not for programs that write the files that they read. */
void first_size_remember(void);
/* The size of an open regular file when it was first opened. */
off_t first_size_of(int fd, const struct stat *now);

#endif
