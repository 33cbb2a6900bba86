/* A child process whose output is read; it is restarted whenever its output is to be read from the beginning. */
#ifndef CLI_CHILD_H
#define CLI_CHILD_H

#include <stdbool.h>
#include <stddef.h>

typedef struct child child;

/* arguments: terminated by NULL, the first looked up in PATH; borrowed, and must stay valid. in: the path of its
 * standard input, copied. NULL if out of memory. */
child *child_create(const char *const *arguments, const char *in);
/* Start it, ending a previous run. Returns the descriptor of its output; -1 with errno. */
int child_start(child *c);
/* Wait for it to end; returns whether it succeeded. said: the first line of its standard error. */
bool child_succeeded(child *c, char *said, size_t size);
/* End it, and free everything; NULL is allowed. */
void child_close(child *c);
const char *child_name(const child *c);

#endif
