/* One axis for histograms that are to be compared. */
#ifndef CLI_COMMON_H
#define CLI_COMMON_H

#include <histo/histo.h>

#include "base/fault.h"
#include "count/run.h"

/* The axis that has the range of all n, as many bins as `spec` gives, or bins as narrow as the narrowest of theirs. */
histo_axis axis_in_common(const histo_axis *axes, int n, const bins_spec *spec);

/* The axis that the samples of all files of a run have in common, whatever their types: 1; 0 if the run finds it by
 * itself, as for one file or bins that are given; -1. *whole: all samples are integers. */
int common_axis_of_files(const run *r, histo_axis *axis, bool *whole, fault *f);

#endif
