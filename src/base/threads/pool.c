/* A call appends its work to a list and takes indices from it like any worker, so it finishes even if no worker can be
 * started or all are busy with other calls. */
#include "base/threads/pool.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/floats.h"
#include "base/system.h"
#include "base/threads/locks.h"

static pthread_cond_t work_added = PTHREAD_COND_INITIALIZER;
static pthread_cond_t work_done = PTHREAD_COND_INITIALIZER;
static histo_pool_work *list;
static int workers;

static void remove_from_list(histo_pool_work *w)
{
    histo_pool_work **link = &list;
    while (*link && *link != w)
        link = &(*link)->next;
    if (*link) *link = w->next;
}

/* Run one index of w. The caller holds the lock, and holds it again on return. */
static void run_one(histo_pool_work *w)
{
    int index = w->taken++;
    if (w->taken == w->count) remove_from_list(w);
    pthread_mutex_unlock(&histo_pool_lock);
    w->task(w->context, index);
    pthread_mutex_lock(&histo_pool_lock);
    if (++w->done == w->count) pthread_cond_broadcast(&work_done);
}

static void *worker(void *unused)
{
    histo_float_state_set_standard(); /* not what the thread that started this one had */
    pthread_mutex_lock(&histo_pool_lock);
    for (;;) {
        while (!list)
            pthread_cond_wait(&work_added, &histo_pool_lock);
        run_one(list);
    }
    return unused;
}

/* After fork only the forking thread exists in the child: there are no workers and no waiters. */
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

/* No more than there is work for: all others would queue up at the lock, which the busy ones need. Workers that are not
 * waiting look for work by themselves. */
static void wake_workers(int n)
{
    if (n >= workers) pthread_cond_broadcast(&work_added);
    for (; n > 0 && n < workers; n--)
        pthread_cond_signal(&work_added);
}

void histo_pool_start(histo_pool_work *w, int count, void (*task)(void *context, int index), void *context)
{
    *w = (histo_pool_work){.task = task, .context = context, .count = count};
    pthread_mutex_lock(&histo_pool_lock);
    start_workers(count - 1);
    histo_pool_work **link = &list;
    while (*link)
        link = &(*link)->next;
    *link = w;
    wake_workers(count - 1);
    pthread_mutex_unlock(&histo_pool_lock);
}

void histo_pool_finish(histo_pool_work *w)
{
    pthread_mutex_lock(&histo_pool_lock);
    while (w->taken < w->count)
        run_one(w);
    while (w->done < w->count)
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
    histo_pool_finish(&w);
}
