#include "base/locks.h"

pthread_mutex_t histo_pool_lock = PTHREAD_MUTEX_INITIALIZER, histo_wisdom_lock = PTHREAD_MUTEX_INITIALIZER;

static void lock_all(void)
{
    pthread_mutex_lock(&histo_pool_lock);
    pthread_mutex_lock(&histo_wisdom_lock);
}

static void unlock_all(void)
{
    pthread_mutex_unlock(&histo_wisdom_lock);
    pthread_mutex_unlock(&histo_pool_lock);
}

/* When the library is loaded: before any call can take a lock. */
__attribute__((constructor)) static void install_fork_handlers(void)
{
    pthread_atfork(lock_all, unlock_all, unlock_all);
}
