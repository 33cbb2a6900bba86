/* A pool of worker threads, started when first needed and kept for the life of the process. Any number of threads may
 * use it at once. */
#ifndef BASE_POOL_H
#define BASE_POOL_H

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
} histo_pool_work;
void histo_pool_start(histo_pool_work *work, int count, void (*task)(void *context, int index), void *context);
void histo_pool_finish(histo_pool_work *work);

#ifdef __cplusplus
}
#endif

#endif
