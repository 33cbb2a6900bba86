/* What the sequential listings have in common: the runs of samples that they count, in either byte order. */
#ifndef PAPERS_STRATEGIES_SEQUENTIAL_RUNS_H
#define PAPERS_STRATEGIES_SEQUENTIAL_RUNS_H

#include "plan/strategy.h"

/* Count n samples of one type, `stride` bytes apart. edges: those of the axis, or NULL. */
typedef void histo_sequential_loop(const histo_lookup *lookup, const double *edges, const char *at, int64_t stride,
                                   int64_t n, uint64_t *counts);

/* Count the samples of a job, which are of one axis alone. Can only be cancelled. */
histo_status histo_sequential_count(const histo_job *job, histo_sequential_loop *loop, const double *edges);

#endif
