#include "bench/patience.h"

#include <time.h>

double bench_now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

bool bench_patience_over(const bench_patience *patience, double begun_s)
{
    if (patience->stop && patience->stop(patience->context)) return true;
    return patience->budget_s > 0 && bench_now_s() - begun_s > patience->budget_s;
}
