/* Masks and range filters for contiguous, aligned samples, and compaction of the samples that pass. */
#ifndef CPU_FILTERS_H
#define CPU_FILTERS_H

#include <histo/histo.h>

/* The smallest and largest value of a dtype within a range, as bit patterns; for f16 and bf16, their histo_ordered. If
 * no value is in the range, low is above high. */
typedef struct histo_bounds {
    uint64_t low, high;
} histo_bounds;

/* The bits of a 16-bit float as an integer that increases with its value: -0 is below 0, NaN beyond the infinities. Its
 * own inverse. */
static inline int16_t histo_ordered(uint16_t bits)
{
    return (int16_t)(bits ^ (bits & 0x8000 ? 0x7fff : 0));
}

/* kept[i] = 1 if sample i is within the bounds, or is nonzero; else 0. too: 1 only if it already was 1. */
typedef void histo_keep_inside_fn(histo_dtype dtype, const void *samples, int n, histo_bounds bounds, bool too,
                                  uint8_t *kept);
typedef void histo_keep_nonzero_fn(histo_dtype dtype, const void *samples, int n, bool too, uint8_t *kept);

/* The number of ones. */
typedef int histo_count_kept_fn(const uint8_t *kept, int n);

/* Copy the kept samples, of `size` bytes each, to `to`, which has room for n. */
typedef void histo_compact_fn(size_t size, const void *samples, const uint8_t *kept, int n, void *to);

#endif
