/* `histo bench random`: random problems. Each is checked against a reference count, and compared with its bound, the
 * best peer and the best strategy. */
#ifndef BENCH_RANDOM_H
#define BENCH_RANDOM_H

#include "bench/core/options.h"
#include "bench/random/random_roof.h"
#include "bench/random/random_verdict.h"

typedef struct bench_random_options {
    /* By default at most 2^22 samples on a CPU and 2^30 on a GPU, in 7 passes, or in 3 if quick, which also leaves out
     * other strategies than the plan's. Slow fills have fewer passes. */
    bench_options common;
    uint64_t seed;
    int64_t count;       /* problems; 0: 100 */
    const char *only;    /* see problem_filter_check; NULL: all */
    const char *line;    /* of the only problem; NULL: draw them */
    histo_effort effort; /* of all plans */
} bench_random_options;

typedef struct random_result {
    int count, wrong, skipped;
    random_verdict *verdict;
    random_roof roof[PROBLEM_PLACES];
    double seconds;
} random_result;

/* Print as it goes. *result holds what was measured also after a failure; free it with random_result_free. */
histo_status bench_random(const bench_random_options *options, random_result *result);
void random_result_free(random_result *result);

#endif
