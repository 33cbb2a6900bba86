/* The total of a histogram: all its counts, and the samples left out, of all batch entries. It is below 2^64 always, so
 * nothing that adds up counts needs to look for carries. What adds to a histogram admits the samples first. */
#ifndef PLAN_TOTAL_H
#define PLAN_TOTAL_H

#include "plan/problem.h"

/* Add counts[n] to *sum; false if that would be 2^64 or more. */
bool histo_total_add(uint64_t *sum, const uint64_t *counts, int64_t n);

histo_status histo_fail_total(void);

/* HISTO_INVALID unless counts[n] add up to less than 2^64. */
histo_status histo_total_check(const uint64_t *counts, int64_t n);

/* The total; brings everything to host memory. */
histo_status histo_total_find(const histo_accumulators *accumulators, uint64_t *total);

/* HISTO_INVALID, unless so many samples can be added. Call it once for each addition, before anything changes: it
 * raises accumulators->most. */
histo_status histo_total_admit(histo_accumulators *accumulators, uint64_t samples);

/* HISTO_INVALID, unless counts that add up to `before` can become counts that add up to `after`; likewise. */
histo_status histo_total_exchange(histo_accumulators *accumulators, uint64_t before, uint64_t after);

/* HISTO_INVALID, unless all of `from` can be added; likewise. */
histo_status histo_total_admit_all(histo_accumulators *to, const histo_accumulators *from);

#endif
