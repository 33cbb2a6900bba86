#include "bench/core/options.h"

#include <string.h>
#include <time.h>

#include "base/clock.h"

bool bench_next_item(const char **list, char divider, char *item, size_t size)
{
    const char dividers[] = {divider, '\0'};
    const size_t length = strcspn(*list, dividers);
    if (!**list) return false;
    snprintf(item, size, "%.*s", (int)length, *list);
    *list += length + ((*list)[length] == divider);
    return true;
}

const char *bench_bare_name(const char *name)
{
    const char *slash = strchr(name, '/');
    return slash ? slash + 1 : name;
}

double bench_now_s(void)
{
    return histo_now_us() * 1e-6;
}

double bench_processor_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

bool bench_is_over(const bench_time_budget *budget, double begun_s)
{
    if (budget->stop && budget->stop(budget->context)) return true;
    return budget->seconds > 0 && bench_now_s() - begun_s > budget->seconds;
}
