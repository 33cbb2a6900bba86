/* Exact fixed-point sums of samples and of their squares. */
#ifndef CPU_POWER_SUMS_H
#define CPU_POWER_SUMS_H

#include <histo/histo.h>

/* value * 2^exponent */
typedef struct histo_term {
    int64_t value;
    int exponent;
} histo_term;

enum { HISTO_SUM_TERMS = 3, HISTO_SQUARE_TERMS = 5, HISTO_SUMMED_BLOCK = 2048 };

/* The sums are the sums of their terms; unused terms are zero. */
typedef struct histo_block_sums {
    histo_term sum[HISTO_SUM_TERMS], squares[HISTO_SQUARE_TERMS];
} histo_block_sums;

/* Sum at most HISTO_SUMMED_BLOCK aligned samples: integers of at most 32 bits, f32 or f64. Floats are finite, and
 * `most` > 0 is their largest magnitude. False if they span too many powers of two. */
typedef bool histo_sum_block_fn(histo_dtype dtype, const void *samples, int n, double most, histo_block_sums *found);

#endif
