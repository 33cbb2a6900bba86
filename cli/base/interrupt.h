/* Clean exit on a signal: the unfinished output file is removed, the progress line erased, and the process dies of the
 * same signal, so that the shell sees it. */
#ifndef CLI_INTERRUPT_H
#define CLI_INTERRUPT_H

#include <signal.h>
#include <stdbool.h>

/* Catch SIGINT, SIGTERM, SIGHUP and SIGPIPE (those that are not ignored already). Called once, by main. */
void interrupt_install(void);

/* The file to remove on an interrupt; NULL: none. The path is copied. For outfile.c. */
void interrupt_guard_file(const char *path);
/* Whether a line on the terminal has to be erased on an interrupt. For progress.c. */
void interrupt_guard_line(bool shown);

/* From now on the first signal that asks to stop is only written to *number, and the next one ends the process as
 * above; with the process at a good place, interrupt_obey ends it by the one that was written (0: it does nothing). */
void interrupt_defer(volatile sig_atomic_t *number);
void interrupt_obey(int number);

#endif
