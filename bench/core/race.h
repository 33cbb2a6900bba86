/* A race on one input: strategies, the plan's choice, peers and the read roof take turns on the same samples, so that
 * disturbances affect all of them. The median of each counts. */
#ifndef BENCH_RACE_H
#define BENCH_RACE_H

#include "bench/core/device.h"
#include "bench/core/times.h"

typedef enum bench_outcome {
    BENCH_EXACT = 0,
    BENCH_REFUSED, /* unsupported */
    BENCH_FAILED,  /* supported, but failed */
    BENCH_WRONG,   /* other counts than the oracle's */
    BENCH_SLOW,    /* given up: hopelessly slower than the fastest strategy */
} bench_outcome;

typedef enum bench_entry { BENCH_STRATEGY, BENCH_PLAN, BENCH_PEER } bench_entry;

/* One entry of a race. Slow ones get shorter passes. */
typedef struct bench_score {
    bench_entry entry;
    char name[64];   /* "cpu/privatized"; of a plan, the strategy chosen */
    char params[96]; /* of a strategy: "copies=4"; else "" */
    bench_outcome outcome;
    char reason[512];  /* unless exact */
    char note[256];    /* what a strategy tells about its fills, if a parameter asks for it */
    int64_t samples;   /* of its pass */
    int64_t misplaced; /* of these, how many a peer put into the wrong bin */
    bench_times times; /* of a pass over the input */
} bench_score;

typedef struct bench_result {
    const bench_input *input;
    int64_t samples, fills; /* of a whole pass of `fills` fills */
    int64_t bytes;          /* read: samples, masks and weights */
    int threads;
    bench_times roof,
        roof_one_thread; /* reading the same samples; one_thread has no passes where it would be the same */
    int scores;
    bench_score *score;
    const bench_score *best, *best_peer; /* strategy and peer; NULL: none is exact */
    const bench_score *plan;             /* its choice, exact or not; NULL: it was not asked */
} bench_result;

/* A strategy with parameters, the plan's choice, or a peer. */
typedef struct bench_contender {
    char name[64]; /* "cuda/packed_atomic"; "plan" */
    char params[96];
    const struct bench_peer *peer; /* NULL: a strategy or a plan */
} bench_contender;

typedef struct bench_race {
    const bench_device *device;
    const bench_input *input;
    int64_t samples, bytes; /* wanted; 0: set by the other, or by the device's default */
    int repeat;             /* timed passes */
    double budget_us;       /* for all passes of one entry */
    int threads;            /* on the CPU; 0: the default */
    double hopeless;        /* give up strategies that are this many times slower than the fastest; 0: none */
    const bench_contender *contenders; /* the scores are in their order; NULL: all strategies of the device */
    int contender_count;
    bool plan, peers; /* race, too */
} bench_race;

/* Free the result with bench_result_free, also after a failure. */
histo_status bench_race_run(const bench_race *race, bench_result *result);
void bench_result_free(bench_result *result);

/* The shortest time to read the samples: with one thread, where more are slower. */
double bench_roof_us(const bench_result *result);
/* Samples per microsecond, and per cent of what the read roof allows. */
double bench_rate(const bench_score *score);
double bench_percent(const bench_result *result, const bench_score *score);

#endif
