#include "base/times.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const int64_t second = 1000000, minute = 60 * 1000000LL, hour = 3600 * 1000000LL, day = 86400 * 1000000LL;

enum { FIRST_YEAR = -9999, LAST_YEAR = 99999 };

/* ---- The calendar: days since 1970, in eras of 400 years that begin in March ------------------------------ */

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static int64_t days_of(int64_t year, int month, int of_month)
{
    year -= month <= 2;
    const int64_t era = floor_div(year, 400), of_era = year - era * 400;
    const int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + of_month - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static void date_of(int64_t days, int64_t *year, int *month, int *of_month)
{
    days += 719468;
    const int64_t era = floor_div(days, 146097), of_era = days - era * 146097;
    const int64_t years = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    const int64_t of_year = of_era - (365 * years + years / 4 - years / 100), m = (5 * of_year + 2) / 153;
    *of_month = (int)(of_year - (153 * m + 2) / 5 + 1);
    *month = (int)(m < 10 ? m + 3 : m - 9);
    *year = years + era * 400 + (*month <= 2);
}

static int days_in(int64_t year, int month)
{
    return (int)(days_of(month == 12 ? year + 1 : year, month == 12 ? 1 : month + 1, 1) - days_of(year, month, 1));
}

/* ---- Parsing -------------------------------------------------------------------------------------------- */

typedef struct cursor {
    const char *at, *end;
} cursor;

static bool take(cursor *c, char wanted)
{
    if (c->at == c->end || *c->at != wanted) return false;
    c->at++;
    return true;
}

static void take_blanks(cursor *c)
{
    while (c->at < c->end && *c->at == ' ')
        c->at++;
}

/* From `least` to `most` digits. */
static bool take_number(cursor *c, int least, int most, int *value)
{
    int digits = 0;
    for (*value = 0; digits < most && c->at < c->end && isdigit((unsigned char)*c->at); digits++)
        *value = *value * 10 + (*c->at++ - '0');
    return digits >= least && (c->at == c->end || !isdigit((unsigned char)*c->at));
}

/* A name of at least three letters, in full or cut, of a list. */
static int take_name(cursor *c, const char *const *names, int count)
{
    size_t length = 0;
    while (c->at + length < c->end && isalpha((unsigned char)c->at[length]))
        length++;
    for (int i = 0; i < count && length >= 3; i++)
        if (length <= strlen(names[i]) && strncasecmp(c->at, names[i], length) == 0 &&
            (length == 3 || length == strlen(names[i]))) {
            c->at += length;
            return i + 1;
        }
    return 0;
}

static int take_month(cursor *c)
{
    static const char *const names[] = {"january", "february", "march",     "april",   "may",      "june",
                                        "july",    "august",   "september", "october", "november", "december"};
    return take_name(c, names, 12);
}

static void take_weekday(cursor *c)
{
    static const char *const names[] = {"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"};
    cursor ahead = *c;
    if (!take_name(&ahead, names, 7)) return;
    take(&ahead, ',');
    take_blanks(&ahead);
    *c = ahead;
}

typedef struct date {
    int year, month, day; /* 0: not given */
} date;

/* 2015-01-05, 2015/01/05, 2015-01, 2015. */
static bool take_iso_date(cursor *c, bool years, date *d)
{
    if (!take_number(c, 4, 4, &d->year)) return false;
    const char divider = c->at < c->end ? *c->at : '\0';
    if (divider != '-' && divider != '/') return years && c->at == c->end;
    c->at++;
    if (!take_number(c, 2, 2, &d->month) || d->month == 0) return false;
    if (c->at == c->end && divider == '-') return true;
    return take(c, divider) && take_number(c, 2, 2, &d->day) && d->day > 0;
}

/* 05.01.2015 */
static bool take_dotted_date(cursor *c, date *d)
{
    return take_number(c, 1, 2, &d->day) && take(c, '.') && take_number(c, 1, 2, &d->month) && take(c, '.') &&
           take_number(c, 4, 4, &d->year) && d->day > 0 && d->month > 0;
}

/* 2015, or 15 as POSIX takes it. */
static bool take_year(cursor *c, int *year)
{
    const char *begin = c->at;
    if (!take_number(c, 2, 4, year) || c->at - begin == 3) return false;
    if (c->at - begin == 2) *year += *year < 69 ? 2000 : 1900;
    return true;
}

/* 5 Jan 2015, 05-Jan-2015, 05-Jan-15, 05/Jan/2015 */
static bool take_day_first(cursor *c, date *d)
{
    if (!take_number(c, 1, 2, &d->day) || d->day == 0 || c->at == c->end) return false;
    const char divider = *c->at;
    if (!strchr(" -/", divider)) return false;
    c->at++;
    d->month = take_month(c);
    if (divider == ' ') take(c, '.');
    return d->month && take(c, divider) && take_year(c, &d->year);
}

/* Jan 5 2015, January 5, 2015 */
static bool take_month_first(cursor *c, date *d)
{
    d->month = take_month(c);
    if (!d->month || !take(c, ' ')) return false;
    take_blanks(c);
    if (!take_number(c, 1, 2, &d->day) || d->day == 0) return false;
    take(c, ',');
    return take(c, ' ') && take_number(c, 4, 4, &d->year);
}

typedef struct clock {
    int64_t us, width; /* since midnight, and of what is named */
} clock;

/* 12:30, 12:30:15, 12:30:15.25 */
static bool take_clock(cursor *c, clock *t)
{
    int hours, minutes, seconds;
    if (!take_number(c, 1, 2, &hours) || !take(c, ':') || !take_number(c, 2, 2, &minutes) || hours > 24 || minutes > 59)
        return false;
    *t = (clock){hours * hour + minutes * minute, minute};
    if (take(c, ':')) {
        if (!take_number(c, 2, 2, &seconds) || seconds > 60) return false;
        t->us += seconds * second;
        t->width = second;
        if (take(c, '.') || (c->at < c->end && *c->at == ',' && take(c, ','))) {
            if (c->at == c->end || !isdigit((unsigned char)*c->at)) return false;
            for (; c->at < c->end && isdigit((unsigned char)*c->at); c->at++) {
                t->width /= 10;
                t->us += (*c->at - '0') * t->width;
            }
            if (t->width == 0) t->width = 1;
        }
    }
    return t->us <= day;
}

/* Z, +01:00, +0100, +01, UTC, GMT: what is to be subtracted. */
static bool take_offset(cursor *c, int64_t *us)
{
    int hours, minutes = 0;
    *us = 0;
    if (take(c, 'Z') || take(c, 'z')) return true;
    if (c->end - c->at >= 3 && (strncmp(c->at, "UTC", 3) == 0 || strncmp(c->at, "GMT", 3) == 0)) {
        c->at += 3;
        return true;
    }
    const bool west = take(c, '-');
    if (!west && !take(c, '+')) return false;
    int digits = 0;
    while (c->at + digits < c->end && isdigit((unsigned char)c->at[digits]))
        digits++;
    if (digits == 4) {
        if (!take_number(c, 4, 4, &hours)) return false;
        minutes = hours % 100;
        hours /= 100;
    } else if (!take_number(c, 2, 2, &hours) || (take(c, ':') && !take_number(c, 2, 2, &minutes))) {
        return false;
    }
    if (hours > 18 || minutes > 59) return false;
    *us = (west ? -1 : 1) * (hours * hour + minutes * minute);
    return true;
}

/* Jan  5 12:30:15 2015, as ctime writes it. */
static bool take_ctime(cursor *c, date *d, clock *t)
{
    d->month = take_month(c);
    if (!d->month || !take(c, ' ')) return false;
    take_blanks(c);
    return take_number(c, 1, 2, &d->day) && take(c, ' ') && take_clock(c, t) && take(c, ' ') &&
           take_number(c, 4, 4, &d->year) && c->at == c->end;
}

static bool take_date(cursor *c, bool years, date *d)
{
    bool (*const forms[])(cursor *, date *) = {take_dotted_date, take_day_first, take_month_first};
    const cursor begin = *c;
    *d = (date){0};
    if (take_iso_date(c, years, d)) return true;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        *c = begin;
        *d = (date){0};
        if (forms[i](c, d)) return true;
    }
    return false;
}

static bool span_of(const date *d, const clock *t, int64_t offset, time_span *span)
{
    if (d->month > 12 || (d->day && d->day > days_in(d->year, d->month))) return false;
    if (!d->month) {
        *span = (time_span){days_of(d->year, 1, 1) * day, days_of(d->year + 1, 1, 1) * day};
    } else if (!d->day) {
        const int64_t first = days_of(d->year, d->month, 1);
        *span = (time_span){first * day, (first + days_in(d->year, d->month)) * day};
    } else {
        const int64_t begin = days_of(d->year, d->month, d->day) * day + t->us - offset;
        *span = (time_span){begin, begin + t->width};
    }
    return true;
}

bool time_parse(const char *begin, const char *end, bool years, time_span *span)
{
    cursor c = {begin, end};
    date d = {0};
    clock t = {0, day};
    int64_t offset = 0;
    if (end - begin < 4 || end - begin > TIME_TEXT_BYTES) return false;
    const bool bracketed = take(&c, '[');
    take_weekday(&c);
    cursor ctime = c;
    if (take_ctime(&ctime, &d, &t)) return d.day > 0 && span_of(&d, &t, 0, span);
    t = (clock){0, day};
    if (!take_date(&c, years, &d)) return false;
    if (c.at < c.end && d.day && (take(&c, 'T') || take(&c, 't') || take(&c, ':') || take(&c, ' '))) {
        take_blanks(&c);
        if (!take_clock(&c, &t)) return false;
        take_blanks(&c);
        if (c.at < c.end && *c.at != ']' && !take_offset(&c, &offset)) return false;
    }
    if (bracketed) take(&c, ']');
    return c.at == c.end && span_of(&d, &t, offset, span);
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
    return days_of(1970 + years, (int)(months - years * 12) + 1, 1) * day;
}

int64_t time_step_floor(time_step step, int64_t us)
{
    if (step.months) {
        int64_t year;
        int month, of_month;
        date_of(floor_div(us, day), &year, &month, &of_month);
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
    date_of(floor_div(us, day), &year, &month, &of_month);
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
    date_of(floor_div(us, day), &year, &month, &of_month);
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
    date_of(days, &year, &month, &of_month);
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

/* The first of them, but for the last, that fits. */
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
