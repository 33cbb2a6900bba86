/* A pool of worker threads, started on first use and kept for the life of the process. Any number of threads may use it
 * at once. */
#ifndef BASE_POOL_H
#define BASE_POOL_H

#include <histo/histo.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Call task(context, i) once for each i in 0 … count-1, on up to count threads including the caller's; return when all
 * calls have returned. */
void histo_pool_run(int count, void (*task)(void *context, int index), void *context);

/* histo_pool_run in two parts: workers begin at the start, and the caller joins them in histo_pool_finish, which must
 * follow every start. Work is done in the order in which it was started. */
typedef struct histo_pool_work {
    struct histo_pool_work *next;
    void (*task)(void *context, int index);
    void *context;
    int count, taken, done; /* number of indices: in total, taken by a thread, done */
    const char *stage;      /* of the call, if its thread's monitor may stop the work; else NULL */
    bool stopped;           /* by the monitor; read and written atomically */
} histo_pool_work;
void histo_pool_start(histo_pool_work *work, int count, void (*task)(void *context, int index), void *context);
void histo_pool_finish(histo_pool_work *work);

/* histo_pool_run for work that may take long, in a stage of a call, such as "counting". HISTO_CANCELLED if the calling
 * thread's monitor stopped it: some indices were then not called, and tasks have returned early. */
histo_status histo_pool_run_long(const char *stage, int count, void (*task)(void *context, int index), void *context)
    __attribute__((warn_unused_result));

/* The work of which the calling thread is running a task, if a monitor may stop it; else NULL. */
histo_pool_work *histo_pool_stoppable(void);

bool histo_pool_asks(histo_pool_work *work, int64_t some, int64_t done, int64_t all);

/* Within a task of that work: report `some` more samples or the like, with `done` of `all` done of this task (0:
 * unknown). Returns whether the task must return. Cheap enough for every block of samples. */
static inline bool histo_pool_stops(histo_pool_work *work, int64_t some, int64_t done, int64_t all)
{
    return work && histo_pool_asks(work, some, done, all);
}

/* The same for a loop that may or may not be part of a task; if it is, the task's stage applies. */
bool histo_stops(const char *stage, int64_t some, int64_t done, int64_t all);

#ifdef __cplusplus
}
#endif

#endif
