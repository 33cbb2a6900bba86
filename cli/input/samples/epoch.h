/* Times from numbers. */
#ifndef CLI_EPOCH_H
#define CLI_EPOCH_H

#include <histo/histo.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The unit of numbers that are times: microseconds times `units`, divided by `per`, or months times `units`. units 0:
 * not a time. */
typedef struct time_epoch {
    int64_t units, per;
    bool months;
    int64_t origin; /* the time of 0, in microseconds since 1970 */
    bool span;      /* a duration or a time of day, not a point in time */
} time_epoch;

/* Whether the time, in microseconds since 1970, is in the years 0 to 9999. */
bool epoch_has_year(double us);
/* This many units per second, since 1970. */
time_epoch epoch_per_second(int64_t per_second);
/* The epoch of a NumPy type code such as "M8[ns]" or, for spans, "m8[ns]", without byte order; none for other types and
 * units. */
time_epoch epoch_of_numpy(const char *code);
/* The epoch of netCDF attributes such as "days since 1900-01-01", in a calendar ("": the standard one). None for units
 * that are not times, for months and years, whose length differs from the calendar's, and for calendars in which dates
 * cannot be written. */
time_epoch epoch_of_units(const char *units, const char *calendar);

/* Convert the samples of a two-dimensional view to times in `out`, contiguous, as microseconds since 1970: rounded to
 * nearest, or down from smaller units. NaN stays, and samples become NaN where `valid` (NULL: everywhere valid; or
 * without data) is 0. On failure, returns false and the first sample outside the years 0 to 9999. */
bool epoch_times(const histo_view *samples, const histo_view *valid, const time_epoch *e, double *out, double *beyond);

/* Convert these times, which may include NaN, from UTC to what clocks in the zone of --timezone show. */
void epoch_to_zone(double *times, int64_t count);

#ifdef __cplusplus
}
#endif

#endif
