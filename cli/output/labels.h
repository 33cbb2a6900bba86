/* Names of axes, series and bins. */
#ifndef CLI_LABELS_H
#define CLI_LABELS_H

#include <stddef.h>

#include "base/text.h"
#include "base/times.h"
#include "count/result.h"
#include "count/view.h"
#include "options/settings.h"

/* The names of axes as titles of a drawing, with units: those given by options, else their own; "" if there is none. */
typedef struct titles {
    char axis[HISTO_MAX_AXES][400];
    char values[320]; /* "count" */
} titles;
titles titles_of(const result *r, const settings *s);

/* "r", or "axis 0" if unnamed. Returns text. */
char *label_of_axis(const result *r, int a, char *text, size_t size);
/* "r", or the number "0" if unnamed. */
char *label_of_series(const result *r, int i, char *text, size_t size);
/* A byte as a character: e, space, \n, 0x00. */
char *label_of_byte(int byte, char text[TEXT_NUMBER_BYTES]);
/* Bin b of an axis with names: "red", "other (320 values)". */
char *label_of_name(const bin_names *names, int64_t b, char *text, size_t size);
/* Format a value to the microsecond if it is a time; false: it is a number. */
bool label_of_time(const axis_form *form, double value, char text[TIME_TEXT_BYTES]);
/* A value on an axis, which may be a time, among values from min to max. Returns text. */
char *label_of_value(const axis_form *form, double value, double min, double max, char text[TEXT_NUMBER_BYTES]);
/* A difference of such values: a number, or a time span. */
char *label_of_difference(const axis_form *form, double value, char text[TEXT_NUMBER_BYTES]);
/* The precision with which edges of an axis of times are written; 0: they are numbers. step: every how many edges. */
time_digits label_digits(const axis_form *form, const histo_axis *axis, int64_t step);
/* "count", "sum of weights", "density", "cumulative fraction", "count per ms". Returns text. */
char *label_of_values(const result *r, const view *v, const settings *s, char *text, size_t size);

/* The colour that a name suggests. */
typedef enum series_tone {
    TONE_NONE = 0,
    TONE_RED,
    TONE_GREEN,
    TONE_BLUE,
    TONE_GRAY,
    TONE_CYAN,
    TONE_MAGENTA,
    TONE_YELLOW
} series_tone;
series_tone tone_of_series(const result *r, int i);

#endif
