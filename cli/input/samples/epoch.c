#define _GNU_SOURCE
#include "input/samples/epoch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/dates/reading.h"
#include "base/dates/zone.h"
#include "base/times.h"

__extension__ typedef __int128 wide;

static const int64_t second = 1000000; /* in microseconds */

static const double first_time = -62167219200e6, last_time = 253402300800e6; /* of the years 0 to 9999 */

bool epoch_has_year(double us)
{
    return us >= first_time && us < last_time;
}

time_epoch epoch_per_second(int64_t per_second)
{
    return per_second <= second ? (time_epoch){.units = second / per_second, .per = 1}
                                : (time_epoch){.units = 1, .per = per_second / second};
}

time_epoch epoch_of_numpy(const char *code)
{
    static const struct {
        const char *name;
        time_epoch is;
    } units[] = {
        {"Y", {.units = 12, .months = true}},
        {"M", {.units = 1, .months = true}},
        {"W", {.units = 7 * 86400000000, .per = 1}},
        {"D", {.units = 86400000000, .per = 1}},
        {"h", {.units = 3600000000, .per = 1}},
        {"m", {.units = 60000000, .per = 1}},
        {"s", {.units = 1000000, .per = 1}},
        {"ms", {.units = 1000, .per = 1}},
        {"us", {.units = 1, .per = 1}},
        {"ns", {.units = 1, .per = 1000}},
        {"ps", {.units = 1, .per = 1000000}},
        {"fs", {.units = 1, .per = 1000000000}},
        {"as", {.units = 1, .per = 1000000000000}},
    };
    int count = 0;
    char name[3] = "";
    if (strncasecmp(code, "m8[", 3) != 0) return (time_epoch){0};
    if (sscanf(code + 3, "%9d", &count) != 1) count = 1; /* M8[25s] */
    const char *unit = code + 3 + strspn(code + 3, "0123456789");
    if (sscanf(unit, "%2[A-Za-z]", name) != 1 || strcmp(unit + strlen(name), "]") != 0 || count < 1)
        return (time_epoch){0};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        time_epoch found = units[i].is;
        found.span = *code == 'm';
        if (strcmp(name, units[i].name) == 0 && !__builtin_mul_overflow(found.units, count, &found.units)) return found;
    }
    return (time_epoch){0};
}

/* The length of a unit by any of its UDUNITS names; 0 for others. */
static time_epoch unit_named(const char *name)
{
    static const struct {
        const char *names;
        int64_t units, per;
    } units[] = {
        {" weeks week ", 7 * 86400000000, 1},
        {" days day d ", 86400000000, 1},
        {" hours hour hrs hr h ", 3600000000, 1},
        {" minutes minute mins min ", 60000000, 1},
        {" seconds second secs sec s ", 1000000, 1},
        {" milliseconds millisecond millisecs millisec msecs msec ms ", 1000, 1},
        {" microseconds microsecond microsecs microsec us ", 1, 1},
        {" nanoseconds nanosecond nsecs nsec ns ", 1, 1000},
    };
    char padded[24];
    snprintf(padded, sizeof padded, " %s ", name);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcasestr(units[i].names, padded)) return (time_epoch){.units = units[i].units, .per = units[i].per};
    return (time_epoch){0};
}

/* "1900-1-1 00:00:0.0", perhaps with an offset of zero; false for others. */
static bool parse_origin(const char *text, int64_t *origin)
{
    int year, month, day, hours = 0, minutes = 0, read = 0, more = 0;
    double seconds = 0;
    char date[40];
    time_span span;
    if (sscanf(text, "%4d-%2d-%2d%n", &year, &month, &day, &read) != 3 || year < 1) return false;
    snprintf(date, sizeof date, "%04d-%02d-%02d", year, month, day);
    if (!time_parse(date, date + strlen(date), false, &span)) return false;
    text += read;
    if (sscanf(text, "%*1[T ]%2d:%2d%n", &hours, &minutes, &more) == 2) {
        text += more;
        if (sscanf(text, ":%6lf%n", &seconds, &more) == 1) text += more;
    }
    text += strspn(text, " ");
    if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59 || !(seconds >= 0 && seconds < 60)) return false;
    *origin = span.begin + (hours * 3600 + minutes * 60) * second + (int64_t)rint(seconds * (double)second);
    for (const char *
             zeros[] = {"", "Z", "UTC", "GMT", "+00:00", "+0000", "+00", "-00:00", "0:00", "+0:00", "00:00", NULL},
            **zero = zeros;
         *zero; zero++)
        if (strcasecmp(text, *zero) == 0) return true;
    return false;
}

time_epoch epoch_of_units(const char *units, const char *calendar)
{
    char name[24] = "";
    int read = 0;
    const bool standard = !*calendar || strcasecmp(calendar, "standard") == 0 || strcasecmp(calendar, "gregorian") == 0;
    if (!standard && strcasecmp(calendar, "proleptic_gregorian") != 0) return (time_epoch){0};
    if (sscanf(units, "%20[A-Za-z] %*1[Ss]%*1[Ii]%*1[Nn]%*1[Cc]%*1[Ee] %n", name, &read) != 1 || read == 0)
        return (time_epoch){0};
    time_epoch epoch = unit_named(name);
    const int64_t gregorian = -12219292800 * second; /* 1582-10-15: before that day, the standard calendar is Julian */
    if (!epoch.units || !parse_origin(units + read, &epoch.origin) || (standard && epoch.origin < gregorian))
        return (time_epoch){0};
    return epoch;
}

static wide floor_div(wide a, wide b)
{
    return a / b - (a % b < 0);
}

static double time_of(const void *sample, histo_dtype dtype, const time_epoch *e)
{
    const double number = histo_sample_value(sample, dtype), counted = number * (double)e->units;
    if (e->months) return fabs(counted) < 1e6 ? (double)time_of_month((int64_t)counted) : counted * (double)INFINITY;
    if (dtype != HISTO_I64) return (e->per == 1 ? rint(counted) : floor(counted / (double)e->per)) + (double)e->origin;
    int64_t value; /* more digits than doubles have */
    memcpy(&value, sample, sizeof value);
    return (double)(floor_div((wide)value * e->units, e->per) + e->origin);
}

static bool is_valid(const histo_view *valid, int64_t y, int64_t x)
{
    return !valid || !valid->data ||
           ((const unsigned char *)valid->data)[y * valid->strides[0] + x * valid->strides[1]] != 0;
}

bool epoch_times(const histo_view *samples, const histo_view *valid, const time_epoch *e, double *out, double *beyond)
{
    for (int64_t y = 0; y < samples->shape[0]; y++)
        for (int64_t x = 0; x < samples->shape[1]; x++) {
            const char *sample = (const char *)samples->data + y * samples->strides[0] + x * samples->strides[1];
            const double us = *out++ = is_valid(valid, y, x) ? time_of(sample, samples->dtype, e) : (double)NAN;
            if (isnan(us) || epoch_has_year(us)) continue;
            *beyond = histo_sample_value(sample, samples->dtype);
            return false;
        }
    return true;
}

void epoch_to_zone(double *times, int64_t count)
{
    for (int64_t i = 0; i < count && zone_differs(); i++)
        if (!isnan(times[i])) times[i] = (double)zone_clock_of_utc((int64_t)times[i]);
}
