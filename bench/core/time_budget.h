/* How long to go on measuring. */
#ifndef BENCH_PATIENCE_H
#define BENCH_PATIENCE_H

#include <stdbool.h>

typedef struct bench_patience {
    double budget_s; /* start nothing after this; 0: no limit */
    /* Asked before each start: true ends the run. May be NULL. */
    bool (*stop)(void *context);
    void *context;
} bench_patience;

/* Seconds of a monotonic clock. */
double bench_now_s(void);

/* Is it time to end a run that began then? */
bool bench_patience_over(const bench_patience *patience, double begun_s);

#endif
