/* Edges written as first:last:step, in steps that decimal numbers make: 0:1:0.1 has the edges 0.1, 0.2, 0.3 as they are
 * read from text, where adding or multiplying doubles would miss some by a bit. */
#ifndef CLI_OPTIONS_STEPS_H
#define CLI_OPTIONS_STEPS_H

#include <stdint.h>

#include "base/fault.h"

typedef struct steps {
    int64_t count; /* of steps, from edge 0 to the last */
    int64_t first, step;
    int decimals; /* edge i is (first + i * step) / 10^decimals */
} steps;

/* where: for messages. */
int steps_parse(steps *s, const char *text, const char *where, fault *f);
double steps_at(const steps *s, int64_t i);

#endif
