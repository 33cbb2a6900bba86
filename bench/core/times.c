#include "bench/core/times.h"

#include <stdlib.h>

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void bench_sort(double *values, size_t n)
{
    qsort(values, n, sizeof *values, compare_doubles);
}

double bench_sorted_median(const double *sorted, int n)
{
    return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
}

void bench_times_sort(bench_times *times)
{
    bench_sort(times->us, (size_t)times->passes);
}

double bench_median(const bench_times *times)
{
    return bench_sorted_median(times->us, times->passes);
}
