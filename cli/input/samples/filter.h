/* The --where conditions on the values of a column. */
#ifndef CLI_FILTER_H
#define CLI_FILTER_H

#include "input/reader.h"
#include "options/settings.h"

/* Inclusive. A long double holds all 64-bit integers, and integers are compared as such. */
typedef struct condition_range {
    double lo, hi;
    double nearest_lo, nearest_hi; /* rounded to the type of the current samples */
    long double whole_lo, whole_hi;
} condition_range;

/* The value of a source is in any of the ranges; negated: in none. */
typedef struct condition {
    int source; /* index in the choice */
    bool negated;
    int count;
    condition_range *ranges;
    bool large;        /* an end is so large that doubles cannot distinguish it from its neighbours */
    bool told;         /* the reader tells for each value whether it is in a range: VALUES_TRUTHS */
    dictionary *words; /* ranges are of its codes; NULL: of the values themselves */
} condition;

/* Parse the values in `from` according to the column: numbers, words or times, in the style of its dates (NULL:
 * unambiguous forms). boolean: numbers are 0 and 1, for false and true. name: of the file. */
int condition_parse(condition *c, const where_condition *from, values_kind kind, bool boolean, const time_style *style,
                    const char *name, fault *f);
void condition_free(condition *c);

/* Whether an integer is in any of the ranges; a double; and the number at the start of text that continues with
 * something else. */
bool condition_has(const condition *c, long double value);
bool condition_has_double(const condition *c, double value);
bool condition_has_written(const condition *c, const char *text);

/* Keep the samples whose values in `where` are in a range, ends included. Decimal numbers are taken in the type of the
 * samples: 0.1 finds the f32 nearest to it. */
void filter_set_range(histo_fill_options *fill, const histo_view *where, double lo, double hi);

/* Set `keep` to 0 for samples in `values`, of one or two dimensions, for which the condition does not hold. */
void condition_apply(condition *c, const histo_view *values, unsigned char *keep);

#endif
