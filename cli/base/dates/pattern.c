#define _GNU_SOURCE
#include "base/dates/pattern.h"

#include <ctype.h>
#include <string.h>
#include <time.h>

#include "base/dates/zone.h"
#include "base/times.h"

static const int64_t second = 1000000, day = 86400 * 1000000LL;

enum { LONGEST_TEXT = 128, LONGEST_PATTERN = 128 };

/* Whether the pattern has one of these directives. */
static bool has(const char *pattern, const char *directives)
{
    for (const char *p = pattern; (p = strchr(p, '%')) && p[1]; p += 2)
        if (strchr(directives, p[1])) return true;
    return false;
}

const char *date_pattern_check(const char *pattern)
{
    if (strlen(pattern) >= LONGEST_PATTERN) return "it is longer than any date";
    for (const char *p = pattern; (p = strchr(p, '%')); p += 2)
        if (!p[1] || !strchr("YymbBhdejHIpMSfTRDFszZaAnt%", p[1]))
            return "it may have %Y %y %m %b %B %d %e %j %H %I %p %M %S %f %T %R %D %F %s %z %Z %a %A and %%";
    if (has(pattern, "s")) return NULL;
    if (!has(pattern, "YyDF")) return "it needs a year, %Y or %y";
    if (!has(pattern, "mbBhjDF")) return "it needs a month, %m or %b";
    return has(pattern, "I") && !has(pattern, "p") ? "it has %I, an hour of twelve, without %p for AM and PM" : NULL;
}

/* %f, a fraction of a second, and %Z, the name of a zone, are read here, everything else by strptime. */
typedef struct pattern_reading {
    struct tm broken;
    int64_t fraction, east;
    bool has_zone;
} pattern_reading;

static const char *read_fraction(const char *at, int64_t *us)
{
    int64_t unit = second;
    if (!isdigit((unsigned char)*at)) return NULL;
    for (; isdigit((unsigned char)*at); at++) {
        unit /= 10;
        *us += (*at - '0') * unit;
    }
    return at;
}

static const char *read_zone(const char *at, pattern_reading *r)
{
    size_t length = 0;
    while (isalpha((unsigned char)at[length]))
        length++;
    r->has_zone = true;
    return zone_abbreviation(at, length, &r->east) ? at + length : NULL;
}

static const char *read_parts(const char *pattern, const char *at, pattern_reading *r)
{
    char part[LONGEST_PATTERN];
    while (*pattern && at) {
        const char *p = pattern;
        while (*p && !(*p == '%' && (p[1] == 'f' || p[1] == 'Z')))
            p += *p == '%' ? 2 : 1;
        memcpy(part, pattern, (size_t)(p - pattern));
        part[p - pattern] = '\0';
        if (*part) at = strptime(at, part, &r->broken);
        if (at && *p) at = p[1] == 'f' ? read_fraction(at, &r->fraction) : read_zone(at, r);
        pattern = *p ? p + 2 : p;
    }
    return at;
}

bool date_pattern_read(const char *pattern, const char *begin, const char *end, time_span *span)
{
    char text[LONGEST_TEXT];
    const size_t size = (size_t)(end - begin);
    pattern_reading r = {.broken = {.tm_mday = 1}};
    if (size >= sizeof text || memchr(begin, '\0', size)) return false;
    memcpy(text, begin, size);
    text[size] = '\0';
    const char *at = read_parts(pattern, text, &r);
    if (!at || *at) return false;
    if (has(pattern, "s")) { /* strptime has converted it to local time */
        const int64_t seconds = (int64_t)mktime(&r.broken);
        span->begin = zone_clock_of_utc(seconds * second + r.fraction);
    } else {
        if (has(pattern, "z")) {
            r.has_zone = true;
            r.east = r.broken.tm_gmtoff * second;
        }
        const int64_t year = r.broken.tm_year + 1900;
        if (r.broken.tm_mday > time_days_in(year, r.broken.tm_mon + 1)) return false;
        const int64_t days = has(pattern, "j") && !has(pattern, "mbBhDF")
                                 ? time_days_of(year, 1, 1) + r.broken.tm_yday
                                 : time_days_of(year, r.broken.tm_mon + 1, r.broken.tm_mday);
        const int64_t of_day = (r.broken.tm_hour * 60 + r.broken.tm_min) * 60 + r.broken.tm_sec;
        span->begin = days * day + of_day * second + r.fraction;
        if (r.has_zone) span->begin = zone_clock_at(span->begin, r.east);
    }
    span->end = span->begin + 1;
    return true;
}
