/* Sorted numbers, their median, and times of repeated work. */
#ifndef BENCH_TIMES_H
#define BENCH_TIMES_H

#include <stddef.h>

/* Sort in ascending order; none is NaN. */
void bench_sort(double *values, size_t n);

/* The median of n > 0 sorted values. */
double bench_sorted_median(const double *sorted, int n);

enum { BENCH_MAX_REPEATS = 101 };

/* Times of one pass, in microseconds. */
typedef struct bench_times {
    int passes;
    double us[BENCH_MAX_REPEATS]; /* sorted once complete */
} bench_times;

void bench_times_sort(bench_times *times);
/* The median of sorted times. */
double bench_median(const bench_times *times);

#endif
