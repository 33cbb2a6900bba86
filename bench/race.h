/* A race on one input: strategies, the plan's own choice and other libraries' code count the same samples in turn, and
 * so does plain reading, so that what slows the machine down slows all of them. The median of each counts. */
#ifndef BENCH_RACE_H
#define BENCH_RACE_H

#include "bench/device.h"

enum { BENCH_MAX_REPEATS = 101 };

/* Times of one pass over an input, in microseconds. */
typedef struct bench_times {
    int passes;
    double us[BENCH_MAX_REPEATS]; /* in order of size, once they are all there */
} bench_times;

typedef enum bench_outcome {
    BENCH_EXACT = 0,
    BENCH_REFUSED, /* it cannot do this */
    BENCH_FAILED,  /* it should have */
    BENCH_WRONG,   /* other counts than the oracle's */
    BENCH_SLOW,    /* so much slower than the best strategy that it was given up */
} bench_outcome;

typedef enum bench_entry { BENCH_STRATEGY, BENCH_PLAN, BENCH_PEER } bench_entry;

/* One entry of a race. A slow one gets a shorter pass: fewer samples. */
typedef struct bench_score {
    bench_entry entry;
    char name[64]; /* "cpu/privatized": of a plan, the strategy that it chose */
    bench_outcome outcome;
    char reason[512];  /* unless exact */
    int64_t samples;   /* of its pass */
    int64_t misplaced; /* of these, by a peer: in another bin than the edges say */
    bench_times times;
} bench_score;

typedef struct bench_result {
    const bench_input *input;
    int64_t samples, fills; /* of a whole pass, which fills this many times */
    int64_t bytes;          /* that it reads: of samples, masks and weights */
    int threads;
    bench_times roof, roof_one_thread; /* reading the same samples; the latter has no passes where it is the same */
    int scores;
    bench_score *score;
    const bench_score *best; /* strategy, or NULL */
} bench_result;

typedef struct bench_race {
    const bench_device *device;
    const bench_input *input;
    int64_t samples, bytes; /* wanted; 0: the other one, or the device's default bytes */
    int repeat;             /* timed passes */
    double budget_us;       /* for all passes of one entry */
    int threads;            /* on the CPU; 0: the default */
    double hopeless;        /* give strategies up that are so many times slower than the best; 0: none */
    const char *strategies; /* "name,backend/name…"; NULL: all */
    const char *params;     /* of the strategies */
    bool plan, peers;       /* let them race too */
} bench_race;

/* Free with bench_result_free, also after a failure. */
histo_status bench_race_run(const bench_race *race, bench_result *result);
void bench_result_free(bench_result *result);

double bench_median(const bench_times *times);
/* The least time in which the samples can be read: by one thread, if others only get in its way. */
double bench_roof_us(const bench_result *result);
/* Samples per microsecond, and per cent of what the read roof allows. */
double bench_rate(const bench_score *score);
double bench_percent(const bench_result *result, const bench_score *score);

#endif
