/* Peers: other libraries' histograms, and the code one would write without a library. */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

#include "axis/axis.h"
#include "bench/core/layout.h"

/* What a peer counts. */
typedef struct bench_task {
    const bench_input *input;
    const histo_axis *axis;            /* owned; of a joint histogram all axes, like views */
    const double *edges;               /* [bins + 1] in host memory; NULL for a joint histogram */
    const void *samples;               /* the first one counted, where fills read them */
    const histo_view *views;           /* of each axis */
    const histo_view *mask;            /* NULL if there is none */
    const bench_arrangement *arranged; /* NULL: one array, or columns */
    const void *weights;               /* NULL if there are none */
    int64_t count;                     /* samples of each axis */
    int threads;
} bench_task;

typedef struct bench_peer {
    const char *name;
    bool weighs; /* takes tasks with weights, and sums these */
    /* Allocate what it needs; HISTO_UNSUPPORTED if it does not do such tasks. end is called in any case. */
    histo_status (*begin)(const bench_task *task, void **state);
    /* Count all samples of the task from zero. This is timed. */
    histo_status (*run)(void *state, void *stream);
    /* The counts of the bins, or the sums of weights in BENCH_WEIGHT_UNIT. */
    histo_status (*counts)(void *state, uint64_t *counts);
    void (*end)(void *state);
    bool arranges;    /* may count layouts other than one array: begin decides */
    bool finds_slots; /* finds the occupied slots, as a sparse histogram does; others count into an array of all */
    bool loop;        /* what one would write without a library; random problems have such a loop of their own */
} bench_peer;

/* HISTO_UNSUPPORTED if the peer does not do such tasks. If there is a state, end it in any case. */
histo_status bench_peer_begin(const bench_peer *peer, const bench_task *task, void **state);

/* The naive loop, which strategies have to beat; for each type a subtraction and a multiplication, or a binary search,
 * and an increment per sample. With equal bins it ignores the edges, as such code does. */
extern const bench_peer bench_naive;

/* Peers in Python, which need HISTO_BENCH_PYTHON to name one that has their package. */
extern const bench_peer bench_numpy, bench_boost_histogram, bench_fast_histogram, bench_opencv, bench_numpy_unique;

#endif
