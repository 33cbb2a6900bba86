/* Dates and times in text. */
#ifndef CLI_TIME_READING_H
#define CLI_TIME_READING_H

#include <stdbool.h>
#include <stdint.h>

/* A period named by text, in microseconds since 1970: a year, a month, a day, or a time of day. */
typedef struct time_span {
    int64_t begin, end; /* end is exclusive */
} time_span;

/* Which number comes first in dates such as 1/5/2024. */
typedef enum date_order { DATE_ORDER_UNSAID = 0, DAY_FIRST, MONTH_FIRST } date_order;

/* How the dates of a column are written. */
typedef struct time_style {
    date_order order;
    const char *pattern; /* --date-format, as strptime takes it; NULL: any known form */
    int64_t before;      /* a date without a year is the last such day before this time; 0: it is not a date */
    bool years;          /* a year alone is a date, too */
} time_style;

typedef enum time_reading {
    TIME_NONE = 0, /* not a date */
    TIME_READ,
    TIME_EITHER, /* 1/5/2024: the style does not determine the order */
} time_reading;

/* Read text that is a date, perhaps with a time and an offset, as a whole. The forms are ISO 8601
 * (2015-01-05T12:30:00.5+01:00, 2015-1-5 12:30, 2015-01), 2015/01/05, 05.01.2015, 1/5/2015, 1-5-15, Jan 5 2015, 5 Jan
 * 2015, 05-Jan-2015, times such as 7:30 PM, and the formats of ctime, date, syslog, RFC 2822 and web servers' logs
 * (05/Jan/2015:12:30:00 +0100). Without an offset, times are of the zone of time_zone_set. */
time_reading time_read(const char *begin, const char *end, const time_style *style, time_span *span);

/* The same without a style: a date that can be read in only one way. */
bool time_parse(const char *begin, const char *end, bool years, time_span *span);

/* The end of a date that begins here and contains blanks, such as those before a time, an offset or a year; NULL if
 * there is none. A character that no date has, such as a newline, must follow before or at `end`. days_in_front: 5 Jan
 * 2015 is one. */
const char *time_extent(const char *begin, const char *end, bool days_in_front);

/* Whether the text is the name of a month, in full or abbreviated. */
bool time_is_month(const char *begin, const char *end);

/* What the dates of a column reveal about their order. */
typedef struct date_evidence {
    bool day_first, month_first; /* some date is valid in this order only */
    bool yearless;               /* some date has no year */
} date_evidence;

/* Add text that may be a date of any style; returns whether it is one. */
bool date_evidence_add(date_evidence *e, const char *begin, const char *end);
/* The order that follows; unsaid if there is evidence for neither, or for both. */
date_order date_evidence_order(const date_evidence *e);

#endif
