/* Levels: the bins of tones, and the values that their maps give. Integers of 8 and 16 bits have a bin for each value;
 * other types have bins over the range of the samples. */
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
    double edges[3]; /* the axis may refer to these: do not copy the levels */
    histo_within within;
    double lo, hi; /* of results */
} levels;

/* The range of an integer dtype, as doubles. */
void levels_of_dtype(histo_dtype dtype, double *lo, double *hi);

/* Begin levels for samples of a dtype whose largest value is `largest` (0: unknown). usual: the default number of bins
 * if there are too many values; 0: the general default. */
int levels_begin(levels *l, histo_dtype dtype, int64_t largest, const settings *s, int64_t usual, fault *f);
void levels_free(levels *l);

/* Whether they need another pass over the samples: if so, pass the samples to levels_survey, and ask again. */
bool levels_next_pass(levels *l);
int levels_survey(levels *l, const histo_view *samples, const histo_fill_options *fill, const char *name, fault *f);
/* After the passes. name: the file, for messages. */
int levels_find(levels *l, const char *name, fault *f);

/* After counting: reduce the bins, and the results, to what the samples need. Replaces the histogram. */
int levels_trim(levels *l, histo_hist **hist, const settings *s, int64_t largest, fault *f);

#endif
