/* One line on standard error that says how far the work is. It appears only on a terminal and only if the work takes
 * more than half a second, changes at most ten times a second, and is erased at the end; updates are cheap. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* label says what is being done: "reading photo.png". quiet: draw nothing. Starting again (the next file, the next
 * pass) only changes the label: the half second counts from the first start. */
void progress_start(const char *label, bool quiet);

/* done of total, both in bytes; total -1 where it is not known. As input_position and input_size give them. */
void progress_update(int64_t done, int64_t total);

/* Erase the line. Before anything else is printed on the terminal, and on failures too; more than once is fine. */
void progress_end(void);

/* The clock by which it goes: seconds that only run forward. */
double progress_seconds(void);

#endif
