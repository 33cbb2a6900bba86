/* The conditions of --where on the values of a column. */
#ifndef CLI_FILTER_H
#define CLI_FILTER_H

#include "input/reader.h"
#include "options/settings.h"

/* Inclusive. A long double holds all integers of 64 bits, and with them integers are compared. */
typedef struct condition_range {
    double lo, hi;
    double nearest_lo, nearest_hi; /* in the type of the samples at hand */
    long double whole_lo, whole_hi;
} condition_range;

/* The value of a source is in any of the ranges; negated: in none. */
typedef struct condition {
    int source; /* index in the choice */
    bool negated;
    int count;
    condition_range *ranges;
    bool large;        /* an end is so large that doubles do not tell it from its neighbours */
    bool told;         /* the reader says of each value whether it is in a range: VALUES_TRUTHS */
    dictionary *words; /* in whose codes they are; NULL: in the values themselves */
} condition;

/* Read the values that `from` names, as those of a column are: numbers, words or times, in the style of its dates
 * (NULL: in forms that say all). boolean: numbers are 0 and 1, false and true. name: of the file. */
int condition_parse(condition *c, const where_condition *from, values_kind kind, bool boolean, const time_style *style,
                    const char *name, fault *f);
void condition_free(condition *c);

/* Is an integer in any of the ranges; a double; and the number that text begins with, behind which something else
 * follows? */
bool condition_has(const condition *c, long double value);
bool condition_has_double(const condition *c, double value);
bool condition_has_written(const condition *c, const char *text);

/* Keep the samples whose values in `where` are in a range, ends included. Numbers that people write are those of the
 * type of the samples: 0.1 finds the f32 nearest to it. */
void filter_set_range(histo_fill_options *fill, const histo_view *where, double lo, double hi);

/* Set the bytes of the samples in `values`, of one or two dimensions, for which the condition does not hold to 0. */
void condition_apply(condition *c, const histo_view *values, unsigned char *keep);

#endif
