/* The axes of histograms: given by options, or found in passes over the samples. */
#ifndef CLI_AXES_H
#define CLI_AXES_H

#include <histo/histo.h>
#include <stdio.h>

#include "options/bins.h"

/* The spec for axis a of naxes; NULL if their numbers do not match. */
const bins_spec *bins_of_axis(const bins_list *b, int a, int naxes, fault *f);

/* Is the axis independent of the samples and their dtype? */
bool bins_are_fixed(const bins_spec *spec);

/* Do the axes need a pass over samples of this dtype (HISTO_DTYPE_COUNT: any)? */
bool bins_need_data(const bins_list *b, histo_dtype dtype);

/* The search for one axis: passes over all samples, then the axis. */
typedef struct axis_search {
    const bins_spec *spec;
    histo_dtype dtype;
    histo_survey *survey;  /* NULL for given edges */
    bool range_alone;      /* the default rule failed: this survey finds only the range */
    histo_stats positive;  /* of the first positive samples, for a logarithmic axis */
    histo_axis axis;       /* after the search; the spec owns its edges */
    int64_t too_many_bins; /* at least this many bins were requested by a rule and not used; 0: none */
} axis_search;

int axis_search_begin(axis_search *a, const bins_spec *spec, histo_dtype dtype, fault *f);
bool axis_search_next_pass(axis_search *a);
/* name: the file, for messages. */
int axis_search_add(axis_search *a, const histo_view *samples, const histo_fill_options *fill, const char *name,
                    fault *f);
int axis_search_end(axis_search *a, const char *name, fault *f);
/* After the search: print a line if a rule did not get its bins. */
void axis_search_remark(const axis_search *a, const char *name, FILE *out);
void axis_search_free(axis_search *a);

#endif
