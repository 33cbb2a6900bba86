/* What bounds a random problem: the bytes that must be read, those of the counters that it touches, and the roof: how
 * long it takes to read a number of bytes and do nothing else. */
#ifndef BENCH_RANDOM_BOUND_H
#define BENCH_RANDOM_BOUND_H

#include "bench/random/random.h"
#include "bench/random/random_data.h"

/* The bytes of all sectors in which a view has samples, each once; columns: how many of them lie next to each other.
 * Nearly: where samples have gaps, only neighbours share sectors. */
double random_touched(const histo_view *view, int columns, int64_t sector);

/* The bytes that a fill must read. */
double random_bytes_to_read(const problem_data *data, const problem_fill *fill);

/* The bytes of counters and sums that it must read and write. */
double random_bytes_of_counters(const random_problem *p, const reference_counts *counts);

/* ---- The roof ---- */

/* Of samples in this place. */
histo_status random_roof_measure(const bench_device *device, problem_place place, int threads, random_roof *roof);

/* The time to read so many bytes, between the sizes by interpolation. */
double random_reading_us(const random_roof *roof, double bytes);

#endif
