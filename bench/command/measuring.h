/* A run of `histo bench`: what is measured, and where the results go: a table to the terminal, JSON to -o. */
#ifndef BENCH_MEASURING_H
#define BENCH_MEASURING_H

#include <signal.h>

#include "bench/command/settings.h"
#include "bench/core/options.h"
#include "input/readers/images/photo.h"
#include "output/outfile.h"
#include "papers/inputs/inputs.h"

typedef struct measuring {
    const bench_settings *settings;
    int count; /* of images */
    photo *photos;
    bench_photo *names;
    outfile *file;
    bench_options options;
    json_writer json;
    bool has_results; /* keep them even if a later step fails */
    /* Draws what was measured to --image; NULL: nothing to draw. */
    int (*draw)(const bench_settings *s, fault *f);
    volatile sig_atomic_t interrupted;
} measuring;

/* From here on, an interrupt ends the measurement, not the process. */
const bench_options *measuring_options(measuring *m);

/* The outcome of a run that measured so many things. */
int measuring_end(measuring *m, histo_status status, int measured, fault *f);

bool bench_path_ends_in(const char *path, const char *suffix);

/* The subjects that only the papers need, in papers/command. *wrong: how many miscounted, which is a failure, but the
 * results are kept. */
int papers_run_gallery(measuring *m, int *wrong, fault *f);
int papers_run_experiments(measuring *m, int *wrong, fault *f);
int papers_run_conflicts(measuring *m, int *wrong, fault *f);

#endif
