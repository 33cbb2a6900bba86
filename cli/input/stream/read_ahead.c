#define _GNU_SOURCE
#include "input/stream/read_ahead.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

/* Two, so that the disk always has a request while one thread is between requests. Of a larger step, the system would
 * fetch only the beginning. */
enum { THREADS = 2, STEP = 4 << 20 };

struct read_ahead {
    int fd, threads;
    pthread_t thread[THREADS];
    pthread_mutex_t lock;
    pthread_cond_t wanted;
    off_t at, end; /* requested up to here; wanted up to here */
    bool stops;
};

/* The next step: false if there will be none. */
static bool take_step(read_ahead *a, off_t *begin, off_t *end)
{
    pthread_mutex_lock(&a->lock);
    while (a->at >= a->end && !a->stops)
        pthread_cond_wait(&a->wanted, &a->lock);
    *begin = a->at;
    *end = a->end - a->at < STEP ? a->end : a->at + STEP;
    a->at = *end;
    const bool more = !a->stops;
    pthread_mutex_unlock(&a->lock);
    return more;
}

static void *ask(void *self)
{
    read_ahead *a = self;
    off_t begin, end;
    while (take_step(a, &begin, &end))
        posix_fadvise(a->fd, begin, end - begin, POSIX_FADV_WILLNEED);
    return NULL;
}

read_ahead *read_ahead_start(int fd)
{
    read_ahead *a = calloc(1, sizeof *a);
    if (!a) return NULL;
    a->fd = fd;
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->wanted, NULL);
    while (a->threads < THREADS && pthread_create(&a->thread[a->threads], NULL, ask, a) == 0)
        a->threads++;
    if (a->threads > 0) return a;
    read_ahead_stop(a);
    return NULL;
}

void read_ahead_want(read_ahead *a, off_t begin, off_t end)
{
    if (!a) return;
    pthread_mutex_lock(&a->lock);
    if (begin > a->at || end < a->at) a->at = begin;
    a->end = end;
    pthread_cond_broadcast(&a->wanted);
    pthread_mutex_unlock(&a->lock);
}

void read_ahead_stop(read_ahead *a)
{
    if (!a) return;
    pthread_mutex_lock(&a->lock);
    a->stops = true;
    pthread_cond_broadcast(&a->wanted);
    pthread_mutex_unlock(&a->lock);
    for (int t = 0; t < a->threads; t++)
        pthread_join(a->thread[t], NULL);
    pthread_cond_destroy(&a->wanted);
    pthread_mutex_destroy(&a->lock);
    free(a);
}
