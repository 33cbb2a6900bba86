/* Exploring this machine: which strategy is the fastest for which samples, bins and distributions (Milic et al. 2013,
 * figure 11). The winners become wisdom. */
#ifndef BENCH_TUNE_H
#define BENCH_TUNE_H

#include <stdio.h>

#include "bench/core/options.h"
#include "papers/inputs/inputs.h"

enum { BENCH_MAX_DISTRIBUTIONS = 8 };

typedef struct bench_tune_options {
    histo_device device; /* HISTO_DEVICE_AUTO: the CPU, and the GPU if there is one */
    bool transfers;      /* samples start in host memory, and copying them to the GPU counts */
    int threads;         /* of the CPU; 0: the default */
    bool vary;           /* also measure other parameters of the fastest strategy */
    int dtypes, bins, samples, distributions;
    histo_dtype dtype[HISTO_DTYPE_COUNT];
    int64_t bin[BENCH_MAX_LISTED], sample[BENCH_MAX_LISTED]; /* increasing */
    bench_distribution distribution[BENCH_MAX_DISTRIBUTIONS];
    bench_time_budget budget; /* start nothing that would probably end later */
    /* Called before every measurement, with the context of the budget. */
    void (*progress)(void *context, const char *what, int64_t done, int64_t total);
} bench_tune_options;

/* One dtype, number of bins and number of samples. Times are us[distribution * strategies + strategy] in the order of
 * histo_strategy_describe; NaN: not measured. */
typedef struct bench_tuned {
    histo_dtype dtype;
    int64_t bins, samples;
    double *us;
    int64_t *params; /* with which each was measured, in the same order */
    int best;        /* the strategy with the fastest worst case over the distributions; -1: none */
    int worst;       /* its worst distribution */
    double best_us;
} bench_tuned;

typedef struct bench_tuning {
    const bench_tune_options *options;
    int strategies;
    int cells; /* [dtype][bins][samples], in the order of the options */
    bench_tuned *cell;
    int64_t done, total; /* measurements; done < total after a stop */
    double *us;
    int64_t *params;
} bench_tuning;

bench_tuned *bench_tuning_cell(const bench_tuning *map, int dtype, int bins, int samples);

/* Measure, and remember the winner of each device as wisdom. After a failure or a stop, map and wisdom hold what was
 * measured. Call bench_tuning_free in any case. */
histo_status bench_tune(const bench_tune_options *options, bench_tuning *map);
void bench_tuning_free(bench_tuning *map);

/* Write all times in the JSON of the gallery, and the map. */
void bench_tuning_json(const bench_tuning *map, const char *command_line, FILE *to);

#endif
