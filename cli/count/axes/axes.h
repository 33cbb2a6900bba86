/* The axes of histograms: given by options, or found in passes over the samples. */
#ifndef CLI_AXES_H
#define CLI_AXES_H

#include <histo/histo.h>
#include <stdio.h>

#include "input/samples/dictionary.h"
#include "options/bins.h"

/* The spec for axis a of naxes; NULL if their numbers do not match. */
const bins_spec *bins_of_axis(const bins_list *b, int a, int naxes, fault *f);

/* Whether the axis is independent of the samples and their dtype. */
bool bins_are_fixed(const bins_spec *spec);

/* Whether the axes need a pass over samples of this dtype (HISTO_DTYPE_COUNT: of any). pixels: 8-bit samples are
 * brightness, from black to white; otherwise numbers. */
bool bins_need_data(const bins_list *b, histo_dtype dtype, bool pixels);

/* What a pass finds in addition to the survey. */
typedef struct axis_finding {
    histo_stats positive;  /* of the first positive samples, for a logarithmic axis */
    int64_t some_fraction; /* 1: some sample is not an integer */
    int64_t samples;       /* including NaN */
} axis_finding;

/* The search for one axis: passes over all samples, then the axis. */
typedef struct axis_search {
    const bins_spec *spec;
    histo_dtype dtype;
    bool pixels;          /* 8-bit samples are brightness */
    histo_survey *survey; /* NULL if edges are given */
    bool in_parts;        /* the survey can be merged with those of other samples */
    size_t memory;        /* for the survey */
    bool range_alone;     /* the default rule failed: this survey finds only the range */
    bool looks_for_bulk;  /* a few samples may take most of the range, `full`: this survey finds where the others are */
    histo_survey *first;  /* the survey before that one; NULL: none */
    bool in_bulk;         /* the axis covers only the others, and the few are outside */
    histo_axis full;
    int passes;   /* number begun */
    bool in_pass; /* the pass that was begun last adds samples to it */

    dictionary *words;   /* the samples are codes of these words, which the search counts and freezes; NULL: numbers */
    uint32_t most_words; /* number of words with their own bins */
    dictionary_order order;
    bool words_counted;
    bool times;           /* the samples are times; bins are calendar steps, unless their number is given */
    bool ranged;          /* their range is known */
    double *edges;        /* edges of the axis, owned; NULL: it needs none, or the spec owns them */
    bool may_lack_words;  /* for a shard, whose axis then has a bin for words of other shards */
    bool looks;           /* a pass looks at the numbers, although the bins are given */
    bool unlike_integers; /* there are infinities among the numbers of the first pass */
    double least, most;   /* of these numbers */
    axis_finding found;
    histo_power_sums *sums; /* if axis_search_sums: also add the samples to these; or NULL */
    int asked;              /* number of quantiles that the survey finds, too */
    bool found_asked;       /* found before the survey was replaced by one for the range alone */
    double *asked_values;   /* [asked], owned */
    histo_axis axis;        /* after the search */
    int64_t too_many_bins;  /* a rule requested at least this many bins, and was not followed; 0: it was */
} axis_search;

/* pixels: as for bins_need_data. searches: how many there are at the same time. */
int axis_search_begin(axis_search *a, const bins_spec *spec, histo_dtype dtype, bool pixels, int searches, fault *f);
/* As axis_search_begin, for a part of the samples. */
int axis_search_begin_part(axis_search *a, const bins_spec *spec, histo_dtype dtype, bool pixels, int searches,
                           fault *f);
/* After either of these: the samples are codes of words. */
void axis_search_words(axis_search *a, dictionary *words, uint32_t most, dictionary_order order);
/* After either of these: the samples are times. */
int axis_search_times(axis_search *a, fault *f);
/* Begin a pass if the search needs another, and set in_pass. */
bool axis_search_next_pass(axis_search *a);
/* After either of these, for numbers in text: one pass finds out whether they are integers that doubles cannot
 * represent. */
void axis_search_look(axis_search *a);
/* Whether this pass sees all samples as numbers, exactly once, so that it can also compute their sums. */
bool axis_search_sums(const axis_search *a);
/* Before the first pass: also find the quantiles q[n] of all samples, if there is a survey, and memory for it. */
void axis_search_ask(axis_search *a, int n, const double *q);
/* These quantiles, after the last pass; false if they were not found. */
bool axis_search_quantiles(const axis_search *a, double *values);
/* Whether the pass of axis_search_look has found integers that doubles cannot represent, and of which dtype. */
bool axis_search_found_integers(const axis_search *a, histo_dtype *dtype);
/* Whether the largest of these, as doubles, equal the first integer beyond this type, so that some may be that. */
bool axis_search_at_limit(const axis_search *a, histo_dtype dtype);
/* Whether given bins extend beyond 2^53, up to which doubles represent all integers. */
bool bins_reach_far(const bins_spec *spec);
/* name: the file, for messages. */
int axis_search_add(axis_search *a, const histo_view *samples, const histo_fill_options *fill, const char *name,
                    fault *f);
int axis_search_end(axis_search *a, const char *name, fault *f);
/* After the search: print a line if a rule did not get its bins, or some samples have no bin. */
void axis_search_remark(const axis_search *a, const char *name);
void axis_search_free(axis_search *a);

#endif
