/* The axes of histograms: as given, or found in passes over the samples. */
#ifndef CLI_AXES_H
#define CLI_AXES_H

#include <histo/histo.h>
#include <stdio.h>

#include "options/bins.h"

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
