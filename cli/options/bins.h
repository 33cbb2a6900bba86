/* The settings of -b, -r, --width, --edges and --log. */
#ifndef CLI_OPTIONS_BINS_H
#define CLI_OPTIONS_BINS_H

#include <histo/histo.h>

#include "base/times.h"
#include "options/settings.h"

typedef enum bins_kind {
    BINS_DEFAULT =
        0, /* no option: a bin for each value of 8-bit images, else about as many as the rule auto asks for */
    BINS_NUMBER,
    BINS_RULE,
    BINS_WIDTH,
    BINS_EDGES,
} bins_kind;

/* The settings for one axis. */
typedef struct bins_spec {
    bins_kind kind;
    int64_t number; /* for BINS_NUMBER and BINS_EDGES */
    bool fewer;     /* for BINS_NUMBER: fewer if the range contains fewer doubles */
    histo_rule rule;
    double width;
    time_step step; /* for BINS_WIDTH with dates and times, instead */
    bool has_times; /* lo and hi are times */
    double *edges;  /* [number + 1] */
    bool has_range;
    histo_range range;
    double lo, hi; /* in the library's terms: values, infinite at an open end of a fixed range, or percentiles */
    bool log;
    bool every_value; /* by default, integers within a range of 2^16 have a bin for each value */
    bool letters;     /* a bin is a letter */
} bins_spec;

/* One spec for all axes, or one per axis. */
typedef struct bins_list {
    int count;
    bins_spec spec[HISTO_MAX_AXES];
} bins_list;

int bins_parse(bins_list *b, const settings *s, fault *f);
void bins_free(bins_list *b);

/* Whether an end of the range is given as a value, rather than found among the samples. */
bool bins_lower_end_is_given(const bins_spec *spec);
bool bins_upper_end_is_given(const bins_spec *spec);

#endif
