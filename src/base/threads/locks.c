#include "base/threads/locks.h"

#include "base/system.h"

pthread_mutex_t histo_pool_lock = PTHREAD_MUTEX_INITIALIZER, histo_wisdom_lock = PTHREAD_MUTEX_INITIALIZER,
                histo_staging_lock = PTHREAD_MUTEX_INITIALIZER, histo_compile_lock = PTHREAD_MUTEX_INITIALIZER,
                histo_device_memory_lock = PTHREAD_MUTEX_INITIALIZER;

static pthread_mutex_t *const locks[] = {&histo_pool_lock, &histo_wisdom_lock, &histo_staging_lock, &histo_compile_lock,
                                         &histo_device_memory_lock};
enum { LOCKS = sizeof locks / sizeof locks[0] };

static void lock_all(void)
{
    for (int l = 0; l < LOCKS; l++)
        pthread_mutex_lock(locks[l]);
}

static void unlock_all(void)
{
    for (int l = LOCKS - 1; l >= 0; l--)
        pthread_mutex_unlock(locks[l]);
}

/* Runs at load time, before any call can take a lock. */
__attribute__((constructor)) static void install_fork_handlers(void)
{
    histo_at_fork(lock_all, unlock_all, unlock_all);
}
