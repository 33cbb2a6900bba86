/* Long calls ask their thread's monitor, which the application has set, whether to continue. Only loops that may take
 * longer than a few milliseconds do; pool threads that work for them see the answer (pool.h). */
#ifndef BASE_MONITOR_H
#define BASE_MONITOR_H

#include <histo/histo.h>

/* Whether the calling thread has a monitor that may be asked now. */
bool histo_is_monitored(void);

/* Report `work` more samples, slots or characters, which take a nanosecond or more each, in `stage` of the call, of
 * which `done` of `all` is done (0 if unknown); ask the monitor if it is time. True: stop. */
bool histo_monitor_stops(const char *stage, int64_t work, int64_t done, int64_t all);

/* The same, for loops in which stopping is a failure. */
histo_status histo_go_on(const char *stage, int64_t work, int64_t done, int64_t all)
    __attribute__((warn_unused_result));

/* After this much work, it is time to look at the clock. */
enum { HISTO_MUCH_WORK = 1 << 15 };

/* The progress of a loop that may take long. */
typedef struct histo_pace {
    const char *stage;   /* of the call */
    int64_t all;         /* total steps of the loop; 0: unknown */
    int64_t work;        /* steps since the monitor was last given a chance */
    int64_t done;        /* steps before those */
    histo_status status; /* HISTO_CANCELLED once the monitor has said stop */
} histo_pace;

bool histo_pace_asks(histo_pace *pace);

/* Report more steps: returns whether the loop should continue; if not, the caller looks at the status. Cheap enough for
 * every step. */
static inline bool histo_goes_on(histo_pace *pace, int64_t steps)
{
    pace->work += steps;
    return pace->work < HISTO_MUCH_WORK || histo_pace_asks(pace);
}

/* Fail with HISTO_CANCELLED. */
histo_status histo_fail_cancelled(const char *stage);

/* Until called with NULL, this stage is what the thread's monitor sees, instead of those of the calls that make it
 * up. */
void histo_monitor_stage(const char *stage, double done);

#endif
