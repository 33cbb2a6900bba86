/* Exploring this machine: which strategy is fastest for which samples, bins and distributions (Milic et al. 2013,
 * figure 11). What is found becomes wisdom. */
#ifndef BENCH_TUNE_H
#define BENCH_TUNE_H

#include <stdio.h>

#include "bench/inputs.h"

enum { BENCH_MAX_DISTRIBUTIONS = 8 };

typedef struct bench_distribution {
    char name[16]; /* "uniform", "distinct-4" */
    bench_kind kind;
    double shape;
} bench_distribution;

/* HISTO_INVALID for an unknown name. */
histo_status bench_distribution_parse(const char *name, bench_distribution *distribution);

/* Can inputs of this dtype be made? */
bool bench_dtype_made(histo_dtype dtype);

typedef struct bench_tune_options {
    histo_device device; /* HISTO_DEVICE_AUTO: the CPU, and the GPU if there is one */
    bool transfers;      /* samples in host memory for the GPU too, so that their way there counts */
    int threads;         /* of the CPU; 0: the default */
    int dtypes, bins, samples, distributions;
    const histo_dtype *dtype;
    const int64_t *bin, *sample; /* numbers of them, increasing */
    const bench_distribution *distribution;
    double budget_s; /* nothing is begun that would probably end later */
    /* Asked before every measurement; true: come to an end. */
    bool (*stop)(void *context);
    /* Told before every measurement. */
    void (*progress)(void *context, const char *what, int64_t done, int64_t total);
    void *context;
} bench_tune_options;

/* One kind of samples, number of bins and number of samples. Times are us[distribution * strategies + strategy], in the
 * order of histo_strategy_describe, NaN where nothing was measured. */
typedef struct bench_tuned {
    histo_dtype dtype;
    int64_t bins, samples;
    double *us;
    int best;  /* the strategy whose worst distribution is the fastest; -1: nothing was measured */
    int worst; /* the distribution that is its worst */
    double best_us;
} bench_tuned;

typedef struct bench_tuning {
    const bench_tune_options *options;
    int strategies;
    int cells; /* [dtype][bins][samples], in the order of the options */
    bench_tuned *cell;
    int64_t done, total; /* measurements; fewer than there could be if it was stopped */
    double *us;
} bench_tuning;

const bench_tuned *bench_tuning_cell(const bench_tuning *map, int dtype, int bins, int samples);

/* Measure, and remember the winner of each device as wisdom. What was measured before a failure or a stop is in the map
 * and in the wisdom too; bench_tuning_free in any case. */
histo_status bench_tune(const bench_tune_options *options, bench_tuning *map);
void bench_tuning_free(bench_tuning *map);

/* As the gallery's JSON, and the map. */
void bench_tuning_json(const bench_tuning *map, const char *command_line, FILE *to);

#endif
