/* A call appends its work to a list and takes indices from it like any worker, so it finishes even if no worker can be
 * started or all are busy with other calls. */
#include "base/threads/pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/floats.h"
#include "base/system.h"
#include "base/threads/locks.h"
#include "base/threads/monitor.h"

static pthread_cond_t work_added = PTHREAD_COND_INITIALIZER;
static pthread_cond_t work_done = PTHREAD_COND_INITIALIZER;
static histo_pool_work *list;
static int workers;
static _Thread_local histo_pool_work *stoppable; /* the work of which this thread is running a task */

static void remove_from_list(histo_pool_work *w)
{
    histo_pool_work **link = &list;
    while (*link && *link != w)
        link = &(*link)->next;
    if (*link) *link = w->next;
}

static void run_task(histo_pool_work *w, int index)
{
    histo_pool_work *const before = stoppable;
    stoppable = w->stage ? w : NULL;
    if (!__atomic_load_n(&w->stopped, __ATOMIC_RELAXED)) w->task(w->context, index);
    stoppable = before;
}

/* Run one index of w. The caller holds the lock, and holds it again on return. */
static void run_one(histo_pool_work *w)
{
    int index = w->taken++;
    if (w->taken == w->count) remove_from_list(w);
    pthread_mutex_unlock(&histo_pool_lock);
    run_task(w, index);
    pthread_mutex_lock(&histo_pool_lock);
    if (++w->done == w->count) pthread_cond_broadcast(&work_done);
}

static void *worker(void *unused)
{
    histo_float_state_set_standard(); /* instead of the state inherited from the starting thread */
    pthread_mutex_lock(&histo_pool_lock);
    for (;;) {
        while (!list)
            pthread_cond_wait(&work_added, &histo_pool_lock);
        run_one(list);
    }
    return unused;
}

/* After fork, only the forking thread exists in the child: forget all workers and waiters. */
static void forget_in_child(void)
{
    pthread_cond_init(&work_added, NULL);
    pthread_cond_init(&work_done, NULL);
    list = NULL;
    workers = 0;
}

__attribute__((constructor)) static void install_fork_handler(void)
{
    histo_at_fork(NULL, NULL, forget_in_child);
}

static void add_workers(void *context)
{
    const int *wanted = context;
    for (; workers < *wanted; workers++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, worker, NULL) != 0) break;
        pthread_detach(thread);
    }
}

/* The caller holds the lock. */
static void start_workers(int wanted)
{
    if (workers < wanted) histo_with_signals_blocked(add_workers, &wanted);
}

/* Wake no more workers than there is work for: the others would queue up at the lock, which the busy ones need. Workers
 * that are not waiting look for work by themselves. */
static void wake_workers(int n)
{
    if (n >= workers) pthread_cond_broadcast(&work_added);
    for (; n > 0 && n < workers; n--)
        pthread_cond_signal(&work_added);
}

static void start(histo_pool_work *w)
{
    const int count = w->count;
    pthread_mutex_lock(&histo_pool_lock);
    start_workers(count - 1);
    histo_pool_work **link = &list;
    while (*link)
        link = &(*link)->next;
    *link = w;
    wake_workers(count - 1);
    pthread_mutex_unlock(&histo_pool_lock);
}

void histo_pool_start(histo_pool_work *w, int count, void (*task)(void *context, int index), void *context)
{
    *w = (histo_pool_work){.task = task, .context = context, .count = count};
    start(w);
}

/* Wait for other threads, at most until the monitor may be asked again. The caller holds the lock, and holds it again
 * on return. */
static void wait_watching(histo_pool_work *w)
{
    enum { INTERVAL_NS = 20000000, SECOND_NS = 1000000000 };
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += INTERVAL_NS;
    until.tv_sec += until.tv_nsec / SECOND_NS;
    until.tv_nsec %= SECOND_NS;
    pthread_cond_timedwait(&work_done, &histo_pool_lock, &until);
    if (w->done == w->count) return;
    pthread_mutex_unlock(&histo_pool_lock);
    histo_pool_asks(w, HISTO_MUCH_WORK, 0, 0);
    pthread_mutex_lock(&histo_pool_lock);
}

void histo_pool_finish(histo_pool_work *w)
{
    pthread_mutex_lock(&histo_pool_lock);
    while (w->taken < w->count)
        run_one(w);
    while (w->done < w->count)
        if (w->stage)
            wait_watching(w);
        else
            pthread_cond_wait(&work_done, &histo_pool_lock);
    pthread_mutex_unlock(&histo_pool_lock);
}

void histo_pool_run(int count, void (*task)(void *context, int index), void *context)
{
    if (count <= 1) {
        if (count == 1) task(context, 0);
        return;
    }
    histo_pool_work w;
    histo_pool_start(&w, count, task, context);
    histo_pool_finish(&w); /* NOLINT(clang-analyzer-core.*): run_one took w off the list */
}

histo_status histo_pool_run_long(const char *stage, int count, void (*task)(void *context, int index), void *context)
{
    if (!histo_is_monitored()) {
        histo_pool_run(count, task, context);
        return HISTO_OK;
    }
    histo_pool_work w = {.task = task, .context = context, .count = count, .stage = stage};
    if (count == 1) {
        run_task(&w, 0);
    } else if (count > 1) {
        start(&w);
        histo_pool_finish(&w);
    }
    const bool stopped = w.stopped;
    return stopped ? histo_fail_cancelled(stage) : HISTO_OK; /* NOLINT(clang-analyzer-core.*): as above */
}

histo_pool_work *histo_pool_stoppable(void)
{
    return stoppable;
}

bool histo_stops(const char *stage, int64_t some, int64_t done, int64_t all)
{
    return stoppable ? histo_pool_asks(stoppable, some, done, all) : histo_monitor_stops(stage, some, done, all);
}

/* Workers have no monitor of their own. */
bool histo_pool_asks(histo_pool_work *w, int64_t some, int64_t done, int64_t all)
{
    if (__atomic_load_n(&w->stopped, __ATOMIC_RELAXED)) return true;
    if (!histo_monitor_stops(w->stage, some, done, all)) return false;
    __atomic_store_n(&w->stopped, true, __ATOMIC_RELAXED);
    return true;
}
