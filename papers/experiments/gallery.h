/* Every strategy on every input, side by side. All counts are compared with the oracle's. */
#ifndef BENCH_GALLERY_H
#define BENCH_GALLERY_H

#include "bench/core/options.h"
#include "bench/core/race.h"

typedef struct bench_gallery_options {
    bench_options common;         /* by default 9 timed passes, or 3 if quick; an image is counted whole */
    const int64_t *sweep_samples; /* each of these instead of common.samples */
    int sweep_samples_count;
    const int64_t *bins; /* each of these instead of the inputs' own; NULL: those */
    int bins_count;
    const char *inputs;     /* see bench_input_selected; NULL: all */
    const char *strategies; /* "name,backend/name…"; NULL: all */
    const char *params;     /* of the strategies: each combination of values, as in "copies=1,2,4" */
    const bench_photo *photos;
    int photo_count;
} bench_gallery_options;

/* The strategies of a backend on the list (NULL: all), each with every combination of params, in which a parameter may
 * have several values: "copies=1,2,4,merge=1". The caller frees them; NULL with an error message. */
bench_contender *bench_contenders_list(const char *backend, const char *strategies, const char *params, int *count);

/* Combination `which` of params as "NAME=VALUE,…", cut off at `size`; false if there are fewer. */
bool bench_combination(const char *params, int which, char *text, size_t size);

/* Print the table as it goes. *wrong: how many strategies failed or miscounted. *measured: how many inputs have
 * results, even after a failure. */
histo_status bench_gallery(const bench_gallery_options *options, int *measured, int *wrong);

#endif
