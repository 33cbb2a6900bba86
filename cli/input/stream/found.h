/* Files as they were found: one that grows while it is read, as a log does, has the size that it had when it was first
 * opened, in all passes and threads. */
#ifndef CLI_FOUND_H
#define CLI_FOUND_H

#include <sys/stat.h>

/* From now on, remember sizes. Programs that write the files that they read do not call it. */
void found_remember(void);
/* The size of an open regular file when it was found. */
off_t found_size(int fd, const struct stat *now);

#endif
