/* Other libraries' histograms, and the code that one would write without a library. */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

#include "axis/axis.h"
#include "bench/layout.h"

/* What is to be counted. */
typedef struct bench_task {
    const bench_input *input;
    const histo_axis *axis; /* owned; of a joint histogram all of them, as the lookups and views */
    const double *edges;    /* all bins + 1, in host memory; of a joint histogram NULL */
    const histo_lookup *lookup;
    const void *samples;               /* where fills read them: the first one counted */
    const histo_view *views;           /* the same, of each axis */
    const histo_view *mask;            /* NULL if there is none */
    const bench_arrangement *arranged; /* NULL: one array, or columns */
    const void *weights;               /* NULL if there are none */
    int64_t count, all;                /* to be counted; all that are there */
    int threads;
} bench_task;

typedef struct bench_peer {
    const char *name;
    bool weighs; /* it takes tasks with weights, too: then it sums these */
    /* Allocate what it needs; HISTO_UNSUPPORTED if it is not made for such a task. end is called in any case. */
    histo_status (*begin)(const bench_task *task, void **state);
    /* Count all samples of the task anew: what is timed. */
    histo_status (*run)(void *state, void *stream);
    /* The counts of the bins; the sums of weights in BENCH_WEIGHT_UNIT. */
    histo_status (*counts)(void *state, uint64_t *counts);
    void (*end)(void *state);
    bool arranges;    /* it may be able to count what is not one array: begin tells */
    bool finds_slots; /* it finds the occupied slots, as for a sparse histogram; others count into an array of all */
} bench_peer;

#endif
