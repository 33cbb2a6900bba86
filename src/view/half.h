/* binary16 and bfloat16: conversion to binary32, exact, and from binary64, rounded half to even; for host and
 * device. */
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
#if defined(__CUDA_ARCH__)
    float x; /* one instruction */
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(h));
    return x;
#elif defined(__ARM_FP16_FORMAT_IEEE) && !defined(__CUDACC__)
    __fp16 x;
    memcpy(&x, &h, sizeof x);
    return (float)x;
#else
    uint32_t sign = (uint32_t)(h & 0x8000u) << 16;
    uint32_t magnitude = h & 0x7fffu;
    if (magnitude >= 0x7c00u) /* infinity and NaN: all exponent bits */
        return histo_f32_from_bits(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
    if (magnitude >= 0x0400u) /* normal: rebias the exponent from 15 to 127 */
        return histo_f32_from_bits(sign | ((magnitude << 13) + (112u << 23)));
    float x = (float)magnitude * 0x1p-24f; /* subnormal: an exact product */
    return sign ? -x : x;
#endif
}

/* NaN becomes the positive quiet NaN without a payload, as everywhere in results. The format has `digits` significant
 * binary digits and exponents least … most. */
HISTO_INLINE uint16_t histo_half_of(double value, int digits, int least, int most)
{
    const uint32_t fraction = (uint32_t)digits - 1, infinity = (2 * (uint32_t)most + 1) << fraction;
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint32_t sign = (uint32_t)(bits >> 63) << 15;
    if (value != value) return (uint16_t)(infinity | 1u << (fraction - 1));
    if (fabs(value) == (double)INFINITY) return (uint16_t)(sign | infinity);
    int exponent = value == 0 ? least : ilogb(value);
    exponent = exponent < least ? least : exponent;
    const double units = rint(scalbn(fabs(value), (int)fraction - exponent)); /* units of the last place */
    if (units >= scalbn(2.0, (int)fraction + most - exponent)) return (uint16_t)(sign | infinity);
    /* A subnormal has the exponent `least` and no leading one; rounding up may carry into the exponent. */
    return (uint16_t)(sign | (((uint32_t)(exponent - least) << fraction) + (uint32_t)units));
}

HISTO_INLINE uint16_t histo_f16_of(double value)
{
    return histo_half_of(value, 11, -14, 15);
}

HISTO_INLINE uint16_t histo_bf16_of(double value)
{
    return histo_half_of(value, 8, -126, 127);
}

#endif
