/* Axes and their edges; lookups. */
#ifndef AXIS_AXIS_H
#define AXIS_AXIS_H

#include <histo/histo.h>

#include "axis/slot_of.h"
#include "base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* histo_axis_check without the check that edges increase, which takes time proportional to the number of bins. */
histo_status histo_axis_check_description(const histo_axis *axis);

/* Whether an axis is uniform: a regular or integer axis whose bins are wide compared with rounding errors of their
 * edges, which then need not be stored (slot_of.h). `axis` must have passed histo_axis_check_description. */
bool histo_axis_is_uniform(const histo_axis *axis);

/* Bin width of a regular or integer axis. */
double histo_axis_step(const histo_axis *axis);

/* histo_axis_edge, for callers within the library. */
double histo_edge_at(const histo_axis *axis, int64_t i);

/* Make an owned copy of an axis that has passed histo_axis_check_description; its edges are checked here.
 * histo_axis_disown frees the copy's edges, which are NULL for a uniform axis. */
histo_status histo_axis_own(const histo_axis *axis, histo_axis *owned);
void histo_axis_disown(histo_axis *owned);

/* The edges of an owned axis as doubles, rounded up; NULL for a uniform axis. */
static inline const double *histo_axis_doubles(const histo_axis *owned)
{
    const double *edges = (const double *)owned->edges;
    return owned->edge_type == HISTO_EDGES_F64 ? edges : edges - (owned->bins + 1); /* the integers follow the
                                                                                     * doubles */
}

/* Own an axis for the duration of a call without a copy: *borrowed refers to the axis' edges. Also measures
 * histo_axis_off, which *borrowed cannot store, unless `off` is NULL. Returns false, perhaps with an error, if the axis
 * is invalid or has to be owned, because its edges are not given as increasing doubles. */
bool histo_axis_borrow(const histo_axis *axis, histo_axis *borrowed, double *off);

/* Whether a description comes with edges; free edges that a loader has allocated. */
bool histo_axis_has_edges(const histo_axis *axis);
void histo_axis_free_given(histo_axis *axis);

/* Another owner of the same edges, which are immutable. */
histo_axis histo_axis_share(const histo_axis *owned);

/* Whether the edges of an owned axis are finite and increasing, and its total width is finite. */
bool histo_axis_is_ordinary(const histo_axis *owned);

/* The thresholds for 64-bit integers of a dtype on an owned axis that has integer edges; else NULL. */
const histo_edge_keys *histo_axis_thresholds(const histo_axis *owned, histo_dtype dtype);

/* HISTO_INVALID if an edge of a valid axis is infinite; for functions that need bin centres. */
histo_status histo_axis_check_finite(const histo_axis *axis, const char *what);

/* The largest distance, in bins, of an owned axis's stored edges from those of a regular axis with the same ends: 0 if
 * bitwise equal, HISTO_FAR_OFF if by more than HISTO_NEAR. */
double histo_axis_off(const histo_axis *owned);
#define HISTO_NEAR 0.125
#define HISTO_FAR_OFF 1.0

/* HISTO_INVALID unless the axis has exactly these bins + 1 edges, read from a file that also names the formula. */
histo_status histo_axis_check_kept(const histo_axis *owned, const double *edges);

/* Bins [begin, begin + bins * factor) of an owned axis, each `factor` of them merged: an owned axis with exactly these
 * edges, of the same kind if its formula gives them, else variable. */
histo_status histo_axis_regroup(const histo_axis *owned, int64_t begin, int64_t bins, int64_t factor,
                                histo_axis *regrouped);

/* The smallest value of the dtype that is not below `edge`, or that is above it, as a double, which represents it
 * exactly; NaN if there is none. */
double histo_first_value(histo_dtype dtype, double edge, bool above);

/* Cells for an owned axis and this many samples, at least 1, of a dtype of at least 32 bits; none if the axis has too
 * many bins. */
histo_status histo_cells_make(histo_cells *cells, const histo_axis *owned, histo_dtype dtype, int64_t samples);
void histo_cells_free(histo_cells *cells);

/* Prepare an owned axis, which must outlive the lookup, for samples of one dtype. many: there are enough samples to
 * repay a table of 65536 entries. Does not make cells, which take longer and are used on GPUs only; histo_lookup_free
 * frees them. */
histo_status histo_lookup_make(histo_lookup *lookup, const histo_axis *owned, histo_dtype dtype, bool many);
void histo_lookup_free(histo_lookup *lookup);

/* Make a lookup without a table and without what only GPUs use, for so few samples that these would not pay off;
 * nothing to free. */
void histo_lookup_start(histo_lookup *lookup, const histo_axis *owned, histo_dtype dtype);

/* Find a curve in which the stored edges of an f32 lookup are regular; sets near_f32 if there is one. */
void histo_lookup_fit(histo_lookup *lookup);

/* The slot of one sample at an unaligned address, without the lookup's table: the reference for all faster code. */
uint32_t histo_lookup_slot(const histo_lookup *lookup, histo_dtype dtype, const void *address);

/* For n aligned samples: out[i] = (accumulate ? out[i] : 0) + stride * slot. */
void histo_lookup_slots(const histo_lookup *lookup, histo_dtype dtype, const void *samples, int n, uint32_t stride,
                        bool accumulate, uint32_t *out);

#ifdef __cplusplus
}
#endif

#endif
