/* Levels: the bins of tones, and the values that their maps give. Integers of 8 and 16 bits have a bin for each value;
 * others have bins over the range of the samples. */
#ifndef CLI_LEVELS_H
#define CLI_LEVELS_H

#include "count/axes/axes.h"

typedef struct levels {
    histo_dtype dtype;
    bins_spec spec;     /* of the search */
    axis_search search; /* for dtypes with too many values */
    bool searched;
    histo_stats seen; /* of floats, until two values differ */
    histo_axis axis;
    double edges[3]; /* to which the axis may refer: do not copy the levels */
    histo_within within;
    double lo, hi; /* of results */
} levels;

/* All values of an integer dtype, as doubles have them. */
void levels_of_dtype(histo_dtype dtype, double *lo, double *hi);

/* Of samples of a dtype whose largest value is known to be `largest` (0: it is not). usual: the number of bins without
 * -b where values are too many; 0: the default. */
int levels_begin(levels *l, histo_dtype dtype, int64_t largest, const settings *s, int64_t usual, fault *f);
void levels_free(levels *l);

/* Do they need a pass over the samples? Then pass them to levels_survey, and ask again. */
bool levels_next_pass(levels *l);
int levels_survey(levels *l, const histo_view *samples, const histo_fill_options *fill, const char *name, fault *f);
/* After the passes. name: the file, for messages. */
int levels_find(levels *l, const char *name, fault *f);

/* After counting: take only the bins, and only the results, that the samples ask for. Replaces the histogram. */
int levels_trim(levels *l, histo_hist **hist, const settings *s, int64_t largest, fault *f);

#endif
