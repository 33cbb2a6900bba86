#include "bench/core/options.h"

#include "base/clock.h"

double bench_now_s(void)
{
    return histo_now_us() * 1e-6;
}

bool bench_is_over(const bench_time_budget *budget, double begun_s)
{
    if (budget->stop && budget->stop(budget->context)) return true;
    return budget->seconds > 0 && bench_now_s() - begun_s > budget->seconds;
}
