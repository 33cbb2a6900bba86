/* For files that are compiled once for each level of the instruction set, with HISTO_ISA as the level's name:
 * HISTO_OF_ISA(slots) is histo_slots_avx2 where that is avx2. */
#ifndef CPU_ISA_H
#define CPU_ISA_H

#include "cpu/kernels/kernels.h"

#define HISTO_JOIN_ISA(name, isa) histo_##name##_##isa
#define HISTO_WITH_ISA(name, isa) HISTO_JOIN_ISA(name, isa) /* isa expanded */

/* VBMI and VBMI2 add faster ways to count and map bytes to the kernels of AVX-512. */
#if defined(__AVX512VBMI2__)
#define HISTO_OF_ISA(name) HISTO_WITH_ISA(name, avx512)
#else
#define HISTO_OF_ISA(name) HISTO_WITH_ISA(name, HISTO_ISA)
#endif

histo_slots_fn HISTO_OF_ISA(slots);
histo_widen_slots_fn HISTO_OF_ISA(widen_slots);
histo_bins_fn HISTO_OF_ISA(bins);
histo_count_integers_fn HISTO_OF_ISA(count_integers);
histo_producer_of_fn HISTO_OF_ISA(producer_of);
histo_codes_fn HISTO_OF_ISA(codes);
histo_collect_fn HISTO_OF_ISA(collect);
histo_count_slots_fn HISTO_OF_ISA(count_slots), HISTO_OF_ISA(count_words);
histo_count_longs_fn HISTO_OF_ISA(count_longs);
histo_count_values_fn HISTO_OF_ISA(count_values);
histo_split_channels_fn HISTO_OF_ISA(split_channels);
histo_gather_fn HISTO_OF_ISA(gather);
histo_fetch_fn HISTO_OF_ISA(fetch);
histo_magnitudes_fn HISTO_OF_ISA(magnitudes);
histo_widen_floats_fn HISTO_OF_ISA(widen_floats);
histo_add_digits_fn HISTO_OF_ISA(add_digits);
histo_cut_digits_fn HISTO_OF_ISA(cut_digits);
histo_add_extremes_fn HISTO_OF_ISA(add_extremes);
histo_add_column_extremes_fn HISTO_OF_ISA(add_column_extremes);
histo_keep_inside_fn HISTO_OF_ISA(keep_inside);
histo_keep_nonzero_fn HISTO_OF_ISA(keep_nonzero);
histo_count_kept_fn HISTO_OF_ISA(count_kept);
histo_compact_fn HISTO_OF_ISA(compact);
histo_widen_fn HISTO_OF_ISA(widen);
histo_sum_fn HISTO_OF_ISA(sum);
histo_sum_powers_fn HISTO_OF_ISA(sum_powers);
histo_sum_block_fn HISTO_OF_ISA(sum_block);
histo_add_weights_fn HISTO_OF_ISA(add_weights);
histo_add_columns_fn HISTO_OF_ISA(add_columns);
extern const histo_map_kernels HISTO_WITH_ISA(map_kernels, HISTO_ISA);

#endif
