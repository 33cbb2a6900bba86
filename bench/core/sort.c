#include "bench/core/sort.h"

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
