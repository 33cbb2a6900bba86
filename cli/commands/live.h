/* histo --live: count what comes through a pipe, while redrawing the terminal. */
#ifndef CLI_LIVE_H
#define CLI_LIVE_H

#include "output/write.h"

/* Count into r until the input ends, or the user quits. */
int live_count(const settings *s, result *r, fault *f);

/* Leave the final drawing on the screen, and write it to the file of -o. */
int live_write(const settings *s, output *to, const result *r, fault *f);

#endif
