#include "base/threads/monitor.h"

#include <math.h>

#include "base/clock.h"
#include "base/error.h"

static const double interval_us = 20e3;

/* This thread's monitor. */
static _Thread_local struct {
    bool (*stops)(void *context, const histo_progress *progress);
    void *context;
    int64_t work;          /* work since the clock was last read */
    double next_us;        /* do not ask before this time */
    bool asking;           /* a call to the monitor is in progress: calls that it makes are not monitored */
    histo_progress last;   /* as last reported */
    histo_progress around; /* the stage of a call that consists of several others; its stage is NULL otherwise */
} monitor;

void histo_set_monitor(bool (*stops)(void *context, const histo_progress *progress), void *context)
{
    monitor.stops = stops;
    monitor.context = context;
}

bool histo_is_monitored(void)
{
    return monitor.stops && !monitor.asking;
}

bool histo_monitor_stops(const char *stage, int64_t work, int64_t done, int64_t all)
{
    if (!histo_is_monitored() || (monitor.work += work) < HISTO_MUCH_WORK) return false;
    monitor.work = 0;
    const double now_us = histo_now_us();
    if (now_us < monitor.next_us) return false;
    histo_progress progress = monitor.around;
    if (!progress.stage) {
        const double before = stage == monitor.last.stage ? monitor.last.done : NAN;
        progress = (histo_progress){stage, all > 0 ? fmin((double)done / (double)all, 1) : before};
    }
    monitor.last = progress;
    monitor.asking = true;
    const bool stops = monitor.stops(monitor.context, &progress);
    monitor.asking = false;
    monitor.next_us = histo_now_us() + interval_us;
    return stops;
}

histo_status histo_fail_cancelled(const char *stage)
{
    return histo_fail(HISTO_CANCELLED, "the monitor of this thread stopped the call while it was %s",
                      monitor.around.stage ? monitor.around.stage : stage);
}

histo_status histo_go_on(const char *stage, int64_t work, int64_t done, int64_t all)
{
    return histo_monitor_stops(stage, work, done, all) ? histo_fail_cancelled(stage) : HISTO_OK;
}

bool histo_pace_asks(histo_pace *pace)
{
    if (pace->status != HISTO_OK) return false;
    pace->done += pace->work;
    pace->status = histo_go_on(pace->stage, pace->work, pace->done, pace->all);
    if (pace->status == HISTO_OK) pace->work = 0; /* else all further steps are refused */
    return pace->status == HISTO_OK;
}

void histo_monitor_stage(const char *stage, double done)
{
    monitor.around = (histo_progress){stage, done};
}
