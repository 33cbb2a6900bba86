/* All locks of the library. Each is held across fork(), so that in the child the data that it guards is consistent and
 * the lock is free. A thread never holds two of them. */
#ifndef BASE_LOCKS_H
#define BASE_LOCKS_H

#include <pthread.h>

#ifdef __cplusplus
extern "C" {
#endif

extern pthread_mutex_t histo_pool_lock, histo_wisdom_lock, histo_staging_lock, histo_compile_lock,
    histo_device_memory_lock;

#ifdef __cplusplus
}
#endif

#endif
