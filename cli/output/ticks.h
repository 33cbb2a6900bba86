/* Scales of pictures and pages: the range shown, positions of values, round ticks, and labels. */
#ifndef CLI_TICKS_H
#define CLI_TICKS_H

#include <math.h>
#include <stdbool.h>

#include "options/settings.h"

/* Maps values lo … hi (lo < hi, and lo > 0 if log, lo >= 0 if root) to positions from … to, in pixels. */
typedef struct plot_scale {
    double lo, hi;
    bool times;     /* values are microseconds since 1970, and ticks are calendar steps */
    bool log, root; /* positions are proportional to logarithms, or to square roots */
    bool binary;    /* logarithmic, with ticks at powers of two: 512, 1 Ki */
    double from, to;
} plot_scale;

/* The position of a value, clamped to the ends. */
double plot_scale_at(const plot_scale *s, double value);

/* What a scale must contain. Start with PLOT_NO_VALUES. */
typedef struct plot_extent {
    double lo, hi;   /* of the finite values, and 0 */
    double positive; /* the smallest above 0 */
    bool whole;      /* all are integers */
} plot_extent;
static const plot_extent PLOT_NO_VALUES = {.positive = INFINITY, .whole = true};
void plot_extent_add(plot_extent *e, double value);

/* The scale for heights of bars, with room above the highest. A logarithmic one begins below the smallest height, so
 * that a count of 1 is visible. */
plot_scale plot_scale_of_heights(const plot_extent *e, count_scale kind);
/* The scale of the colours of a map. */
plot_scale plot_scale_of_colors(const plot_extent *e, count_scale kind);

/* "1.5×10" with the superscript exponent "−12"; exponent is "" if there is none. */
typedef struct plot_label {
    char text[48];
    char exponent[8];
} plot_label;

typedef struct plot_tick {
    double value;
    plot_label label; /* text is "" for a minor tick */
} plot_tick;

enum { PLOT_MAX_TICKS = 256 };

typedef struct plot_ticks {
    int count;
    plot_tick tick[PLOT_MAX_TICKS];
} plot_ticks;

typedef struct plot_notation {
    bool counts; /* 10 k, 2 M rather than 10 000, 2 000 000; other values get prefixes from millions on */
    bool whole;  /* no ticks between integers */
} plot_notation;

/* Make ticks in steps of 1, 2 or 5 times a power of ten, at most `most` (>= 2) of them labelled, with minor ones
 * between; powers of ten on a logarithmic scale. */
void plot_ticks_make(plot_ticks *t, const plot_scale *s, plot_notation notation, int most);

/* The length of a label along its axis, in pixels. */
typedef double plot_measure(void *context, const plot_label *label);

/* Make as many ticks, up to `most`, as leave labels at least `gap` pixels apart. */
void plot_ticks_fit(plot_ticks *t, const plot_scale *s, plot_notation notation, int most, double gap,
                    plot_measure *measure, void *context);

#endif
