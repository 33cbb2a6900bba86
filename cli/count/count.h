/* Counting the samples of files into a result. */
#ifndef CLI_COUNT_H
#define CLI_COUNT_H

#include "count/axes.h"
#include "count/result.h"
#include "input/samples.h"
#include "input/stack.h"
#include "options/settings.h"

/* Count what s says into r. want_stats: the moments of the samples, too. */
int count_files(const settings *s, bool want_stats, result *r, fault *f);

/* ---- The steps of it, for `histo explain` --------------------------------------------------------------- */

/* A run over input files: what is counted, and on which axes. */
typedef struct run {
    const settings *settings;
    bins_list bins;
    feed feed;
    result *result;

    /* As the first file has it; all others must be like it. */
    bool joint;
    int count;        /* sources that are counted */
    int64_t segments; /* of each, counted apart */
    char **names;
    histo_dtype *dtypes;

    stack stack; /* of --pairs, whose two axes are sources of a joint histogram */

    int naxes;      /* of a histogram */
    int axis_count; /* axes in all: of a joint histogram, one that channels share, or one for each column of a table */
    axis_search *search;
    histo_axis *axes;
    bool *in_pass;
    bool surveyed; /* a sample, at least */

    histo_plan **plans; /* [count], one for the sources of each dtype and axis; a joint histogram has the first */
    int file, page;     /* that series are counted for */
    int first_series;   /* of them */

    bool want_stats, whole; /* whole: the bins tell every sample's value */
    double counting_s, bytes;
} run;

/* Open the first file, find out what it has of what s asks, and find the axes, in as many passes over all files as that
 * takes. The series will go to `to`. run_end afterwards, also on failure. */
int run_begin(run *r, const settings *s, result *to, fault *f);
void run_end(run *r);

/* The plan for the first samples, which lives until run_end; NULL on failure. */
const histo_plan *run_plan(run *r, fault *f);

#endif
