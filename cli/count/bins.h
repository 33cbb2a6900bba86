/* From -b, -r, --width, --edges and --log to axes, with passes over the data where they need them. */
#ifndef CLI_BINS_H
#define CLI_BINS_H

#include <histo/histo.h>
#include <stdio.h>

#include "options/settings.h"

typedef enum bins_kind {
    BINS_DEFAULT = 0, /* nothing was asked: one bin a value of 8-bit samples, else the rule auto, at most 1024 */
    BINS_NUMBER,
    BINS_RULE,
    BINS_WIDTH,
    BINS_EDGES,
} bins_kind;

/* What was asked for one axis. */
typedef struct bins_spec {
    bins_kind kind;
    int64_t number; /* of BINS_NUMBER and BINS_EDGES */
    histo_rule rule;
    double width;
    double *edges; /* [number + 1] */
    bool has_range;
    histo_range range;
    double lo, hi; /* of a fixed range, or per cent */
    bool log;
} bins_spec;

/* What was asked: one spec for all axes, or one for each. */
typedef struct bins_list {
    int count;
    bins_spec spec[HISTO_MAX_AXES];
} bins_list;

int bins_parse(bins_list *b, const settings *s, fault *f);
void bins_free(bins_list *b);

/* The spec of axis a of naxes; NULL if their numbers do not match. */
const bins_spec *bins_of_axis(const bins_list *b, int a, int naxes, fault *f);

/* The axis is the same whatever the samples and their dtype. */
bool bins_are_fixed(const bins_spec *spec);

/* May finding the axes need a pass over samples of this dtype (HISTO_DTYPE_COUNT: of any)? */
bool bins_need_data(const bins_list *b, histo_dtype dtype);

/* The search for one axis: passes over all samples, then the axis. */
typedef struct axis_search {
    const bins_spec *spec;
    histo_dtype dtype;
    histo_survey *survey;  /* NULL for given edges */
    bool range_alone;      /* what the default rule asks for is not possible: this survey is without it */
    histo_stats positive;  /* of the first samples above 0, for a logarithmic axis */
    histo_axis axis;       /* once it has ended; its edges, if any, are the spec's */
    int64_t too_many_bins; /* that a rule asked for, at least; 0: it has those it asked for */
} axis_search;

int axis_search_begin(axis_search *a, const bins_spec *spec, histo_dtype dtype, fault *f);
bool axis_search_next_pass(axis_search *a);
/* name: of the file, for sentences. */
int axis_search_add(axis_search *a, const histo_view *samples, const histo_fill_options *fill, const char *name,
                    fault *f);
int axis_search_end(axis_search *a, const char *name, fault *f);
/* Once it has ended: a line that tells where a rule did not get its bins. */
void axis_search_remark(const axis_search *a, const char *name, FILE *out);
void axis_search_free(axis_search *a);

#endif
