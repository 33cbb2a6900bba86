/* Services of the backend for its strategies: data prepared for a plan, memory, threads. */
#ifndef CPU_BACKEND_H
#define CPU_BACKEND_H

#include "cpu/samples/spans.h"
#include "plan/strategy.h"

/* Data that the backend prepares for a plan. */
typedef struct histo_cpu_prepared {
    histo_spans spans[HISTO_MAX_AXES]; /* for lookups by search without a table; zero for others */
} histo_cpu_prepared;

/* Allocate a multiple of 64 bytes, 64-byte aligned; free with histo_free(); NULL if out of memory. Large allocations
 * use huge pages where available: random increments miss the TLB less often, and there are fewer page faults. */
void *histo_cpu_allocate(size_t bytes);

/* Call count(job, 0 … threads-1, threads) on the thread pool and return when all calls have returned; the monitor may
 * stop them (histo_pool_run_long). */
histo_status histo_run_ranges(const histo_job *job, int threads,
                              void (*count)(const histo_job *job, int index, int threads))
    __attribute__((warn_unused_result));

#endif
