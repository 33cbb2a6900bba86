/* Histograms as the Unified Histogram Interface serializes them (schema 1): an object {name: histogram}.
 *
 * An axis has n + 2 cells there, underflow, bins, overflow, where a histogram has n + 3 slots: NaN is counted in the
 * overflow cell, as boost-histogram does. What the schema has no place for stands in writer_info.histo, so that what
 * was saved is loaded whole.
 *
 *     of an axis:
 *         kind      integer, regular, variable, log, sqrt, power; or batch: an integer category for each entry of a
 *                   batch, before all other axes
 *         power     of a power axis
 *         closed    true if the last bin is
 *     of all:
 *         version
 *         weighting unweighted, fast, reproducible, and these with -sum
 *         storage   sparse, if the histogram is
 *         masked    samples left out, by batch entry
 *         counts, sum_w, sum_w2
 *                   the values of slots that the storage does not tell, by slot: NaN, and overflow where both are in a
 *                   cell. Of a weighted histogram, whose storage has the sums, all counts
 *         checksum  CRC-32C, in hexadecimal, of the 64 bits of each cell's value (of a weighted histogram, then of each
 *                   variance): if other software changed the values, the lists no longer fit. Of sparse counts, of the
 * slot and the value of each cell that has one, in order; a cell's slot is that without NaN
 *
 * A list is a string of runs "index:value,value,… index:value…" whose indices increase; what it leaves out is 0.
 *
 * Storage is int, or weighted with values sum w and variances sum w^2, or double with values sum w. Reproducible sums
 * are rounded to double, and those are the exact sums when loaded. Sparse counts are int with an index.
 *
 * Of other writers' files, an axis without flow gets flow of 0; a boolean axis is the integer axis [0, 2), an integer
 * category axis must be consecutive. Double storage gives counts if all values are whole and not negative, else sums of
 * weights, w^2 taken to sum to |w| as for weights of 1. Where a file has sums of weights but no counts, these are 0. */
#ifndef COUNTS_UHI_H
#define COUNTS_UHI_H

#include "counts/bytes.h"
#include "counts/hist.h"

histo_status histo_uhi_save(const histo_hist *hist, const char *name, histo_bytes *out);
histo_status histo_uhi_load(const char *text, size_t size, const char *name, histo_hist **hist);

/* Names of histo_axis_kind and histo_weighting in writer_info. */
enum { HISTO_UHI_KINDS = HISTO_AXIS_KIND_COUNT, HISTO_UHI_WEIGHTINGS = HISTO_WEIGHT_REPRODUCIBLE_SUM + 1 };
extern const char *const histo_uhi_kinds[HISTO_UHI_KINDS];
extern const char *const histo_uhi_weightings[HISTO_UHI_WEIGHTINGS];

#endif
