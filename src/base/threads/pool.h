/* A pool of worker threads, started when first needed and kept for the life of the process. Any number of threads may
 * use it at once. */
#ifndef BASE_POOL_H
#define BASE_POOL_H

#include <histo/histo.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Call task(context, 0 … count-1), each index once, on up to count threads including the caller's; return when all
 * calls have returned. */
void histo_pool_run(int count, void (*task)(void *context, int index), void *context);

/* histo_pool_run in two parts: workers begin at the start; the caller joins them in histo_pool_finish, which every
 * start needs. Work is done in the order in which it was started. */
typedef struct histo_pool_work {
    struct histo_pool_work *next;
    void (*task)(void *context, int index);
    void *context;
    int count, taken, done; /* number of indices: in all, taken by a thread, done */
    const char *stage;      /* of the call, if its thread's monitor may stop the work; else NULL */
    bool stopped;           /* by the monitor; read and written atomically */
} histo_pool_work;
void histo_pool_start(histo_pool_work *work, int count, void (*task)(void *context, int index), void *context);
void histo_pool_finish(histo_pool_work *work);

/* histo_pool_run for work that may take long, in a stage of a call: "counting". HISTO_CANCELLED if the monitor of the
 * calling thread stopped it: then some indices were not called, and tasks have returned early. */
histo_status histo_pool_run_long(const char *stage, int count, void (*task)(void *context, int index), void *context)
    __attribute__((warn_unused_result));

/* The work of which the calling thread runs a task, if a monitor may stop it; else NULL. */
histo_pool_work *histo_pool_stoppable(void);

bool histo_pool_asks(histo_pool_work *work, int64_t some, int64_t done, int64_t all);

/* In a task of that work, after `some` more samples or the like, with `done` of `all` that this task is to do (0:
 * unknown): whether it must return. Cheap enough for each block of samples. */
static inline bool histo_pool_stops(histo_pool_work *work, int64_t some, int64_t done, int64_t all)
{
    return work && histo_pool_asks(work, some, done, all);
}

/* The same in a loop that may be part of a task, whose stage it then has, or not. */
bool histo_stops(const char *stage, int64_t some, int64_t done, int64_t all);

#ifdef __cplusplus
}
#endif

#endif
