/* The total of a histogram: all its counts and masked samples, over all batch entries. It is always below 2^64, so code
 * that adds up counts need not check for carries. Everything that adds to a histogram admits the samples first. */
#ifndef PLAN_TOTAL_H
#define PLAN_TOTAL_H

#include "plan/problem.h"

/* Add counts[n] to *sum; false if that would be 2^64 or more. */
bool histo_total_add(uint64_t *sum, const uint64_t *counts, int64_t n);

histo_status histo_fail_total(void);

/* HISTO_INVALID unless counts[n] add up to less than 2^64. */
histo_status histo_total_check(const uint64_t *counts, int64_t n);

/* Find the total; brings everything to host memory. */
histo_status histo_total_find(const histo_accumulators *accumulators, uint64_t *total);

/* HISTO_INVALID unless this many samples can be added. Call it once per addition, before anything changes: it raises
 * accumulators->most. */
histo_status histo_total_admit(histo_accumulators *accumulators, uint64_t samples);

/* HISTO_INVALID unless counts that sum to `before` can be replaced by counts that sum to `after`; otherwise as
 * histo_total_admit. */
histo_status histo_total_exchange(histo_accumulators *accumulators, uint64_t before, uint64_t after);

/* HISTO_INVALID unless everything in `from` can be added; otherwise as histo_total_admit. */
histo_status histo_total_admit_all(histo_accumulators *to, const histo_accumulators *from);

#endif
