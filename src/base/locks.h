/* The locks of the whole library. Each is held over a fork, so that in the child what it guards is whole and nobody has
 * it. A thread that has one takes no other. */
#ifndef BASE_LOCKS_H
#define BASE_LOCKS_H

#include <pthread.h>

extern pthread_mutex_t histo_pool_lock, histo_wisdom_lock, histo_staging_lock;

#endif
