/* Device functions compiled for the host: CUDA's keywords, vector types and intrinsics, as far as readers use them.
 * Tests set threadIdx and blockDim as a kernel would find them. */
#ifndef SUPPORT_KERNELS_ON_HOST_H
#define SUPPORT_KERNELS_ON_HOST_H

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#define __device__
#define __forceinline__ inline

using std::max;
using std::min;

struct uint2 {
    uint32_t x, y;
};

struct uint4 {
    uint32_t x, y, z, w;
};

struct thread_index {
    uint32_t x;
};

static thread_index threadIdx, blockDim;

inline uint4 make_uint4(uint32_t x, uint32_t y, uint32_t z, uint32_t w)
{
    return {x, y, z, w};
}

/* ---- Loads ---- */

template <typename T>
T __ldg(const T *at)
{
    return *at;
}

template <typename T>
T __ldcs(const T *at)
{
    return *at;
}

/* ---- Integers ---- */

inline uint32_t __umulhi(uint32_t a, uint32_t b)
{
    return (uint32_t)((uint64_t)a * b >> 32);
}

inline uint32_t __funnelshift_r(uint32_t low, uint32_t high, uint32_t shift)
{
    return (uint32_t)(((uint64_t)high << 32 | low) >> (shift & 31));
}

inline uint32_t __byte_perm(uint32_t low, uint32_t high, uint32_t selector)
{
    const uint64_t bytes = (uint64_t)high << 32 | low;
    uint32_t result = 0;
    for (int i = 0; i < 4; i++)
        result |= (uint32_t)(bytes >> 8 * (selector >> 4 * i & 7) & 0xff) << 8 * i;
    return result;
}

/* ---- Floats ---- */

inline int32_t __double2loint(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (int32_t)(uint32_t)bits;
}

inline uint32_t __float_as_uint(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

inline float __saturatef(float x)
{
    return x >= 0 ? min(x, 1.0f) : 0;
}

inline float __fmaf_rn(float a, float b, float c)
{
    return std::fma(a, b, c);
}

#endif
