/* Dates and times in text, as microseconds since 1970, UTC, in the proleptic Gregorian calendar. */
#ifndef CLI_TIMES_H
#define CLI_TIMES_H

#include <stdbool.h>
#include <stdint.h>

/* A period that text names: a year, a month, a day, or a time of day. */
typedef struct time_span {
    int64_t begin, end; /* end is not in it */
} time_span;

/* Parse text that is a date, perhaps with a time and an offset, as a whole: ISO 8601 (2015-01-05T12:30:00.5+01:00,
 * 2015-01-05 12:30, 2015-01), 2015/01/05, 05.01.2015, Jan 5 2015, 5 Jan 2015, 05-Jan-2015, and the forms of ctime, RFC
 * 2822 and web servers' logs (05/Jan/2015:12:30:00 +0100). Without an offset, times are UTC. A year alone is one only
 * where `years` are wanted. */
bool time_parse(const char *begin, const char *end, bool years, time_span *span);

/* Widths of bins, in months or in microseconds. */
typedef struct time_step {
    int64_t months, us;
} time_step;

enum { TIME_TEXT_BYTES = 40 };

/* "15min", "1d", "1w", "1mo", "1y" and so on. */
bool time_step_parse(const char *text, time_step *step);
/* The readable step that divides a span into at most this many. */
time_step time_step_suited(int64_t begin, int64_t end, int64_t most);
/* The beginning of the step that a time is in: weeks begin on Mondays. */
int64_t time_step_floor(time_step step, int64_t us);
int64_t time_step_next(time_step step, int64_t us);
/* The beginning of the month that is so many after January 1970. */
int64_t time_of_month(int64_t months);

/* How finely times are written. */
typedef enum time_digits { TIME_MONTHS = 1, TIME_DAYS, TIME_MINUTES, TIME_SECONDS, TIME_FRACTIONS } time_digits;

/* What a time needs, at least `least`. */
time_digits time_digits_of(int64_t us, time_digits least);
/* 2015-01, 2015-01-05, 2015-01-05T12:30, 2015-01-05T12:30:15, 2015-01-05T12:30:15.25. Returns text. */
char *time_text(int64_t us, time_digits digits, char text[TIME_TEXT_BYTES]);
/* Units in which spans of time are printed. */
typedef struct time_unit {
    const char *symbol, *name; /* "d", "day" */
    double us;
} time_unit;

/* The largest of day, h, min and s that fits into a span; s where none does. */
const time_unit *time_unit_within(double us);
/* 3.5 d, 12.1 min. */
char *time_span_text(double us, char text[TIME_TEXT_BYTES]);

#endif
