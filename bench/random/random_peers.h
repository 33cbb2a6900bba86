/* The peers of a random problem: those of a race, which count one array, interleaved 8-bit channels, or columns of one
 * type; and the loop that one would write for this problem without a library. */
#ifndef BENCH_RANDOM_PEERS_H
#define BENCH_RANDOM_PEERS_H

#include "bench/peers/peer.h"
#include "bench/random/random_data.h"
#include "bench/random/random_sample.h"

/* A task refers to the other members and to data. */
typedef struct problem_task {
    bench_input input;
    bench_arrangement arranged;
    problem_fill fill;
    bench_task task;
} problem_task;

/* False if the problem cannot be described as a task. */
bool problem_task_make(const problem_data *data, int threads, problem_task *to);

/* Additions in a GPU's memory that follow the strides. HISTO_UNSUPPORTED if they cannot count the problem. If there is
 * a state, end it in any case. */
histo_status problem_atomics_begin(const problem_data *data, const random_device *device, void **state);

/* The naive loop runs on one thread, ignores underflow, overflow and NaN, and computes equal bins without their edges.
 * HISTO_UNSUPPORTED for sparse histograms. If there is one, destroy it in any case. */
histo_status problem_naive_create(const problem_data *data, void **naive);
void problem_naive_destroy(void *naive);

/* Count all samples, in addition to those of earlier calls: bench_work. */
histo_status problem_naive_run(void *naive, void *stream);

#endif
