/* Every strategy on every input, side by side. All counts are compared with the oracle's. */
#ifndef BENCH_GALLERY_H
#define BENCH_GALLERY_H

#include <stdio.h>

#include "bench/core/race.h"
#include "bench/core/time_budget.h"

typedef struct bench_gallery_options {
    histo_device device;
    const int64_t *sweep_samples; /* instead: each of these */
    int sweep_samples_count;
    const int64_t *bins; /* each of these instead of the inputs' own; NULL: those */
    int bins_count;
    int64_t samples, bytes; /* of an input, at least one image; 0: set by the other, or by the device's default */
    bool quick;             /* fewer samples, fewer repetitions, less time */
    int repeat;             /* timed passes; 0: 9, or 3 if quick */
    int threads;            /* on the CPU; 0: the default */
    const char *inputs;     /* see bench_input_selected; NULL: all */
    const char *strategies; /* "name,backend/name…"; NULL: all */
    const char *params;     /* of the strategies: each combination of values, as in "copies=1,2,4" */
    const bench_photo *photos;
    int photo_count;
    FILE *table, *json;       /* json may be NULL */
    const char *command_line; /* for json */
    bench_patience patience;
} bench_gallery_options;

/* Print the table as it goes. *wrong: how many strategies failed or miscounted. *measured: how many inputs have
 * results, even after a failure. */
histo_status bench_gallery(const bench_gallery_options *options, int *measured, int *wrong);

#endif
