/* How this process was invoked. */
#ifndef CLI_PROCESS_H
#define CLI_PROCESS_H

#include <limits.h>
#include <stdbool.h>

/* Copy the arguments. Called once, by program_run, before anything changes them. */
void process_keep_arguments(int argc, char **argv);

/* The copies, NULL-terminated; NULL if out of memory. */
char *const *process_arguments(void);

/* The directory of this program, with a trailing slash; false if unknown. */
bool process_directory(char directory[PATH_MAX]);

/* The arguments joined by blanks, without the program's directory; recorded with results. */
const char *process_command_line(void);

#endif
