/* Times from numbers. */
#ifndef CLI_EPOCH_H
#define CLI_EPOCH_H

#include <histo/histo.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a number of times counts: microseconds times `units`, divided by `per`, or months times `units`. units 0: it is
 * no time. */
typedef struct time_epoch {
    int64_t units, per;
    bool months;
    int64_t origin; /* the time that 0 is, in microseconds after 1970 */
    bool span;      /* a duration or a time of day, not a point in time */
} time_epoch;

/* Is the time, in microseconds after 1970, in the years 0 to 9999? */
bool epoch_has_year(double us);
/* So many units a second since 1970. */
time_epoch epoch_per_second(int64_t per_second);
/* What NumPy's code of a type says, as "M8[ns]", or of spans "m8[ns]", without the order of bytes; none of other types
 * and units. */
time_epoch epoch_of_numpy(const char *code);
/* What netCDF's attributes say, as "days since 1900-01-01", in a calendar ("": the standard one). None of units that
 * are not times, of months and years, whose length is not a calendar's, and of calendars that dates do not have. */
time_epoch epoch_of_units(const char *units, const char *calendar);

/* Write the times that the samples of a two-dimensional view are to `out`, contiguously, as microseconds since 1970: to
 * the nearest, but of smaller units those before. NaN stays, and is what samples become where `valid` (NULL:
 * everywhere; or without data) is 0. False, with the first sample that is beyond the year 9999, or before the year 0.
 */
bool epoch_times(const histo_view *samples, const histo_view *valid, const time_epoch *e, double *out, double *beyond);

/* What clocks in the zone of --timezone show at these times in UTC, of which some may be NaN. */
void epoch_to_zone(double *times, int64_t count);

#ifdef __cplusplus
}
#endif

#endif
