/* Axes with their edges worked out. */
#ifndef AXIS_AXIS_H
#define AXIS_AXIS_H

#include <histo/histo.h>

#include "axis/slot_of.h"
#include "base/error.h"

/* The part of histo_axis_check that takes no time in proportion to the bins: all but that the edges increase. */
histo_status histo_axis_check_description(const histo_axis *axis);

/* Regular and integer axes whose bins are wide against the rounding of their edges need no stored edges: see
 * slot_of.h. `axis` must have passed histo_axis_check_description. */
bool histo_axis_is_uniform(const histo_axis *axis);

/* Width of a bin of a regular or integer axis. */
double histo_axis_step(const histo_axis *axis);

/* Check axis and make an owned copy: edges is NULL for a uniform axis, else bins + 1 doubles that
 * histo_axis_disown frees. */
histo_status histo_axis_own(const histo_axis *axis, histo_axis *owned);
void histo_axis_disown(histo_axis *owned);

/* HISTO_INVALID unless the axis has exactly these bins + 1 edges: those of a file, which a formula replaces. */
histo_status histo_axis_check_kept(const histo_axis *owned, const double *edges);

/* Same bins, same edges to the bit, same closing? Both owned. */
bool histo_axis_equal(const histo_axis *a, const histo_axis *b);

/* Bins [begin, begin + bins * factor) of an owned axis, `factor` joined to one each: an axis with exactly these edges,
 * of the same kind if its formula gives them, else variable. Owned. */
histo_status histo_axis_regroup(const histo_axis *owned, int64_t begin, int64_t bins, int64_t factor,
                                histo_axis *regrouped);

/* The smallest value of the dtype that is not below `edge`, or above it; as a double, which holds it. */
double histo_first_value(histo_dtype dtype, double edge, bool above);

/* Cells for an owned axis and samples of a dtype of at least 32 bits; none if it has too many bins. */
histo_status histo_cells_make(histo_cells *cells, const histo_axis *owned, histo_dtype dtype);
void histo_cells_free(histo_cells *cells);

/* Prepare an owned axis, which must outlive the lookup, for samples of one dtype. many: enough samples will come to pay
 * for a table of 65536 entries. It has no cells: they take longer to make, and GPUs' plans alone want them; whoever
 * makes them, histo_lookup_free frees them too. */
histo_status histo_lookup_make(histo_lookup *lookup, const histo_axis *owned, histo_dtype dtype, bool many);
void histo_lookup_free(histo_lookup *lookup);

/* Find a curve on which the stored edges of a lookup for f32 are regular, if there is one: near_f32 tells. */
void histo_lookup_fit(histo_lookup *lookup);

/* Slot of one sample at an unaligned address: the plain form of the lookup, without its table. */
uint32_t histo_lookup_slot(const histo_lookup *lookup, histo_dtype dtype, const void *address);

#endif
