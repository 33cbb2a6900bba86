#include "base/dates/cycle.h"

#include <string.h>

#include "base/times.h"

static const int64_t hour = 3600 * 1000000LL, day = 86400 * 1000000LL;

static const char *const hours[] = {"00:00", "01:00", "02:00", "03:00", "04:00", "05:00", "06:00", "07:00",
                                    "08:00", "09:00", "10:00", "11:00", "12:00", "13:00", "14:00", "15:00",
                                    "16:00", "17:00", "18:00", "19:00", "20:00", "21:00", "22:00", "23:00"};
static const char *const days[] = {"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"};
static const char *const months[] = {"January", "February", "March",     "April",   "May",      "June",
                                     "July",    "August",   "September", "October", "November", "December"};

int cycle_places(time_cycle cycle)
{
    return cycle == CYCLE_DAY ? 24 : cycle == CYCLE_WEEK ? 7 : 12;
}

const char *cycle_name(time_cycle cycle, int place)
{
    return cycle == CYCLE_DAY ? hours[place] : cycle == CYCLE_WEEK ? days[place] : months[place];
}

int cycle_place(time_cycle cycle, int64_t us)
{
    const int64_t of_day = (us % day + day) % day, since = (us - of_day) / day;
    int64_t year;
    int month, of_month;
    if (cycle == CYCLE_DAY) return (int)(of_day / hour);
    if (cycle == CYCLE_WEEK) return (int)(((since + 3) % 7 + 7) % 7); /* 1970 began on a Thursday */
    time_date_of(since, &year, &month, &of_month);
    return month - 1;
}

time_cycle cycle_named(const char *const *names, int64_t count)
{
    for (time_cycle cycle = CYCLE_DAY; cycle <= CYCLE_YEAR; cycle++) {
        int same = 0;
        while (same < cycle_places(cycle) && count == cycle_places(cycle) &&
               strcmp(names[same], cycle_name(cycle, same)) == 0)
            same++;
        if (same == cycle_places(cycle)) return cycle;
    }
    return CYCLE_NONE;
}
