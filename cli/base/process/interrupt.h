/* Clean exit on a signal: remove the unfinished output file, erase the progress line, print a message, and die by the
 * same signal, so that the shell sees it. */
#ifndef CLI_INTERRUPT_H
#define CLI_INTERRUPT_H

#include <signal.h>
#include <stdbool.h>

/* Catch SIGINT, SIGTERM, SIGHUP and SIGPIPE, unless ignored. Called once, by main. */
void interrupt_install(void);

/* Remove this file on an interrupt, until it is released by the number returned (-1: the path is too long, or too many
 * files are guarded). The path is copied. For outfile.c. */
int interrupt_guard_file(const char *path);
void interrupt_release_file(int guard);

/* Between these two calls, a terminating signal waits, so that a file can be created and guarded in one step. */
void interrupt_hold(void);
void interrupt_let_go(void);

/* Whether an interrupt has to erase the terminal line that progress.c has drawn. */
void interrupt_guard_line(bool shown);

/* From now on, the first terminating signal is only stored in *number, and the next one ends the process as above.
 * interrupt_obey then ends it by the stored signal, at a safe point (0: does nothing). is_told: the user has been
 * told. */
void interrupt_defer(volatile sig_atomic_t *number);
void interrupt_obey(int number, bool is_told);

#endif
