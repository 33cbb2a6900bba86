/* The kernels: functions that are compiled once for each level of the instruction set. The objects of a level export
 * one struct of them, histo_cpu_kernels_LEVEL, and nothing else is called by name from outside. */
#ifndef CPU_KERNELS_H
#define CPU_KERNELS_H

#include "cpu/kernels/brackets/brackets.h"
#include "cpu/kernels/byte_table/byte_table.h"
#include "cpu/kernels/channels.h"
#include "cpu/kernels/digits.h"
#include "cpu/kernels/extremes/extremes.h"
#include "cpu/kernels/filters.h"
#include "cpu/kernels/maps.h"
#include "cpu/kernels/moments.h"
#include "cpu/kernels/power_sums.h"
#include "cpu/kernels/sums/sums.h"
#include "cpu/samples/spans.h"
#include "cpu/strategies/count_bytes.h"

/* out[i] = (accumulate ? out[i] : 0) + stride * slot of samples[i]; n <= HISTO_BLOCK. spans: of a lookup by search
 * without a table. */
typedef void histo_slots_fn(const histo_lookup *lookup, const histo_spans *spans, histo_dtype dtype,
                            const void *samples, int n, uint32_t stride, bool accumulate, uint32_t *out);

/* wide[i] = wide[i] * extent + slots[i] */
typedef void histo_widen_slots_fn(const uint32_t *slots, int n, uint64_t extent, uint64_t *wide);

/* bins[i] = (joins ? bins[i] * extent : 0) + slots[i] - 1, for slots of an axis of `extent` bins; true if a sample is
 * outside it. */
typedef bool histo_bins_fn(const uint32_t *slots, int n, uint32_t extent, bool joins, uint32_t *bins);

/* Add 1 to table[slot] for each of n samples, integers of at least 32 bits in bins of one each; false, and nothing
 * is counted, for all others. */
typedef bool histo_count_integers_fn(const histo_lookup *lookup, histo_dtype dtype, const void *samples, int n,
                                     uint32_t *table);

/* codes[i] = the low byte of (slot of samples[i]) - 1. Adds the number of samples in slots 0, bins + 1 and bins + 2 to
 * flow[0 … 2]. */
typedef void histo_codes_fn(const histo_lookup *lookup, const histo_spans *spans, histo_dtype dtype,
                            const void *samples, int n, uint8_t *codes, uint64_t flow[3]);

typedef struct histo_cpu_kernels {
    /* slots.c */
    histo_slots_fn *slots;
    histo_widen_slots_fn *widen_slots;
    histo_bins_fn *bins;
    histo_count_integers_fn *count_integers;
    histo_producer_of_fn *producer_of;
    histo_codes_fn *codes;
    /* brackets.c */
    histo_collect_fn *collect;
    /* byte_table.c */
    histo_count_slots_fn *count_slots, *count_words;
    histo_count_longs_fn *count_longs;
    histo_count_values_fn *count_values;
    /* channels.c */
    histo_split_channels_fn *split_channels;
    histo_gather_fn *gather;
    histo_fetch_fn *fetch;
    /* digits.c */
    histo_magnitudes_fn *magnitudes;
    histo_widen_floats_fn *widen_floats;
    histo_add_digits_fn *add_digits;
    histo_cut_digits_fn *cut_digits;
    /* extremes.c */
    histo_add_extremes_fn *add_extremes;
    histo_add_column_extremes_fn *add_column_extremes;
    /* filters.c */
    histo_keep_inside_fn *keep_inside;
    histo_keep_nonzero_fn *keep_nonzero;
    histo_count_kept_fn *count_kept;
    histo_compact_fn *compact;
    /* moments.c */
    histo_widen_fn *widen;
    histo_sum_fn *sum;
    histo_sum_powers_fn *sum_powers;
    /* power_sums.c */
    histo_sum_block_fn *sum_block;
    /* sums.c */
    histo_add_weights_fn *add_weights;
    histo_add_columns_fn *add_columns;
    /* maps.c */
    const histo_map_kernels *maps;
    /* count_bytes.c, count_bytes_vbmi2.c */
    const histo_byte_counting *byte_counting;
} histo_cpu_kernels;

/* Those of a level. */
const histo_cpu_kernels *histo_cpu_kernels_of(histo_isa isa);

/* Those of histo_isa_usable(). */
const histo_cpu_kernels *histo_cpu_kernels_usable(void);

#endif
