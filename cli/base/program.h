/* Setup and cleanup shared by all programs of the command. */
#ifndef CLI_PROGRAM_H
#define CLI_PROGRAM_H

/* Keep closed standard streams from being reused, set the locale, catch signals, run, and flush standard output.
 * Returns the exit status. */
int program_run(int argc, char **argv, int (*run)(int argc, char **argv));

#endif
