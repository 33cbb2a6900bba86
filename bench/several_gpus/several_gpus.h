/* Several GPUs of one host: how counting scales with their number, and what their links to host memory allow. */
#ifndef BENCH_MACHINES_H
#define BENCH_MACHINES_H

#include <histo/histo.h>
#include <stdio.h>

#include "bench/core/time_budget.h"

typedef struct bench_machines_options {
    int64_t bytes; /* of samples for each GPU; 0: 4 GiB, or 2 GiB of host memory */
    int repeat;    /* runs of each row, whose median counts; 0: the default */
    FILE *table, *json;
    const char *command_line;
    bench_patience patience;
} bench_machines_options;

/* Print tables. *measured and *wrong: the rows measured, and those that miscounted. */
histo_status bench_machines(const bench_machines_options *options, int *measured, int *wrong);

#endif
