/* A failure: a message for the user, and the exit status. */
#ifndef CLI_FAULT_H
#define CLI_FAULT_H

#include <stddef.h>

enum { EXIT_OK = 0, EXIT_DATA = 1, EXIT_USAGE = 2 };

typedef struct fault {
    int status; /* EXIT_OK until something fails */
    char text[1024];
} fault;

/* Record the first failure (later ones are its consequences and are ignored) and return -1. The message names the file,
 * the position and the remedy, without a trailing newline. Characters that a terminal might interpret, in a file name,
 * say, become '?' (text_make_printable). */
int fault_set(fault *f, int status, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
