/* Samples -> slots, bins and codes on an axis. */
#ifndef CPU_SLOTS_H
#define CPU_SLOTS_H

#include "cpu/samples/spans.h"

/* out[i] = (accumulate ? out[i] : 0) + stride * slot of samples[i]; n <= HISTO_BLOCK. spans: for a lookup by search
 * without a table. */
typedef void histo_slots_fn(const histo_lookup *lookup, const histo_spans *spans, histo_dtype dtype,
                            const void *samples, int n, uint32_t stride, bool accumulate, uint32_t *out);

/* wide[i] = wide[i] * extent + slots[i] */
typedef void histo_widen_slots_fn(const uint32_t *slots, int n, uint64_t extent, uint64_t *wide);

/* bins[i] = (joins ? bins[i] * extent : 0) + slots[i] - 1, for slots on an axis of `extent` bins; true if a sample is
 * outside it. */
typedef bool histo_bins_fn(const uint32_t *slots, int n, uint32_t extent, bool joins, uint32_t *bins);

/* Increment table[slot] for each of n samples, if they are integers of at least 32 bits in bins of one integer each;
 * otherwise return false and count nothing. */
typedef bool histo_count_integers_fn(const histo_lookup *lookup, histo_dtype dtype, const void *samples, int n,
                                     uint32_t *table);

/* codes[i] = the low byte of (slot of samples[i]) - 1. Adds the number of samples in slots 0, bins + 1 and bins + 2 to
 * flow[0 … 2]. */
typedef void histo_codes_fn(const histo_lookup *lookup, const histo_spans *spans, histo_dtype dtype,
                            const void *samples, int n, uint8_t *codes, uint64_t flow[3]);

#endif
