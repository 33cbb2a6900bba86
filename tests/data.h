/* Test data: every dtype, every distribution, every kind of axis, and the oracle's oracle. */
#ifndef TESTS_DATA_H
#define TESTS_DATA_H

#include <histo/histo.h>

/* A small generator (xorshift64*), so that a failure can be repeated. */
typedef struct rng {
    uint64_t state;
} rng;
uint64_t rng_next(rng *r);
double rng_uniform(rng *r); /* [0, 1) */
int64_t rng_below(rng *r, int64_t n);

typedef enum distribution {
    UNIFORM,    /* over a little more than the axis */
    DEGENERATE, /* one value */
    TWO_VALUES,
    SEVENTEEN_VALUES,
    GAUSSIAN, /* 99 % in an eighth of the axis */
    ZIPF,
    SORTED,
    EDGES,   /* the edges themselves, and the values of the dtype next to them */
    SPECIAL, /* infinities, NaN, denormals, signed zeros, limits of the dtype, all bit patterns */
    DISTRIBUTIONS
} distribution;
const char *distribution_name(distribution d);

/* n samples of dtype, contiguous, malloc'ed. */
void *make_samples(rng *r, histo_dtype dtype, distribution d, const histo_axis *axis, int64_t n);

/* The axes that tests go through, by number; `edges` of variable ones are static. False past the last. For dtypes of
 * few bits the range is one that they reach. */
bool test_axis(int i, histo_dtype dtype, histo_axis *axis);

/* What a histogram has to be for a strategy, "backend/name", to fill it. */
histo_storage storage_for(const char *strategy);

/* A sample at any address as a long double, which holds every value of every dtype. */
long double sample_value(const void *at, histo_dtype dtype);

/* Slot of a value by comparison with the edges in long double; edges as histo_axis_edges gives them. */
int64_t slot_by_edges(long double x, const double *edges, int64_t bins, bool closed);

#endif
