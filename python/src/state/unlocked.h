/* Long calls of the library, without the GIL, which signals interrupt. */
#ifndef PYTHON_UNLOCKED_H
#define PYTHON_UNLOCKED_H

#include "state/state.h"

typedef struct unlocked {
    PyThreadState *thread;
    bool interrupted; /* a signal's handler has raised */
} unlocked;

/* Release the GIL; then the library asks, now and then, whether a signal has come, if this is the thread that handles
 * them. Take the GIL again: the status is HISTO_CANCELLED if a handler has raised, for raise_status. */
void unlocked_begin(unlocked *call);
histo_status unlocked_end(unlocked *call, histo_status status);

#define UNLOCKED(status, library_call)                                                                                 \
    do {                                                                                                               \
        unlocked unlocked_;                                                                                            \
        unlocked_begin(&unlocked_);                                                                                    \
        status = (library_call);                                                                                       \
        status = unlocked_end(&unlocked_, status);                                                                     \
    } while (0)

/* Short calls keep the GIL: releasing it would take longer, and may let another thread have it for long. */
#define UNLOCKED_IF(is_long, status, library_call)                                                                     \
    do {                                                                                                               \
        if (is_long)                                                                                                   \
            UNLOCKED(status, library_call);                                                                            \
        else                                                                                                           \
            status = (library_call);                                                                                   \
    } while (0)

/* How many handlers of signals this thread runs, within calls of the library. */
unsigned unlocked_handlers(void);

/* Find the thread that handles signals. -1 with an exception. */
int unlocked_init(void);

#endif
