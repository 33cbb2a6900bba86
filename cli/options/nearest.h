/* Did you mean …? The candidate at the smallest edit distance. */
#ifndef CLI_NEAREST_H
#define CLI_NEAREST_H

#include <stddef.h>

typedef struct nearest {
    const char *word; /* the mistyped word; set it first */
    const char *best; /* NULL: nothing is close enough to suggest */
    size_t edits;
} nearest;

void nearest_try(nearest *n, const char *candidate);

#endif
