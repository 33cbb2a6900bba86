/* Counting the samples of files into a result. */
#ifndef CLI_COUNT_H
#define CLI_COUNT_H

#include "count/axes.h"
#include "count/result.h"
#include "input/samples.h"
#include "input/stack.h"
#include "options/settings.h"

/* Count what s describes into r. want_stats: compute moments of the samples too. */
int count_files(const settings *s, bool want_stats, result *r, fault *f);

/* Count each source i of the samples into a histogram on axes[i], or on the only one. */
int count_on(const settings *s, const histo_axis *axes, int naxes, result *r, fault *f);

/* ---- Its steps, for `histo explain` --------------------------------------------------------------------- */

/* A run over input files: what is counted, and on which axes. */
typedef struct run {
    const settings *settings;
    bins_list bins;
    feed feed;
    result *result;

    /* From the first file; all others must match. */
    bool joint;
    int count;        /* sources to count */
    bool of_pages;    /* series have the numbers of pages in their names */
    int64_t segments; /* of each source, counted separately */
    char **names;
    histo_dtype *dtypes;

    stack stack; /* of --pairs, whose two axes are sources of a joint histogram */

    int naxes;      /* axes of a histogram */
    int axis_count; /* axes in total: those of a joint histogram, one shared by channels, or one per column of a table
                     */
    axis_search *search;
    histo_axis *axes;
    bool *in_pass;
    bool surveyed; /* samples have been surveyed at least once */

    histo_plan **plans; /* [count], one per dtype and axis; a joint histogram uses the first */
    int file, page;     /* of the series being counted */
    int first_series;   /* the first of these */

    const histo_axis *given; /* axes that need not be found; NULL: none */
    int given_count;

    bool want_stats, whole; /* whole: bins identify every sample's value */
    double counting_s, bytes;
} run;

/* Open the first file, match the settings with its contents, and find the axes, in as many passes over all files as
 * necessary. Series will be added to `to`. Call run_end afterwards, also on failure. */
int run_begin(run *r, const settings *s, result *to, fault *f);
void run_end(run *r);

/* The plan for the first samples, valid until run_end; with --compile it has counted them. NULL on failure. */
const histo_plan *run_plan(run *r, fault *f);

#endif
