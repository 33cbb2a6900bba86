/* Test data: every dtype, distribution and kind of axis. */
#ifndef TESTS_DATA_H
#define TESTS_DATA_H

#include <histo/histo.h>

#include "bench/reference/slot.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A small generator (xorshift64*), so that failures are reproducible. */
typedef struct rng {
    uint64_t state;
} rng;
uint64_t rng_next(rng *r);
double rng_uniform(rng *r); /* [0, 1) */
int64_t rng_below(rng *r, int64_t n);

typedef enum distribution {
    UNIFORM,    /* over slightly more than the axis */
    DEGENERATE, /* one value */
    TWO_VALUES,
    SEVENTEEN_VALUES,
    GAUSSIAN, /* 99 % in an eighth of the axis */
    ZIPF,
    SORTED,
    EDGES,   /* the edges and the adjacent values of the dtype */
    SPECIAL, /* infinities, NaN, denormals, signed zeros, limits of the dtype, all bit patterns */
    DISTRIBUTIONS
} distribution;
const char *distribution_name(distribution d);

/* n contiguous samples of dtype, from malloc. */
void *make_samples(rng *r, histo_dtype dtype, distribution d, const histo_axis *axis, int64_t n);

/* Test axis number i; the edges of variable axes are static. False past the last. For narrow dtypes, the range is
 * within theirs. */
bool test_axis(int i, histo_dtype dtype, histo_axis *axis);

/* Set a locale whose decimal point is a comma; false if the system has none. */
bool use_decimal_comma(void);

/* The storage that a histogram needs for a strategy, "backend/name". */
histo_storage storage_for(const char *strategy);

/* Sample i of a view, in C order. */
char *sample_at(const histo_view *view, int64_t i);

/* The value of a sample at any address as a long double, which represents every value of every dtype. */
long double sample_value(const void *at, histo_dtype dtype);

#ifdef __cplusplus
}
#endif

#endif
