/* A child process whose output is read: it starts, and ends, as often as its output is read from the beginning. */
#ifndef CLI_CHILD_H
#define CLI_CHILD_H

#include <stdbool.h>
#include <stddef.h>

typedef struct child child;

/* arguments: NULL at the end, the first is looked for in PATH; they stay the caller's, and valid. in: the path of what
 * becomes its standard input, copied. NULL without memory. */
child *child_create(const char *const *arguments, const char *in);
/* Start it, ending one that runs: the descriptor of its output; -1 with errno. */
int child_start(child *c);
/* Wait for its end: did it succeed? said: the first line of its standard error. */
bool child_succeeded(child *c, char *said, size_t size);
/* End it, and free everything; NULL is allowed. */
void child_close(child *c);
const char *child_name(const child *c);

#endif
