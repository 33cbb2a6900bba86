/* What every benchmark is asked: where and how long to measure, and where the results go. */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include <histo/histo.h>

#include "bench/core/json.h"

typedef struct bench_time_budget {
    double seconds; /* start nothing after this; 0: no limit */
    /* Asked before each start: true ends the run. May be NULL. */
    bool (*stop)(void *context);
    void *context;
} bench_time_budget;

typedef struct bench_options {
    histo_device device;
    int64_t samples, bytes; /* of one measurement; 0: set by the other, or by the benchmark's default */
    int repeat;             /* timed passes; 0: the benchmark's default */
    int threads;            /* on the CPU; 0: the default */
    bool quick;             /* less of everything */
    FILE *table;
    json_writer *json;        /* may be NULL */
    const char *command_line; /* for json */
    bench_time_budget budget;
} bench_options;

enum { BENCH_MAX_LISTED = 64 }; /* numbers of a list */

/* The next item of an option's list, cut off at `size`; false at the end. */
bool bench_next_item(const char **list, char divider, char *item, size_t size);

/* The part of a name behind its slash, "privatized" of "cpu/privatized"; all of others. */
const char *bench_bare_name(const char *name);

/* Seconds of a monotonic clock; microseconds of the processor, for this process. */
double bench_now_s(void);
double bench_processor_us(void);

/* True if a run that began then must start nothing more. */
bool bench_is_over(const bench_time_budget *budget, double begun_s);

#endif
