/* binary16 and bfloat16 to binary32, exactly, on host and device. */
#ifndef VIEW_HALF_H
#define VIEW_HALF_H

#include "base/host_device.h"

HISTO_INLINE float histo_f32_from_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

HISTO_INLINE float histo_bf16_to_f32(uint16_t h)
{
    return histo_f32_from_bits((uint32_t)h << 16);
}

HISTO_INLINE float histo_f16_to_f32(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000u) << 16;
    uint32_t magnitude = h & 0x7fffu;
    if (magnitude >= 0x7c00u) /* infinity and NaN: all exponent bits */
        return histo_f32_from_bits(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
    if (magnitude >= 0x0400u) /* normal: rebias the exponent from 15 to 127 */
        return histo_f32_from_bits(sign | ((magnitude << 13) + (112u << 23)));
    float x = (float)magnitude * 0x1p-24f; /* subnormal: an exact product */
    return sign ? -x : x;
}

#endif
