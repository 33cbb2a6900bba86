/* One axis for histograms that are to be compared. */
#ifndef CLI_COMMON_H
#define CLI_COMMON_H

#include <histo/histo.h>

#include "count/axes/round.h"
#include "options/bins.h"

/* The axis that has the range of all n, as many bins as `spec` gives, or bins as narrow as the narrowest of theirs. */
round_axis axis_in_common(const histo_axis *axes, int n, const bins_spec *spec);

#endif
