#include "base/times.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const int64_t second = 1000000, minute = 60 * 1000000LL, hour = 3600 * 1000000LL, day = 86400 * 1000000LL;

/* ---- The calendar: days since 1970, in eras of 400 years that begin in March ------------------------------ */

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

int64_t time_days_of(int64_t year, int month, int of_month)
{
    year -= month <= 2;
    const int64_t era = floor_div(year, 400), of_era = year - era * 400;
    const int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + of_month - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

void time_date_of(int64_t days, int64_t *year, int *month, int *of_month)
{
    days += 719468;
    const int64_t era = floor_div(days, 146097), of_era = days - era * 146097;
    const int64_t years = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    const int64_t of_year = of_era - (365 * years + years / 4 - years / 100), m = (5 * of_year + 2) / 153;
    *of_month = (int)(of_year - (153 * m + 2) / 5 + 1);
    *month = (int)(m < 10 ? m + 3 : m - 9);
    *year = years + era * 400 + (*month <= 2);
}

int time_days_in(int64_t year, int month)
{
    const bool last = month == 12;
    return (int)(time_days_of(last ? year + 1 : year, last ? 1 : month + 1, 1) - time_days_of(year, month, 1));
}

/* ---- Steps ---------------------------------------------------------------------------------------------- */

bool time_step_parse(const char *text, time_step *step)
{
    const struct {
        const char *name;
        int64_t months, us;
    } units[] = {{"us", 0, 1},    {"ms", 0, 1000},  {"s", 0, second},  {"sec", 0, second}, {"min", 0, minute},
                 {"h", 0, hour},  {"d", 0, day},    {"w", 0, 7 * day}, {"mo", 1, 0},       {"month", 1, 0},
                 {"q", 3, 0},     {"y", 12, 0},     {"hour", 0, hour}, {"day", 0, day},    {"week", 0, 7 * day},
                 {"year", 12, 0}, {"quarter", 3, 0}};
    int64_t number = 0;
    const char *unit = text;
    for (; isdigit((unsigned char)*unit) && number < 1000000; unit++)
        number = number * 10 + (*unit - '0');
    if (unit == text) number = 1;
    while (*unit == ' ')
        unit++;
    for (size_t i = 0; i < sizeof units / sizeof *units && number > 0; i++) {
        const size_t length = strlen(units[i].name);
        if (strncmp(unit, units[i].name, length) != 0 || (unit[length] && strcmp(unit + length, "s") != 0)) continue;
        *step = (time_step){number * units[i].months, number * units[i].us};
        return true;
    }
    return false;
}

int64_t time_of_month(int64_t months)
{
    const int64_t years = floor_div(months, 12);
    return time_days_of(1970 + years, (int)(months - years * 12) + 1, 1) * day;
}

int64_t time_step_floor(time_step step, int64_t us)
{
    if (step.months) {
        int64_t year;
        int month, of_month;
        time_date_of(floor_div(us, day), &year, &month, &of_month);
        const int64_t first = floor_div(year * 12 + month - 1, step.months) * step.months;
        return time_of_month(first - 1970 * 12);
    }
    const int64_t origin = step.us % (7 * day) == 0 ? -3 * day : 0; /* 1970 began on a Thursday */
    return floor_div(us - origin, step.us) * step.us + origin;
}

int64_t time_step_next(time_step step, int64_t us)
{
    if (!step.months) return us + step.us;
    int64_t year;
    int month, of_month;
    time_date_of(floor_div(us, day), &year, &month, &of_month);
    const int64_t next = year * 12 + month - 1 + step.months;
    return time_of_month(next - 1970 * 12);
}

time_step time_step_suited(int64_t begin, int64_t end, int64_t most)
{
    const time_step steps[] = {{0, 1},          {0, 10},          {0, 100},        {0, 1000},        {0, 10000},
                               {0, 100000},     {0, second},      {0, 5 * second}, {0, 15 * second}, {0, minute},
                               {0, 5 * minute}, {0, 15 * minute}, {0, hour},       {0, 3 * hour},    {0, 6 * hour},
                               {0, day},        {0, 7 * day},     {1, 0},          {3, 0},           {12, 0},
                               {60, 0},         {120, 0},         {1200, 0},       {12000, 0}};
    const double span = (double)end - (double)begin, average_month = 30.436875 * (double)day;
    enum { STEPS = sizeof steps / sizeof *steps };
    int i = 0;
    while (i < STEPS - 1 &&
           span / (steps[i].months ? (double)steps[i].months * average_month : (double)steps[i].us) > (double)most)
        i++;
    return steps[i];
}

/* ---- Writing -------------------------------------------------------------------------------------------- */

time_digits time_digits_of(int64_t us, time_digits least)
{
    int64_t year;
    int month, of_month;
    time_date_of(floor_div(us, day), &year, &month, &of_month);
    const int64_t of_day = us - floor_div(us, day) * day;
    const time_digits needed = of_day % second   ? TIME_FRACTIONS
                               : of_day % minute ? TIME_SECONDS
                               : of_day          ? TIME_MINUTES
                               : of_month > 1    ? TIME_DAYS
                                                 : TIME_MONTHS;
    return needed > least ? needed : least;
}

char *time_text(int64_t us, time_digits digits, char text[TIME_TEXT_BYTES])
{
    int64_t year;
    int month, of_month;
    const int64_t days = floor_div(us, day), of_day = us - days * day;
    time_date_of(days, &year, &month, &of_month);
    int length = snprintf(text, TIME_TEXT_BYTES, "%04" PRId64 "-%02d", year, month);
    char *at = text + length;
    size_t room = TIME_TEXT_BYTES - (size_t)length;
    if (digits >= TIME_DAYS) {
        length = snprintf(at, room, "-%02d", of_month);
        at += length;
        room -= (size_t)length;
    }
    if (digits >= TIME_MINUTES) {
        length = snprintf(at, room, "T%02d:%02d", (int)(of_day / hour), (int)(of_day / minute % 60));
        at += length;
        room -= (size_t)length;
    }
    if (digits >= TIME_SECONDS) {
        length = snprintf(at, room, ":%02d", (int)(of_day / second % 60));
        at += length;
        room -= (size_t)length;
    }
    if (digits >= TIME_FRACTIONS && of_day % second) {
        length = snprintf(at, room, ".%06d", (int)(of_day % second));
        for (char *last = at + length - 1; *last == '0'; last--)
            *last = '\0';
    }
    return text;
}

static const time_unit units[] = {
    {"d", "day", 86400e6}, {"h", "h", 3600e6}, {"min", "min", 60e6}, {"s", "s", 1e6}, {"ms", "ms", 1e3}};

enum { UNIT_SECOND = 3, UNIT_LEAST };

/* The first unit that fits, else the last one. */
static const time_unit *unit_within(double us, int last)
{
    int i = 0;
    while (i < last && fabs(us) < units[i].us)
        i++;
    return &units[i];
}

const time_unit *time_unit_within(double us)
{
    return unit_within(us, UNIT_SECOND);
}

char *time_span_text(double us, char text[TIME_TEXT_BYTES])
{
    const time_unit *unit = unit_within(us, UNIT_LEAST);
    snprintf(text, TIME_TEXT_BYTES, "%.4g %s", us / unit->us, unit->symbol);
    return text;
}
