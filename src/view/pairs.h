/* Samples computed from pairs of images: see histo_hist_fill_pairs. */
#ifndef VIEW_PAIRS_H
#define VIEW_PAIRS_H

#include "base/host_device.h"

/* The axes of the samples. Differences of u8 and u16 are i32, or f32 if they are relative; means have the images'
 * dtype.
 */
enum { HISTO_DIFFERENCE = 0, HISTO_MEAN = 1, HISTO_PAIRS_AXES = 2 };

/* The factor with which histo_mean_of divides by n. */
HISTO_INLINE uint32_t histo_mean_factor(uint32_t n)
{
    return (uint32_t)(((uint64_t)1 << 32) / n + 1);
}

/* floor((sum + floor(n / 2)) / n) for the sum of n <= HISTO_MAX_IMAGES 16-bit numbers. With x = sum + floor(n / 2) <
 * 2^24 and factor * n = 2^32 + e, 0 < e <= n <= 2^8, the product is x / n + x * e / (n * 2^32), which exceeds x / n by
 * less than 1 / n. */
HISTO_INLINE uint32_t histo_mean_of(uint32_t sum, uint32_t n, uint32_t factor)
{
    return (uint32_t)((uint64_t)(sum + n / 2) * factor >> 32);
}

/* A difference divided by the mean of n <= HISTO_MAX_IMAGES 16-bit numbers. Both operands are integers below 2^24, so
 * only the division rounds. */
HISTO_INLINE float histo_relative_difference(int32_t difference, uint32_t n, uint32_t sum)
{
    return sum ? (float)(difference * (int32_t)n) / (float)sum : 0;
}

#endif
