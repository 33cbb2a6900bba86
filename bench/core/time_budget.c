#include "bench/core/time_budget.h"

#include "base/clock.h"

double bench_now_s(void)
{
    return histo_now_us() * 1e-6;
}

bool bench_patience_over(const bench_patience *patience, double begun_s)
{
    if (patience->stop && patience->stop(patience->context)) return true;
    return patience->budget_s > 0 && bench_now_s() - begun_s > patience->budget_s;
}
