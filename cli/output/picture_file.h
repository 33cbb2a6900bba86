/* Pictures that a command draws after it has measured for minutes: --image FILE is checked before. */
#ifndef CLI_PICTURE_FILE_H
#define CLI_PICTURE_FILE_H

#include "base/fault.h"

/* "png", "svg" or "pdf", as plot_write takes it, by the suffix; NULL for others. */
const char *picture_file_format(const char *path);

/* A file of that name can be written; nothing is left of trying. NULL is fine. */
int file_check_writable(const char *path, fault *f);

/* And its suffix is that of a picture. */
int picture_file_check(const char *path, fault *f);

#endif
