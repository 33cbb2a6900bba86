/* Long calls ask the monitor of their thread, which the application has set, whether to go on. Only loops that may take
 * longer than some milliseconds ask; threads that work for them in the pool see the answer (pool.h). */
#ifndef BASE_MONITOR_H
#define BASE_MONITOR_H

#include <histo/histo.h>

/* Has the calling thread a monitor, which may be asked now? */
bool histo_is_monitored(void);

/* After `work` more samples, slots or characters, which take a nanosecond or more each, in `stage` of the call, of
 * which `done` of `all` is done, if all are known, else 0: ask the monitor if it is time. True: stop. */
bool histo_monitor_stops(const char *stage, int64_t work, int64_t done, int64_t all);

/* The same, where a stop is a failure. */
histo_status histo_go_on(const char *stage, int64_t work, int64_t done, int64_t all)
    __attribute__((warn_unused_result));

/* So much work that it is time to look at the clock. */
enum { HISTO_MUCH_WORK = 1 << 15 };

/* How far a loop is that may take long. */
typedef struct histo_pace {
    const char *stage;   /* of the call */
    int64_t all;         /* the steps that the loop takes; 0: unknown */
    int64_t work;        /* steps since the monitor could be asked */
    int64_t done;        /* steps before these */
    histo_status status; /* HISTO_CANCELLED once it has said stop */
} histo_pace;

bool histo_pace_asks(histo_pace *pace);

/* After so many more steps: does the loop go on? Cheap enough for each step; the caller looks at the status then. */
static inline bool histo_goes_on(histo_pace *pace, int64_t steps)
{
    pace->work += steps;
    return pace->work < HISTO_MUCH_WORK || histo_pace_asks(pace);
}

/* Fail as cancelled. */
histo_status histo_fail_cancelled(const char *stage);

/* Until it is NULL, the monitor of this thread is told this stage, and not those of the calls of which it consists. */
void histo_monitor_stage(const char *stage, double done);

#endif
