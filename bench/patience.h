/* How long measuring may go on. */
#ifndef BENCH_PATIENCE_H
#define BENCH_PATIENCE_H

#include <stdbool.h>

typedef struct bench_patience {
    double budget_s; /* nothing is begun later than this; 0: no limit */
    /* Asked before anything is begun: true ends it. May be NULL. */
    bool (*stop)(void *context);
    void *context;
} bench_patience;

/* Seconds of a clock that only goes on. */
double bench_now_s(void);

/* Is it over, for what began then? */
bool bench_patience_over(const bench_patience *patience, double begun_s);

#endif
