/* Tables of counters of one byte, which carry 256 to the histogram when they come round to 0. */
#ifndef CPU_BYTE_TABLE_H
#define CPU_BYTE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where 256 of an index go that its counter cannot hold. */
typedef void histo_carry_fn(const void *to, size_t index);

/* Add 1 for each at[i]: slots and values, each with the counter of its number; if they are spread, values with
 * that at histo_spread_place(value). Compiled once for each level of the instruction set (byte_table.c). */
typedef void histo_count_slots_fn(uint8_t *table, const uint32_t *at, int n, histo_carry_fn *carry, const void *to);
typedef void histo_count_values_fn(uint8_t *table, const uint16_t *at, int n, bool spread, histo_carry_fn *carry,
                                   const void *to);
histo_count_slots_fn histo_count_slots_baseline, histo_count_slots_avx2, histo_count_slots_avx512;
histo_count_values_fn histo_count_values_baseline, histo_count_values_avx2, histo_count_values_avx512;

/* Of the level that this CPU has. */
histo_count_slots_fn *histo_count_slots_usable(void);
histo_count_values_fn *histo_count_values_usable(void);

enum { HISTO_CARRY = 256 };

/* Samples of fewer than 16 bits are often their upper bits, and 4096 apart, counters would share one set of a
 * first-level cache. Maps places to values, too. It takes a fifth of the time of samples that do not need it. */
static inline uint16_t histo_spread_place(uint16_t value)
{
    return (uint16_t)(value ^ (value >> 6 & 0x3c0));
}

#endif
