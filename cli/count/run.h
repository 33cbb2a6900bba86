/* A run over input files: what is counted, and on which axes. Its steps, in order, for count.c and for commands that
 * perform them one by one. */
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include "count/axes/axes.h"
#include "count/axes/round.h"
#include "count/count.h"
#include "count/groups.h"
#include "count/result.h"
#include "input/feed/feed.h"
#include "input/samples/image_stack.h"
#include "options/settings.h"

/* What is counted: a channel, or a column. */
typedef struct run_source {
    char *name; /* NULL: none */
    histo_dtype dtype;
    bool pixels;      /* 8-bit samples are brightness, or bytes; otherwise numbers */
    histo_plan *plan; /* of the first source with its dtype and axis; for a joint histogram, of the first source */
} run_source;

struct run {
    const settings *settings;
    const run_checkpointer *checkpointer; /* NULL: none */
    const run_team *team;                 /* NULL: alone */
    bins_list bins;
    feed feed;
    result *result;

    /* Determined by the first file; all others must match. */
    bool joint;
    int count; /* number of sources */
    run_source *sources;
    bool characters;       /* bytes or letters are counted */
    histo_dtype beside[2]; /* of the weights, and of the condition that plans know, in the current file; or
                            * HISTO_DTYPE_COUNT */
    bool of_pages;         /* names of series include page numbers */
    int64_t segments;      /* in each source, counted separately */

    image_stack stack; /* of --pairs, whose two axes are sources of a joint histogram */

    int naxes;      /* axes of a histogram */
    int axis_count; /* axes in total: those of a joint histogram, one shared by channels, or one per column of a
                     * table */
    axis_search *search;
    histo_axis *axes;
    int64_t group_count; /* histograms per source; 1 without --by */
    axis_search by;      /* of their words */
    bin_names *group_names;
    groups groups;
    bin_names **bins_of; /* per axis: the names of its bins; NULL: none */
    bool surveyed;       /* samples have been surveyed at least once */

    int file, page;   /* of the series being counted */
    int first_series; /* the first of these series */

    const histo_axis *given; /* axes that need not be found; NULL: none */
    int given_count;
    bool common_whole;   /* all samples of its files are integers */
    round_axis common;   /* for --compare */
    result *finds_order; /* whose series find the order of their samples, also in runs of several threads; NULL: none */
    histo_axis *resumed; /* axes of an earlier process, which are given */

    uint64_t bad, missing, ragged; /* cells and rows that a process of a team left out */

    moments_kind moments;
    histo_power_sums *found_sums; /* [count] for all samples of each source, from a survey; NULL: counting computes
                                   * them */
    bool finds_sums;              /* this pass computes them */
    double *q;                    /* [q_count]: quantiles to find, 0 to 1 */
    int q_count;
    double *found_quantiles; /* [count][q_count] for all samples of each source, from a survey; NULL: not found */
    bool whole;              /* bins identify every sample's value */
    double counting_s, bytes;
    int threads; /* number of threads that counted parts of the files; 0: those of the plan */
};

/* ---- Files and sources: run.c ---- */

/* Another pass over this many bytes of files takes less time than starting the command. */
enum { RUN_SMALL_FILES = 1 << 18 };

/* Open the first file, and match the settings with its contents. Series will be added to `to`. Call run_end afterwards,
 * also on failure. */
int run_open(run *r, const settings *s, result *to, fault *f);
/* Open the files of a run that has its settings, its result and perhaps its axes. */
int run_open_files(run *r, fault *f);
/* The `enter` of a pass: check that the file has what the first one has. */
int run_enter_file(void *self, int file, const samples *in, fault *f);
/* A pass over all samples; for a team, over those of the shards that this process takes. */
int run_visit(run *r, const feed_visitor *visitor, fault *f);
/* 0 once all processes of a team have come this far; -1 on all of them if one has failed. */
int run_agree(const run *r, int failed, fault *f);
/* The `pause` of a pass of a team. */
int run_pause_for_team(void *self, fault *f);
/* Whether all files can be read again, unlike pipes, and have at most this many bytes together. */
bool run_files_have(const settings *s, int64_t most);
/* The axis of source i. */
int run_axis_of(const run *r, int i);
/* How the samples of axis a are read; NULL: in no special way. */
channel_form *run_form_of_axis(const run *r, int a);
/* The dictionary of axis a; NULL: it has numbers. */
dictionary *run_words_of_axis(const run *r, int a);
/* Whether words are counted, or groups. */
bool run_has_words(const run *r);
/* Whether the values of axis a are times. */
bool run_has_times(const run *r, int a);
int run_fault_memory(fault *f);
void run_end(run *r);

/* ---- Axes: find_axes.c ---- */

/* Find the axes, and the groups, in as many passes over all files as necessary. */
int run_find_axes(run *r, fault *f);
/* run_open and run_find_axes. */
int run_begin(run *r, const settings *s, result *to, fault *f);
/* ---- Series: series.c ---- */

/* Add the histograms of a page of a file, or of all, on the run's axes. */
int run_add_series(run *r, int file, int page, fault *f);
/* The series of source i and a group. */
series *run_series_of(const run *r, int i, int64_t group);
/* Name the result, and its axes. */
int run_name_result(run *r, fault *f);

/* ---- Order: order.c ---- */

/* Before counting: let the series find the order of their samples meanwhile, if the run wants it. */
int run_begin_order(run *r, fault *f);
/* A new series of source i. */
void run_add_order(const run *r, int i, series *to);
/* Add samples of series k, one view for each axis. */
int run_take_order(const run *r, int k, const histo_view *views, const histo_fill_options *filter, const char *name,
                   fault *f);
/* Everything will be counted again. */
void run_forget_order(const run *r);
/* After counting: find the order of the samples, in further passes, if the run wants it and can make them. */
int run_find_order(run *r, fault *f);

/* ---- Plans and filling: fill.c ---- */

/* Whether the CPU would count samples like those of the first file, in large pieces. */
bool run_counts_on_cpu(run *r);
/* The `take` of a pass: count a piece. */
int run_count_piece(void *self, int file, const piece *p, fault *f);
/* Add samples, one view for each axis, to the moments of a series. */
int run_add_moments(const run *r, series *to, const histo_view *views, const histo_fill_options *fill, const char *name,
                    fault *f);
/* Count the images of --pairs. */
int run_count_stack(run *r, fault *f);
/* The plan for the first samples, valid until run_end; with --compile it has counted them. NULL on failure. */
const histo_plan *run_plan(run *r, fault *f);

#endif
