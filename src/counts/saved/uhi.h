/* Histograms in the serialization of the Unified Histogram Interface (schema 1): an object {name: histogram}.
 *
 * An axis of the schema has n + 2 cells (underflow, bins, overflow) for our n + 3 slots: NaN is counted in the overflow
 * cell, as in boost-histogram. writer_info.histo keeps what the schema cannot express, so that nothing is lost:
 *
 *     per axis:
 *         kind      integer, regular, variable, log, sqrt, power; or batch: an integer category per entry of a batch,
 *                   before all other axes
 *         power     of a power axis
 *         closed    true if the last bin is
 *     per histogram:
 *         version
 *         named     true if "histogram", the key of histograms without a name, is the name of this one
 *         weighting unweighted, fast, reproducible, and these with -sum
 *         storage   sparse, if the histogram is
 *         masked    samples left out, by batch entry
 *         counts, sum_w, sum_w2
 *                   values, by slot, that the storage does not determine: NaN, and overflow if a cell contains both.
 *                   For weighted histograms, whose storage has the sums, all counts
 *         checksum  CRC-32C, in hexadecimal, of the axes (all that loading needs), the masked samples, and the values
 *                   of all slots, sparse ones with their numbers: if other software has changed axes or values, they no
 *                   longer belong together, or the lists to them
 *
 * A list is a string of runs "index:value,value,… index:value…" with increasing indices; missing values are 0.
 *
 * Storage is int; or weighted, with values sum w and variances sum w^2; or double, with values sum w. Reproducible sums
 * are rounded to double; loading takes the rounded sums as exact. Sparse counts are int with an index. An outline
 * (histo_hist_save_outline) has no values: a program has the arrays, with the cells of flow that it wants.
 *
 * Files of other writers: an axis without flow gets flow of 0. A boolean axis is the integer axis [0, 2). An integer
 * category axis must be consecutive, and strings are the integers from 0 on. Double storage is read as counts if all
 * values are non-negative integers, else as sums of weights without those of w^2. Where our weighting asks for these,
 * they are |sum w|, as for weights of 1. Sums of weights without counts get counts of 0. */
#ifndef COUNTS_UHI_H
#define COUNTS_UHI_H

#include "counts/hist.h"
#include "counts/saved/bytes.h"

/* Cell values that a caller keeps separately from a document. */
typedef struct histo_uhi_arrays {
    int64_t cells;
    histo_dtype dtype; /* dtype of values: HISTO_U64 or HISTO_F64 */
    const void *values;
    const double *variances; /* or NULL */
} histo_uhi_arrays;

/* flow: NULL, or as in histo_hist_save_outline, for a dense histogram's document without arrays. */
histo_status histo_uhi_save(const histo_hist *hist, const bool (*flow)[2], const char *name, histo_bytes *out);
/* arrays: NULL, or as in histo_hist_load_outline. */
histo_status histo_uhi_load(const char *text, size_t size, const char *name, const histo_uhi_arrays *arrays,
                            histo_hist **hist);

/* The key of an unnamed histogram. */
#define HISTO_UHI_NAMELESS "histogram"

/* Numbers of histo_axis_kind and histo_weighting names in writer_info. */
enum { HISTO_UHI_KINDS = HISTO_AXIS_KIND_COUNT, HISTO_UHI_WEIGHTINGS = HISTO_WEIGHT_REPRODUCIBLE_SUM + 1 };
extern const char *const histo_uhi_kinds[HISTO_UHI_KINDS];
extern const char *const histo_uhi_weightings[HISTO_UHI_WEIGHTINGS];

#endif
