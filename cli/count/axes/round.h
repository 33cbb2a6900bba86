/* Axes whose edges are decimal numbers, multiples of a step: the edge 0.3 is the double that text 0.3 is read as, so
 * the sample 0.3 is in the bin that begins at 0.3. */
#ifndef CLI_ROUND_AXES_H
#define CLI_ROUND_AXES_H

#include <histo/histo.h>

#include "options/steps.h"

typedef struct round_axis {
    histo_axis axis;
    double *edges; /* owned edges of the axis, if no regular axis has the same; else NULL */
} round_axis;

/* closed: the last bin includes its upper edge. whole: for integers, whose bins of width 1 are an integer axis. False
 * if doubles cannot distinguish the edges, or if out of memory. */
bool round_axis_of_steps(round_axis *to, const steps *s, bool closed, bool whole);

/* About this many bins that contain lo … hi: their width is 1, 2 or 5 times a power of ten, and at least 1 for
 * integers. Bins are widened if edges need more digits than doubles have; false if that does not help. */
bool round_axis_around(round_axis *to, double lo, double hi, double bins, bool whole, bool closed);

/* Bins of this width, starting at a multiple of it, or at lo if that is given, up to one that contains hi. False if the
 * width has too many digits, or there are too many bins. */
bool round_axis_of_width(round_axis *to, double lo, double hi, double width, bool lo_given, bool hi_given);

#endif
