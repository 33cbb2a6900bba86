/* The samples of a random problem, whatever else a fill of it needs, and its reference counts. */
#ifndef BENCH_RANDOM_DATA_H
#define BENCH_RANDOM_DATA_H

#include "bench/core/device.h"
#include "bench/random/random_problem.h"
#include "bench/reference/reference.h"

/* One array in memory: a column of samples, weights, a mask, a filter or offsets. */
typedef struct problem_array {
    void *host;         /* what was made; NULL if a device made it */
    const void *placed; /* the same bytes where fills read them; may be host */
    size_t bytes;
} problem_array;

enum { PROBLEM_WEIGHTS = HISTO_MAX_AXES, PROBLEM_MASK, PROBLEM_WHERE, PROBLEM_OFFSETS, PROBLEM_ARRAYS };

typedef struct problem_data {
    const random_problem *problem;
    const bench_device *device; /* the device that made the arrays and counts them; NULL: the host */
    histo_axis axes[HISTO_MAX_AXES];
    double *edges[HISTO_MAX_AXES];        /* of axis a, [bins + 1] */
    problem_array arrays[PROBLEM_ARRAYS]; /* the columns of a table share the first */
    double where_lo, where_hi;
    size_t bytes; /* of all arrays */
} problem_data;

/* The views of a fill, which options refer to. */
typedef struct problem_fill {
    histo_view samples[HISTO_MAX_AXES], weights, mask, where;
    histo_fill_options options;
} problem_fill;

/* Make axes, and samples in the memory of the device or, if that is NULL, of the host. HISTO_INVALID for axes that the
 * library refuses. Call problem_data_free in any case. */
histo_status problem_data_make(const random_problem *p, int threads, const bench_device *device, problem_data *data);
/* Frees the host's memory. */
void problem_data_free(problem_data *data);

/* What a fill counts. on_host: in the arrays in host memory. */
void problem_fill_make(const problem_data *data, bool on_host, problem_fill *fill);

/* The rule of a fill, with tables in host memory. on_host: for the arrays in host memory, not where fills read them.
 * Call problem_rule_free in any case. */
histo_status problem_rule_make(const problem_data *data, bool on_host, reference_rule *rule);

/* Count one fill. Call reference_counts_free in any case. */
histo_status problem_counts_make(const problem_data *data, int threads, reference_counts *counts);

#endif
