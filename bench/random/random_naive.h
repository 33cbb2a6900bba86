/* The loop that one would write for a random problem without a library. It runs on one thread, ignores underflow,
 * overflow and NaN, and computes equal bins without their edges. */
#ifndef BENCH_RANDOM_NAIVE_H
#define BENCH_RANDOM_NAIVE_H

#include "bench/random/random_data.h"

typedef struct problem_naive problem_naive;

/* HISTO_UNSUPPORTED for sparse histograms. Destroy it in any case. */
histo_status problem_naive_create(const problem_data *data, problem_naive **naive);
void problem_naive_destroy(problem_naive *naive);

/* Count all samples, in addition to those of earlier calls: bench_work. */
histo_status problem_naive_run(void *naive, void *stream);

#endif
