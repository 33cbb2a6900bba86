#include "ahead.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

struct read_ahead {
    byte_source source;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool busy, ending; /* guarded by the lock, as is the rest */
    void *buffer;
    size_t size;
    int64_t got;
    fault failure;
};

static void *serve(void *context)
{
    read_ahead *a = context;
    pthread_mutex_lock(&a->lock);
    while (!a->ending) {
        if (!a->busy) {
            pthread_cond_wait(&a->changed, &a->lock);
            continue;
        }
        pthread_mutex_unlock(&a->lock);
        fault failure = {0};
        int64_t got = byte_source_read_full(&a->source, a->buffer, a->size, &failure);
        pthread_mutex_lock(&a->lock);
        a->got = got;
        a->failure = failure;
        a->busy = false;
        pthread_cond_broadcast(&a->changed);
    }
    pthread_mutex_unlock(&a->lock);
    return NULL;
}

/* The thread takes no signals: those are the command's. */
read_ahead *read_ahead_new(const byte_source *source)
{
    sigset_t all, before;
    read_ahead *a = calloc(1, sizeof *a);
    if (!a) return NULL;
    a->source = *source;
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->changed, NULL);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool made = pthread_create(&a->thread, NULL, serve, a) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (made) return a;
    free(a);
    return NULL;
}

void read_ahead_start(read_ahead *a, void *buffer, size_t size)
{
    pthread_mutex_lock(&a->lock);
    a->buffer = buffer;
    a->size = size;
    a->busy = true;
    pthread_cond_broadcast(&a->changed);
    pthread_mutex_unlock(&a->lock);
}

int64_t read_ahead_finish(read_ahead *a, fault *f)
{
    pthread_mutex_lock(&a->lock);
    while (a->busy)
        pthread_cond_wait(&a->changed, &a->lock);
    int64_t got = a->got;
    if (got < 0) fault_set(f, a->failure.status, "%s", a->failure.text);
    pthread_mutex_unlock(&a->lock);
    return got;
}

void read_ahead_free(read_ahead *a)
{
    if (!a) return;
    pthread_mutex_lock(&a->lock);
    a->ending = true;
    pthread_cond_broadcast(&a->changed);
    pthread_mutex_unlock(&a->lock);
    pthread_join(a->thread, NULL);
    pthread_cond_destroy(&a->changed);
    pthread_mutex_destroy(&a->lock);
    free(a);
}
