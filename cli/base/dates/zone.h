/* The time zone of times written without an offset, in which all times are shown: UTC, unless --timezone names another.
 * Times are then what clocks there show, as microseconds since 1970. */
#ifndef CLI_ZONE_H
#define CLI_ZONE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* UTC, local, written, an offset such as +01:00, or a name such as Europe/Berlin; false if there is no such zone. Call
 * before threads start. */
bool zone_set(const char *name);
/* Whether clocks in the zone show a time other than UTC. */
bool zone_differs(void);

/* What clocks in the zone show when clocks `east` microseconds east of UTC show `us`. */
int64_t zone_clock_at(int64_t us, int64_t east);
/* What clocks in the zone show at a time in UTC. */
int64_t zone_clock_of_utc(int64_t us);

/* The offset with this name, such as UTC, CET or EST; false for other names, and for those shared by several zones. */
bool zone_abbreviation(const char *name, size_t length, int64_t *east);

#endif
