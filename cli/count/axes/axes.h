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

/* Whether the axes need a pass over samples of this dtype (HISTO_DTYPE_COUNT: of any). pixels: of 8 bits, they are
 * brightness, from black to white; else numbers. */
bool bins_need_data(const bins_list *b, histo_dtype dtype, bool pixels);

/* What a pass finds beside the survey. */
typedef struct axis_finding {
    histo_stats positive;  /* of the first positive samples, for a logarithmic axis */
    int64_t some_fraction; /* 1: a sample is not a whole number */
    int64_t samples;       /* of which NaN are some */
} axis_finding;

/* The search for one axis: passes over all samples, then the axis. */
typedef struct axis_search {
    const bins_spec *spec;
    histo_dtype dtype;
    bool pixels;          /* samples of 8 bits are brightness */
    histo_survey *survey; /* NULL for given edges */
    bool in_parts;        /* the survey can be merged with those of other samples */
    size_t memory;        /* of the survey */
    bool range_alone;     /* the default rule failed: this survey finds only the range */
    bool looks_for_bulk;  /* few samples may take most of the range, `full`: this survey finds where the others are */
    histo_survey *first;  /* before that one; NULL: there is none */
    bool in_bulk;         /* the axis has only these, and the few are beyond it */
    histo_axis full;
    int passes;   /* begun */
    bool in_pass; /* the pass that was begun last adds samples to it */

    dictionary *words;   /* what the samples are codes of, which the search counts and freezes; NULL: numbers */
    uint32_t most_words; /* that get bins of their own */
    dictionary_order order;
    bool words_counted;
    bool times;    /* the samples are times, of which the bins are steps of the calendar, unless a number is given */
    bool ranged;   /* their range is known */
    double *edges; /* of the axis, owned; NULL: it needs none, or the spec owns them */
    bool may_lack_words;  /* as a shard may, whose axis then has a bin for other words */
    bool looks;           /* a pass looks at numbers, although the bins are given */
    bool unlike_integers; /* there are infinities among the numbers of the first pass */
    double least, most;   /* of these numbers */
    axis_finding found;
    histo_power_sums *sums; /* to add the samples to as well, if axis_search_sums; or NULL */
    int asked;              /* quantiles that the survey finds, too; 0: none */
    bool found_asked;       /* before the survey found the range alone */
    double *asked_values;   /* [asked], owned */
    histo_axis axis;        /* after the search */
    int64_t too_many_bins;  /* at least this many bins were requested by a rule and not used; 0: none */
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
/* Begins a pass if the search needs another, and sets in_pass. */
bool axis_search_next_pass(axis_search *a);
/* After either of these, for numbers in text: one pass finds whether they are integers that doubles cannot hold. */
void axis_search_look(axis_search *a);
/* Whether this pass sees all samples as numbers, once, so that their sums may be found on the way. */
bool axis_search_sums(const axis_search *a);
/* Before the first pass: also find the quantiles q[n] of all samples, if there are a survey and memory for it. */
void axis_search_ask(axis_search *a, int n, const double *q);
/* These, after the last pass; false if they were not found. */
bool axis_search_quantiles(const axis_search *a, double *values);
/* Whether the pass of axis_search_look has found integers that doubles cannot hold, and of which dtype. */
bool axis_search_found_integers(const axis_search *a, histo_dtype *dtype);
/* Are the largest of these as doubles the first integer beyond this type? Some may be that. */
bool axis_search_at_limit(const axis_search *a, histo_dtype dtype);
/* Whether given bins reach beyond the integers that doubles hold, 2^53. */
bool bins_reach_far(const bins_spec *spec);
/* name: the file, for messages. */
int axis_search_add(axis_search *a, const histo_view *samples, const histo_fill_options *fill, const char *name,
                    fault *f);
int axis_search_end(axis_search *a, const char *name, fault *f);
/* After the search: print a line if a rule did not get its bins, or not all samples have one. */
void axis_search_remark(const axis_search *a, const char *name);
void axis_search_free(axis_search *a);

#endif
