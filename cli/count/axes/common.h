/* A common axis for histograms that are compared. */
#ifndef CLI_COMMON_H
#define CLI_COMMON_H

#include <histo/histo.h>

#include "count/axes/round.h"
#include "options/bins.h"

/* The axis with the range of all n, and as many bins as `spec` gives, or bins as narrow as their narrowest. */
round_axis axis_in_common(const histo_axis *axes, int n, const bins_spec *spec);

#endif
