/* Edges written as first:last:step, in decimal steps: 0:1:0.1 has the edges 0.1, 0.2, 0.3 as they are read from text,
 * where adding or multiplying doubles would be off by a bit for some. */
#ifndef CLI_OPTIONS_STEPS_H
#define CLI_OPTIONS_STEPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"

typedef struct steps {
    int64_t count; /* number of steps, from edge 0 to the last */
    int64_t first, step;
    int decimals; /* edge i is (first + i * step) / 10^decimals; may be negative */
} steps;

/* where: for messages. */
int steps_parse(steps *s, const char *text, const char *where, fault *f);
/* The double nearest to edge i. */
double steps_at(const steps *s, int64_t i);

/* The step that is 1, 2 or 5 times a power of ten and nearest to this width, which is above 0. */
steps steps_round(double width);
/* The next larger one of these. */
steps steps_coarser(const steps *s);
/* A step equal to the shortest decimal number for this double: false if that has too many digits. */
bool steps_of_width(steps *s, double width);
/* Begin at `from` instead of at 0: false if that has too many digits. */
bool steps_begin(steps *s, double from);
/* Cover lo to hi: from the multiple of the step, counted from its origin, at or below lo, to one above hi, or at hi if
 * the last bin is closed. False if doubles cannot distinguish these edges, or if there would be more than 2^24. */
bool steps_cover(steps *s, double lo, double hi, bool closed);

#endif
