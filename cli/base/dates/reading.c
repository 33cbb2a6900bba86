#include "base/dates/reading.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "base/dates/pattern.h"
#include "base/dates/zone.h"
#include "base/times.h"

static const int64_t second = 1000000, minute = 60 * 1000000LL, hour = 3600 * 1000000LL, day = 86400 * 1000000LL;

typedef struct cursor {
    const char *at, *end;
} cursor;

static bool take(cursor *c, char wanted)
{
    if (c->at == c->end || *c->at != wanted) return false;
    c->at++;
    return true;
}

static bool take_blanks(cursor *c)
{
    const char *begin = c->at;
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\t'))
        c->at++;
    return c->at > begin;
}

static bool is_digit_next(const cursor *c)
{
    return c->at < c->end && isdigit((unsigned char)*c->at);
}

/* From `least` to `most` digits. */
static bool take_number(cursor *c, int least, int most, int *value)
{
    int digits = 0;
    for (*value = 0; digits < most && is_digit_next(c); digits++)
        *value = *value * 10 + (*c->at++ - '0');
    return digits >= least && !is_digit_next(c);
}

static size_t letters_of(const cursor *c)
{
    size_t length = 0;
    while (c->at + length < c->end && isalpha((unsigned char)c->at[length]))
        length++;
    return length;
}

/* A name from a list, in full or abbreviated to at least three letters. */
static int take_name(cursor *c, const char *const *names, int count)
{
    const size_t length = letters_of(c);
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
    if (take_blanks(&ahead)) *c = ahead;
}

typedef struct date {
    int year, month, day; /* month or day 0: not given */
    bool yearless;
} date;

/* ---- Dates ---------------------------------------------------------------------------------------------- */

/* 2015-01-05, 2015/1/5, 2015-01, 2015. */
static bool take_iso_date(cursor *c, bool years, date *d)
{
    if (!take_number(c, 4, 4, &d->year)) return false;
    const char divider = c->at < c->end ? *c->at : '\0';
    if (divider != '-' && divider != '/') return years && c->at == c->end;
    c->at++;
    const char *month = c->at;
    if (!take_number(c, 1, 2, &d->month) || d->month == 0) return false;
    if (divider == '-' && c->at - month == 2 && !(c->at < c->end && *c->at == '-')) return true;
    return take(c, divider) && take_number(c, 1, 2, &d->day) && d->day > 0;
}

/* 05.01.2015 */
static bool take_dotted_date(cursor *c, date *d)
{
    return take_number(c, 1, 2, &d->day) && take(c, '.') && take_number(c, 1, 2, &d->month) && take(c, '.') &&
           take_number(c, 4, 4, &d->year) && d->day > 0 && d->month > 0;
}

/* 2015, or 15 in POSIX's interpretation. */
static bool take_year(cursor *c, int *year)
{
    const char *begin = c->at;
    if (!take_number(c, 2, 4, year) || c->at - begin == 3) return false;
    if (c->at - begin == 2) *year += *year < 69 ? 2000 : 1900;
    return true;
}

/* 1/5/2015 and 1/5/15 in this order; 1-5-2015, but not 1-5-15, which is ambiguous. */
static bool take_numbers(cursor *c, date_order order, date *d)
{
    int *first = order == MONTH_FIRST ? &d->month : &d->day, *next = order == MONTH_FIRST ? &d->day : &d->month;
    if (!take_number(c, 1, 2, first) || c->at == c->end) return false;
    const char divider = *c->at;
    if ((divider != '/' && divider != '-') || !take(c, divider) || !take_number(c, 1, 2, next) || !take(c, divider))
        return false;
    const char *year = c->at;
    return take_year(c, &d->year) && (divider == '/' || c->at - year == 4) && d->day > 0 && d->month > 0;
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
    if (!d->month || !take_blanks(c) || !take_number(c, 1, 2, &d->day) || d->day == 0) return false;
    take(c, ',');
    return take_blanks(c) && take_number(c, 4, 4, &d->year);
}

static bool is_possible(const date *d)
{
    return d->month <= 12 && d->day <= time_days_in(d->year, d->month ? d->month : 1);
}

static bool take_date(cursor *c, const time_style *style, date *d)
{
    bool (*const forms[])(cursor *, date *) = {take_dotted_date, take_day_first, take_month_first};
    const cursor begin = *c;
    *d = (date){0};
    if (take_iso_date(c, style->years, d) && is_possible(d)) return true;
    *c = begin;
    *d = (date){0};
    if (style->order && take_numbers(c, style->order, d)) return is_possible(d);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        *c = begin;
        *d = (date){0};
        if (forms[i](c, d)) return is_possible(d);
    }
    return false;
}

/* ---- Times of day --------------------------------------------------------------------------------------- */

typedef struct clock_time {
    int64_t us, width; /* since midnight, and the width of what is named */
    int64_t east;      /* relative to UTC */
    bool has_zone;
} clock_time;

/* AM and PM, with or without a blank before. */
static bool take_half(cursor *c, int64_t *us)
{
    cursor ahead = *c;
    take_blanks(&ahead);
    if (letters_of(&ahead) != 2 || tolower((unsigned char)ahead.at[1]) != 'm') return true;
    const char half = (char)tolower((unsigned char)*ahead.at);
    if (half != 'a' && half != 'p') return true;
    const int64_t hours = *us / hour;
    if (hours < 1 || hours > 12) return false;
    *us += ((half == 'p' ? 12 : 0) - (hours == 12 ? 12 : 0)) * hour;
    ahead.at += 2;
    *c = ahead;
    return true;
}

/* 12:30, 12:30:15, 12:30:15.25, 1:30 PM */
static bool take_clock(cursor *c, clock_time *t)
{
    int hours, minutes, seconds;
    if (!take_number(c, 1, 2, &hours) || !take(c, ':') || !take_number(c, 2, 2, &minutes) || hours > 24 || minutes > 59)
        return false;
    *t = (clock_time){hours * hour + minutes * minute, minute, 0, false};
    if (take(c, ':')) {
        if (!take_number(c, 2, 2, &seconds) || seconds > 60) return false;
        t->us += seconds * second;
        t->width = second;
        cursor ahead = *c;
        if ((take(&ahead, '.') || take(&ahead, ',')) && is_digit_next(&ahead)) {
            for (; is_digit_next(&ahead); ahead.at++) {
                t->width /= 10;
                t->us += (*ahead.at - '0') * t->width;
            }
            if (t->width == 0) t->width = 1;
            *c = ahead;
        }
    }
    return take_half(c, &t->us) && t->us <= day;
}

/* +01:00, +0100, +01: only offsets that exist, so that a number is not taken for one. */
static bool take_offset(cursor *c, bool apart, int64_t *east)
{
    int hours, minutes = 0;
    const bool west = take(c, '-');
    if (!west && !take(c, '+')) return false;
    int digits = 0;
    while (c->at + digits < c->end && isdigit((unsigned char)c->at[digits]))
        digits++;
    if (digits == 4) {
        if (!take_number(c, 4, 4, &hours)) return false;
        minutes = hours % 100;
        hours /= 100;
    } else if (!take_number(c, 2, 2, &hours) || (take(c, ':') ? !take_number(c, 2, 2, &minutes) : apart)) {
        return false;
    }
    if (hours > (apart ? 14 : 18) || minutes > 59 || (apart && minutes % 15)) return false;
    *east = (west ? -1 : 1) * (hours * hour + minutes * minute);
    return true;
}

/* Z, an offset, or the name of a zone, any of which may be separated by blanks. */
static void take_zone(cursor *c, clock_time *t)
{
    cursor ahead = *c;
    const bool apart = take_blanks(&ahead);
    const size_t length = letters_of(&ahead);
    cursor offset = ahead;
    if (length) {
        offset.at += length;
        if (!zone_abbreviation(ahead.at, length, &t->east)) return;
    } else if (!take_offset(&offset, apart, &t->east)) {
        return;
    }
    t->has_zone = true;
    *c = offset;
}

/* ---- Together ------------------------------------------------------------------------------------------- */

/* Jan  5 12:30:15 2015, as ctime writes it; date writes a zone before the year, and syslog omits the year. */
static bool take_ctime(cursor *c, const time_style *style, date *d, clock_time *t)
{
    *d = (date){0};
    d->month = take_month(c);
    if (!d->month || !take_blanks(c) || !take_number(c, 1, 2, &d->day) || d->day == 0 || !take_blanks(c) ||
        !take_clock(c, t))
        return false;
    cursor ahead = *c;
    clock_time zoned = *t;
    take_zone(&ahead, &zoned);
    if (take_blanks(&ahead) && take_number(&ahead, 4, 4, &d->year)) {
        *t = zoned;
        *c = ahead;
        return is_possible(d);
    }
    d->yearless = true;
    d->year = 2000; /* a leap year, which has all days */
    return style->before && is_possible(d);
}

/* A date, and a time if one follows; stops before anything else. */
static bool take_stamp(cursor *c, const time_style *style, date *d, clock_time *t)
{
    *t = (clock_time){.width = day};
    const bool bracketed = take(c, '[');
    take_weekday(c);
    cursor ahead = *c;
    if (take_ctime(&ahead, style, d, t)) {
        *c = ahead;
    } else {
        *t = (clock_time){.width = day};
        if (!take_date(c, style, d)) return false;
        ahead = *c;
        const bool follows = take(&ahead, 'T') || take(&ahead, 't') || take(&ahead, ':') || take_blanks(&ahead) ||
                             (take(&ahead, ',') && take_blanks(&ahead));
        clock_time clock;
        if (d->day && follows && take_clock(&ahead, &clock)) {
            *t = clock;
            take_zone(&ahead, t);
            *c = ahead;
        }
    }
    return !bracketed || take(c, ']');
}

static int64_t instant_of(const date *d, const clock_time *t)
{
    const int64_t us = time_days_of(d->year, d->month, d->day) * day + t->us;
    return t->has_zone ? zone_clock_at(us, t->east) : us;
}

/* The last such day before a given time. */
static void find_year(date *d, const clock_time *t, int64_t before)
{
    int month, of_month;
    int64_t year;
    time_date_of(before / day, &year, &month, &of_month);
    for (d->year = (int)year; !is_possible(d) || instant_of(d, t) > before; d->year--)
        continue;
}

static void span_of(date *d, const clock_time *t, const time_style *style, time_span *span)
{
    if (d->yearless) find_year(d, t, style->before);
    if (!d->month) {
        *span = (time_span){time_days_of(d->year, 1, 1) * day, time_days_of(d->year + 1, 1, 1) * day};
    } else if (!d->day) {
        const int64_t first = time_days_of(d->year, d->month, 1);
        *span = (time_span){first * day, (first + time_days_in(d->year, d->month)) * day};
    } else {
        const int64_t begin = instant_of(d, t);
        *span = (time_span){begin, begin + t->width};
    }
}

static bool read_all(const char *begin, const char *end, const time_style *style, date *d, time_span *span)
{
    enum { LONGEST = 64 };
    cursor c = {begin, end};
    clock_time t;
    if (end - begin < 4 || end - begin > LONGEST || !take_stamp(&c, style, d, &t) || c.at != end) return false;
    span_of(d, &t, style, span);
    return true;
}

time_reading time_read(const char *begin, const char *end, const time_style *style, time_span *span)
{
    date d;
    time_span other;
    time_style either = *style;
    if (style->pattern) return date_pattern_read(style->pattern, begin, end, span) ? TIME_READ : TIME_NONE;
    if (read_all(begin, end, style, &d, span)) return TIME_READ;
    if (style->order) return TIME_NONE;
    either.order = DAY_FIRST;
    const bool day_first = read_all(begin, end, &either, &d, span);
    either.order = MONTH_FIRST;
    const bool month_first = read_all(begin, end, &either, &d, &other);
    if (!day_first && !month_first) return TIME_NONE;
    return day_first && month_first && span->begin == other.begin ? TIME_READ : TIME_EITHER;
}

bool time_parse(const char *begin, const char *end, bool years, time_span *span)
{
    return time_read(begin, end, &(time_style){.years = years}, span) == TIME_READ;
}

/* Whether a date can begin here. Rules out most text that is not a date. */
static bool may_begin(const char *p, const char *end)
{
    int digits = 0;
    if (p < end && *p == '[') p++;
    if (p < end && isalpha((unsigned char)*p)) return true;
    while (p < end && digits < 5 && isdigit((unsigned char)*p)) {
        digits++;
        p++;
    }
    return digits > 0 && digits < 5 && p < end && strchr("-/. ", *p);
}

bool time_is_month(const char *begin, const char *end)
{
    cursor c = {begin, end};
    return take_month(&c) && c.at == end;
}

/* Whether it is like 5 Jan, a number and a name. */
static bool has_day_in_front(const char *begin, const char *end)
{
    cursor c = {begin, end};
    int number;
    return take_number(&c, 1, 2, &number) && take_blanks(&c) && take_month(&c);
}

static const char *extent(const char *begin, const char *end, date_order order)
{
    cursor c = {begin, end};
    date d;
    clock_time t;
    const time_style style = {.order = order, .before = 1};
    if (!take_stamp(&c, &style, &d, &t) || !d.day) return NULL;
    if (c.at < end && !isspace((unsigned char)*c.at)) return NULL;
    return memchr(begin, ' ', (size_t)(c.at - begin)) || memchr(begin, '\t', (size_t)(c.at - begin)) ? c.at : NULL;
}

const char *time_extent(const char *begin, const char *end, bool days_in_front)
{
    if (!may_begin(begin, end) || (!days_in_front && has_day_in_front(begin, end))) return NULL;
    const char *found = extent(begin, end, DAY_FIRST);
    return found ? found : extent(begin, end, MONTH_FIRST);
}

bool date_evidence_add(date_evidence *e, const char *begin, const char *end)
{
    date d;
    time_span span;
    time_style style = {.before = INT64_C(4102444800000000)};
    if (!may_begin(begin, end)) return false;
    if (read_all(begin, end, &style, &d, &span)) {
        e->yearless |= d.yearless;
        return true;
    }
    style.order = DAY_FIRST;
    const bool day_first = read_all(begin, end, &style, &d, &span);
    style.order = MONTH_FIRST;
    const bool month_first = read_all(begin, end, &style, &d, &span);
    e->day_first |= day_first && !month_first;
    e->month_first |= month_first && !day_first;
    return day_first || month_first;
}

date_order date_evidence_order(const date_evidence *e)
{
    if (e->day_first == e->month_first) return DATE_ORDER_UNSAID;
    return e->day_first ? DAY_FIRST : MONTH_FIRST;
}
