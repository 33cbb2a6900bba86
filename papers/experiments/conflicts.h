/* Bank conflicts of an image, as in table 4.2 of Ross 2014. */
#ifndef BENCH_CONFLICTS_H
#define BENCH_CONFLICTS_H

#include <histo/histo.h>

#include "bench/core/json.h"

enum { BENCH_LANES = 32, BENCH_BANKS = 32 };

/* A warp counts 32 neighbouring samples at once, each in the counter of its value. Counters lie in 32-bit words; word w
 * is in bank w mod 32. Additions to one bank, including those to one counter, are serialized, so a warp takes as many
 * turns as its fullest bank has samples: 1 to 32, its degree. */
typedef struct bench_conflicts {
    int64_t warps;
    int64_t of_degree[BENCH_LANES + 1];
    double mean, deviation; /* of the degrees */
} bench_conflicts;

/* n samples of u8 or u16; an incomplete last warp is skipped. counters_per_word: 1 for plain 32-bit counters, 4 for
 * packed 8-bit ones, 8 for 4-bit ones. */
histo_status bench_conflicts_count(const void *samples, histo_dtype dtype, int64_t n, unsigned counters_per_word,
                                   bench_conflicts *conflicts);

/* The fraction of warps whose degree is min … max. */
double bench_conflicts_fraction(const bench_conflicts *conflicts, int min, int max);

/* Print a table line for an image: plain, packed 8-bit and packed 4-bit counters side by side. json (may be NULL) gets
 * a list element with the whole distribution. first: begin with the heading. */
histo_status bench_conflicts_print(const char *name, const void *samples, histo_dtype dtype, int64_t n, FILE *table,
                                   json_writer *json, bool first);

#endif
