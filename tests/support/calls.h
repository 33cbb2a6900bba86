/* All functions of the library that return a status, as a table of calls on a few small objects. */
#ifndef TESTS_CALLS_H
#define TESTS_CALLS_H

#include <stdbool.h>

#include "support/check.h"

enum { CALL_BINS = 4, CALL_SAMPLES = 64, CALL_POINTERS = 8 };

/* A file that calls write and read, in the current directory. */
#define CALL_FILE "wisdom-of-calls.txt"

/* Integer axes from 0; samples of bytes; histograms of one axis, of two, with weights, and plans for the first;
 * quantiles, thresholds, ranks and surveys in their first pass, and after their last; features and gradients. */
typedef struct call_objects {
    histo_axis axes[2];
    histo_view samples[2], stack; /* stack: two images of the samples */
    histo_hist *hist, *other, *weighted, *joint;
    histo_plan *plan, *of_records;
    histo_map *map;
    histo_quantiles *quantiles, *done;
    histo_thresholds *thresholds, *split;
    histo_ranks *ranks, *ranked;
    histo_survey *survey, *found, *fresh, *asked;
    histo_features *features;   /* the samples as a table of one feature, */
    histo_gradients *gradients; /* and as the gradients of its rows */
    void *part;                 /* a saved survey */
} call_objects;

void call_objects_make(call_objects *o);
void call_objects_free(const call_objects *o);

/* Reads the samples as one-byte records. */
extern const histo_function call_function;

typedef struct call {
    const char *name; /* without histo_ */
    histo_status (*function)(void **p);
    const char *arguments; /* what each pointer points to, in order; those that may be NULL end in '?' */
} call;

extern const call calls[];
extern const int calls_size;

/* Set p[CALL_POINTERS] to the call's arguments, with zeroed memory for results; bit n of may_be_null: p[n] may be NULL.
 * Returns their number. */
int call_arguments(const call *c, const call_objects *o, void **p, unsigned *may_be_null);

/* Pass the texts of the public headers to `read`, one after the other; returns their number. */
int each_header(void (*read)(void *context, const char *text), void *context);

typedef struct declaration {
    char text[2048], name[64];
    const char *parameters; /* from '(' on, in the text */
} declaration;

/* The next declaration of a function from *at on, which advances past its beginning. */
bool next_declaration(const char **at, declaration *d);

#endif
