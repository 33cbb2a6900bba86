/* What calls take that count few samples: the overhead of a call, beside a plain loop, and of reading many counts. */
#ifndef BENCH_CALLS_H
#define BENCH_CALLS_H

#include <histo/histo.h>
#include <stdio.h>

#include "bench/core/time_budget.h"

typedef struct bench_calls_options {
    int repeat; /* times that each call is timed; 0: the default */
    FILE *table, *json;
    const char *command_line;
    bench_patience patience;
} bench_calls_options;

/* Print a table of the processor's time in nanoseconds, the least of several times. *measured and *wrong: the calls
 * measured, and those that miscounted. */
histo_status bench_calls(const bench_calls_options *options, int *measured, int *wrong);

#endif
