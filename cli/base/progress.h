/* A progress line on standard error. It appears only on a terminal, after half a second of work, changes at most ten
 * times a second, and is erased at the end. Updates are cheap. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* label: the activity, such as "reading photo.png". quiet: draw nothing. A second start (next file, next pass) changes
 * only the label; the half second counts from the first start. */
void progress_start(const char *label, bool quiet);

/* done of total, in bytes, as from input_position and input_size; total is -1 if unknown. */
void progress_update(int64_t done, int64_t total);

/* Between these two calls, show the progress of library calls on this thread, as they report it. If there is a line
 * already, it stays instead. */
void progress_watch(const char *label);
void progress_unwatch(void);

/* From now on, draw nothing: --quiet. */
void progress_silence(void);

/* Erase the line, before any other output to the terminal and on failures. May be called more than once. */
void progress_end(void);

/* The clock of progress: monotonic seconds. */
double progress_seconds(void);

#endif
