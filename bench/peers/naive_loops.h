/* The loops that one would write without a library, for each type: an increment for each sample. With equal bins they
 * ignore the edges, as such code does, and samples outside are left out. */
#ifndef BENCH_NAIVE_LOOPS_H
#define BENCH_NAIVE_LOOPS_H

#include <histo/histo.h>

typedef struct naive_bins {
    enum { NAIVE_BYTE, NAIVE_SUBTRACTING, NAIVE_MULTIPLYING, NAIVE_SEARCHING } how; /* a sample's bin is found */
    int64_t bins;
    double lo, hi, scale;
    const double *edges;
} naive_bins;

/* How samples of this type find their bins, by edges [bins + 1]. */
naive_bins naive_bins_of(const histo_axis *axis, const double *edges, histo_dtype dtype);

typedef struct naive_loop {
    void (*count)(const naive_bins *b, const char *at, int64_t stride, int64_t n, uint64_t *counts);
    /* bins[i] = bins[i] * b->bins + the bin of sample i; negative outside. */
    void (*index)(const naive_bins *b, const char *at, int64_t stride, int64_t n, int64_t *bins);
    void (*widen)(const char *at, int64_t stride, int64_t n, double *widened);
} naive_loop;

extern const naive_loop naive_loops[HISTO_DTYPE_COUNT];

#endif
