#define _GNU_SOURCE
#include "base/dates/zone.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

static const int64_t second = 1000000, minute = 60 * 1000000LL, quarter = 15 * 60 * 1000000LL;

static enum { ZONE_FIXED, ZONE_NAMED, ZONE_WRITTEN } kind;
static int64_t fixed_east; /* of ZONE_FIXED */

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* +01:00, -0530 */
static bool parse_offset(const char *name, int64_t *east)
{
    int hours, minutes, read = 0;
    if (*name != '+' && *name != '-') return false;
    const bool colon = strlen(name) == 6 && sscanf(name + 1, "%2d:%2d%n", &hours, &minutes, &read) == 2 && read == 5;
    if (!colon && !(strlen(name) == 5 && sscanf(name + 1, "%2d%2d%n", &hours, &minutes, &read) == 2 && read == 4))
        return false;
    if (hours < 0 || hours > 18 || minutes < 0 || minutes > 59) return false;
    *east = (*name == '-' ? -1 : 1) * (hours * 60 + minutes) * minute;
    return true;
}

/* Whether the system's database has this zone. */
static bool is_known(const char *name)
{
    const char *folder = getenv("TZDIR");
    char path[512];
    for (const char *p = name; *p; p++)
        if (!isalnum((unsigned char)*p) && !strchr("/_+-", *p)) return false;
    snprintf(path, sizeof path, "%s/%s", folder && *folder ? folder : "/usr/share/zoneinfo", name);
    char begin[4] = "";
    FILE *in = *name && *name != '/' ? fopen(path, "rb") : NULL;
    const bool known = in && fread(begin, 1, 4, in) == 4 && memcmp(begin, "TZif", 4) == 0;
    if (in) fclose(in);
    return known;
}

bool zone_set(const char *name)
{
    kind = ZONE_FIXED;
    fixed_east = 0;
    if (strcasecmp(name, "utc") == 0 || parse_offset(name, &fixed_east)) return true;
    kind = strcmp(name, "written") == 0 ? ZONE_WRITTEN : ZONE_NAMED;
    if (kind == ZONE_WRITTEN) return true;
    if (strcmp(name, "local") != 0 && (!is_known(name) || setenv("TZ", name, 1) != 0)) return false;
    tzset();
    return true;
}

bool zone_differs(void)
{
    return kind == ZONE_NAMED || (kind == ZONE_FIXED && fixed_east);
}

static int64_t east_at(int64_t seconds)
{
    const time_t time = (time_t)seconds;
    struct tm local;
    return localtime_r(&time, &local) ? local.tm_gmtoff * second : 0;
}

/* Clocks change at quarters of an hour, at least nowadays: within one, the offset is usually that of the time
 * before. */
static int64_t named_east(int64_t us)
{
    static _Thread_local int64_t known_quarter = INT64_MIN, known_east;
    const int64_t of = floor_div(us, quarter), begin = of * (quarter / second);
    if (of == known_quarter) return known_east;
    const int64_t east = east_at(floor_div(us, second));
    if (east_at(begin) == east && east_at(begin + quarter / second - 1) == east) {
        known_quarter = of;
        known_east = east;
    }
    return east;
}

int64_t zone_clock_of_utc(int64_t us)
{
    return us + (kind == ZONE_NAMED ? named_east(us) : kind == ZONE_FIXED ? fixed_east : 0);
}

int64_t zone_clock_at(int64_t us, int64_t east)
{
    return kind == ZONE_WRITTEN ? us : zone_clock_of_utc(us - east);
}

bool zone_abbreviation(const char *name, size_t length, int64_t *east)
{
    static const struct {
        const char *name;
        int hours;
    } zones[] = {{"Z", 0},     {"UTC", 0},   {"GMT", 0},  {"UT", 0},   {"WET", 0},  {"WEST", 1},
                 {"CET", 1},   {"CEST", 2},  {"EET", 2},  {"EEST", 3}, {"MSK", 3},  {"JST", 9},
                 {"AEST", 10}, {"AEDT", 11}, {"BST", 1},  {"EST", -5}, {"EDT", -4}, {"CST", -6},
                 {"CDT", -5},  {"MST", -7},  {"MDT", -6}, {"PST", -8}, {"PDT", -7}, {"HST", -10}};
    for (size_t i = 0; i < sizeof zones / sizeof *zones; i++) {
        const bool any_case = length == 1;
        if (strlen(zones[i].name) != length) continue;
        if ((any_case ? strncasecmp : strncmp)(name, zones[i].name, length) != 0) continue;
        *east = zones[i].hours * 60 * minute;
        return true;
    }
    return false;
}
