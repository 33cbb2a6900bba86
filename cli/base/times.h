/* Dates and times as microseconds since 1970 in the proleptic Gregorian calendar: steps, and formatting.
 * dates/reading.h reads them. */
#ifndef CLI_TIMES_H
#define CLI_TIMES_H

#include <stdbool.h>
#include <stdint.h>

/* Bin widths, in months or in microseconds. */
typedef struct time_step {
    int64_t months, us;
} time_step;

enum { TIME_TEXT_BYTES = 40 };

/* "15min", "1d", "1w", "1mo", "1y" and so on. */
bool time_step_parse(const char *text, time_step *step);
/* The readable step that divides a span into at most this many. */
time_step time_step_suited(int64_t begin, int64_t end, int64_t most);
/* The beginning of the step that contains a time; weeks begin on Mondays. */
int64_t time_step_floor(time_step step, int64_t us);
int64_t time_step_next(time_step step, int64_t us);
/* The number of days from 1970-01-01 to a day. */
int64_t time_days_of(int64_t year, int month, int of_month);
/* The day this many days after 1970-01-01. */
void time_date_of(int64_t days, int64_t *year, int *month, int *of_month);
int time_days_in(int64_t year, int month);
/* The beginning of the month this many months after January 1970. */
int64_t time_of_month(int64_t months);

/* The precision with which times are written. */
typedef enum time_digits { TIME_MONTHS = 1, TIME_DAYS, TIME_MINUTES, TIME_SECONDS, TIME_FRACTIONS } time_digits;

/* The precision that a time needs, at least `least`. */
time_digits time_digits_of(int64_t us, time_digits least);
/* 2015-01, 2015-01-05, 2015-01-05T12:30, 2015-01-05T12:30:15, 2015-01-05T12:30:15.25. Returns text. */
char *time_text(int64_t us, time_digits digits, char text[TIME_TEXT_BYTES]);
/* Units in which spans of time are printed. */
typedef struct time_unit {
    const char *symbol, *name; /* "d", "day" */
    double us;
} time_unit;

/* The largest of day, h, min and s that fits into a span; s if none does. */
const time_unit *time_unit_within(double us);
/* 3.5 d, 12.1 min. */
char *time_span_text(double us, char text[TIME_TEXT_BYTES]);

#endif
