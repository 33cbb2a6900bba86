/* The kernels of one level of the instruction set. */
#include "cpu/kernels/isa.h"

const histo_cpu_kernels HISTO_WITH_ISA(cpu_kernels, HISTO_ISA) = {
    .slots = HISTO_OF_ISA(slots),
    .widen_slots = HISTO_OF_ISA(widen_slots),
    .bins = HISTO_OF_ISA(bins),
    .count_integers = HISTO_OF_ISA(count_integers),
    .producer_of = HISTO_OF_ISA(producer_of),
    .codes = HISTO_OF_ISA(codes),
    .collect = HISTO_OF_ISA(collect),
    .count_slots = HISTO_OF_ISA(count_slots),
    .count_words = HISTO_OF_ISA(count_words),
    .count_longs = HISTO_OF_ISA(count_longs),
    .count_values = HISTO_OF_ISA(count_values),
    .split_channels = HISTO_OF_ISA(split_channels),
    .gather = HISTO_OF_ISA(gather),
    .fetch = HISTO_OF_ISA(fetch),
    .magnitudes = HISTO_OF_ISA(magnitudes),
    .widen_floats = HISTO_OF_ISA(widen_floats),
    .add_digits = HISTO_OF_ISA(add_digits),
    .cut_digits = HISTO_OF_ISA(cut_digits),
    .add_extremes = HISTO_OF_ISA(add_extremes),
    .add_column_extremes = HISTO_OF_ISA(add_column_extremes),
    .keep_inside = HISTO_OF_ISA(keep_inside),
    .keep_nonzero = HISTO_OF_ISA(keep_nonzero),
    .count_kept = HISTO_OF_ISA(count_kept),
    .compact = HISTO_OF_ISA(compact),
    .widen = HISTO_OF_ISA(widen),
    .sum = HISTO_OF_ISA(sum),
    .sum_powers = HISTO_OF_ISA(sum_powers),
    .sum_block = HISTO_OF_ISA(sum_block),
    .add_weights = HISTO_OF_ISA(add_weights),
    .add_columns = HISTO_OF_ISA(add_columns),
    .maps = &HISTO_WITH_ISA(map_kernels, HISTO_ISA),
#if defined(__AVX512VBMI2__)
    .byte_counting = &histo_byte_counting_vbmi2,
#else
    .byte_counting = &histo_byte_counting_scalar,
#endif
};
