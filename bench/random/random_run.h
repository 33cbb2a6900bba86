/* Measuring one random problem: the plan, every other strategy and all peers take turns. */
#ifndef BENCH_RANDOM_RUN_H
#define BENCH_RANDOM_RUN_H

#include "bench/random/random.h"

/* *v says what was found, also after a failure. roofs: by place, measured when first needed. Fails only if the device
 * does, or if the machine cannot measure at all. */
histo_status random_run(const bench_random_options *options, random_roof roofs[PROBLEM_PLACES], const random_problem *p,
                        random_verdict *v);

#endif
