/* The reference counts of a random problem. */
#ifndef BENCH_RANDOM_CHECK_H
#define BENCH_RANDOM_CHECK_H

#include "bench/core/device.h"
#include "bench/random/random_data.h"
#include "bench/reference/reference.h"

/* The rule of a fill, with tables in host memory. on_host: for the arrays in host memory, not where fills read them.
 * Call problem_rule_free in any case. */
histo_status problem_rule_make(const problem_data *data, bool on_host, reference_rule *rule);
void problem_rule_free(reference_rule *rule);

/* Count one fill. Call reference_counts_free in any case. */
histo_status problem_counts_make(const problem_data *data, int threads, reference_counts *counts);

#endif
