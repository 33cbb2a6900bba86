/* Every strategy on every input, side by side: rates, and counts that must equal the oracle's. */
#ifndef BENCH_GALLERY_H
#define BENCH_GALLERY_H

#include <stdio.h>

#include "bench/inputs.h"

enum { BENCH_MOST_REPEATS = 101 };

typedef struct bench_gallery_options {
    histo_device device;
    int64_t samples;        /* of an input; 0: as many as the device's usual bytes, at least one image */
    bool quick;             /* fewer samples, fewer repetitions, less time */
    int repeat;             /* timed passes; 0: 9, or 3 if quick */
    int threads;            /* on the CPU; 0: as usual */
    const char *inputs;     /* see bench_input_selected; NULL: all */
    const char *strategies; /* "name,backend/name…"; NULL: all */
    const char *params;     /* of the strategies */
    const bench_photo *photos;
    int photo_count;
    FILE *table, *json;       /* json may be NULL */
    const char *command_line; /* for json */
} bench_gallery_options;

/* Times of one pass over an input, in microseconds. */
typedef struct bench_times {
    int passes;
    double us[BENCH_MOST_REPEATS]; /* in order of size, once they are all there */
} bench_times;

typedef enum bench_outcome {
    BENCH_EXACT = 0,
    BENCH_REFUSED, /* the strategy cannot do this */
    BENCH_FAILED,  /* it should have */
    BENCH_WRONG,   /* other counts than the oracle's */
} bench_outcome;

/* One strategy on one input. A slow one gets a shorter pass: fewer samples. */
typedef struct bench_cell {
    char name[64]; /* "cpu/privatized" */
    bench_outcome outcome;
    char reason[512]; /* unless exact */
    int64_t samples;  /* of its pass */
    bench_times times;
} bench_cell;

typedef struct bench_result {
    const bench_input *input;
    int64_t samples, fills; /* of a whole pass, which fills this many times */
    int threads;
    bench_times roof, roof_one_thread; /* reading the same samples; the latter has no passes where it is the same */
    int cells;
    bench_cell *cell;
    const bench_cell *best; /* or NULL */
} bench_result;

double bench_median(const bench_times *times);
/* The least time in which the samples can be read: by one thread, if others only get in its way. */
double bench_roof_us(const bench_result *result);
/* Samples per microsecond, and per cent of what the read roof allows. */
double bench_rate(const bench_cell *cell);
double bench_percent(const bench_result *result, const bench_cell *cell);

/* Run it, and write the table as it goes. *wrong: strategies that failed or counted differently. */
histo_status bench_gallery(const bench_gallery_options *options, int *wrong);

#endif
