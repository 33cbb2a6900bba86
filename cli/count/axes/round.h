/* Axes whose edges are decimal numbers, multiples of a step: 0.3 is an edge as it is read from text, and so the sample
 * 0.3 is in the bin that begins with 0.3. */
#ifndef CLI_ROUND_AXES_H
#define CLI_ROUND_AXES_H

#include <histo/histo.h>

#include "options/steps.h"

typedef struct round_axis {
    histo_axis axis;
    double *edges; /* those of the axis, owned, if no regular axis has the same; else NULL */
} round_axis;

/* closed: the last bin has its upper edge, too. whole: of whole numbers, whose bins of width 1 are integers. False if
 * doubles do not tell the edges apart, or without memory. */
bool round_axis_of_steps(round_axis *to, const steps *s, bool closed, bool whole);

/* About so many bins, which have lo … hi: their width is 1, 2 or 5 times a power of ten, and at least 1 for whole
 * numbers. More digits than doubles have take wider bins; false if that does not help. */
bool round_axis_around(round_axis *to, double lo, double hi, double bins, bool whole, bool closed);

/* Bins of this width from multiples of it on, or from lo on if it is given, to one that has hi. False if the width has
 * too many digits, or there are too many bins. */
bool round_axis_of_width(round_axis *to, double lo, double hi, double width, bool lo_given, bool hi_given);

#endif
