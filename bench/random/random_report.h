/* The table and the JSON of random problems, written as they are measured. */
#ifndef BENCH_RANDOM_REPORT_H
#define BENCH_RANDOM_REPORT_H

#include "bench/random/random.h"

void random_report_begin(const bench_random_options *options, const char *backend);
void random_report_problem(const bench_random_options *options, const random_verdict *v);
void random_report_end(const bench_random_options *options, const random_result *result);

#endif
