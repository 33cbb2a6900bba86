/* Weights in fixed point: multiples of a unit that the window of exponents of their tile gives, of some 32-bit words.
 */
#ifndef CUDA_DEVICE_WEIGHTS_FIXED_WEIGHTS_CUH
#define CUDA_DEVICE_WEIGHTS_FIXED_WEIGHTS_CUH

#include "cuda/device/weights/weight_formats.cuh"

namespace histo::weights
{

/* Numbers of some words, in two's complement. */
using wide = unsigned __int128;
template <int WORDS>
struct number {
    using type = wide;
};
template <>
struct number<2> {
    using type = uint64_t;
};
template <>
struct number<0> {
    using type = uint64_t;
};

/* A weight and its square as multiples of their units, 0 outside the window. */
template <typename T, bool SQUARES>
struct fixed {
    typename number<format<T, SQUARES>::WORDS>::type sum;
    typename number<format<T, SQUARES>::SQUARE_WORDS>::type square;
    bool outside; /* neither 0 nor in the window: any number, or none */
};

/* Magnitudes [low, high), and what makes a weight a whole number. */
template <typename T>
struct exponent_window {
    T low, high;
    double scale;
    int unit, square_unit; /* the bit, above 2^-1088, of one; of the unit of squares */
};

HISTO_IN_KERNEL uint32_t exponent_of(float x)
{
    return __float_as_uint(x) >> 23 & 0xff;
}

HISTO_IN_KERNEL uint32_t exponent_of(double x)
{
    return (uint32_t)__double2hiint(x) >> 20 & 0x7ff;
}

/* From the exponent `lowest` on. Squares of double are whole multiples of 2^SPARE, as they have 53 bits. */
enum { SPARE = 52 };
template <typename T, bool SQUARES>
HISTO_IN_KERNEL exponent_window<T> window_from(uint32_t lowest)
{
    using is = format<T, SQUARES>;
    int exponent = (int)lowest - is::BIAS, last = exponent - (is::BITS - 1), zero = 32 * HISTO_EXACT_UNIT;
    bool is_double = sizeof(T) == 8;
    exponent_window<T> w = {(T)ldexp(1.0, exponent), (T)ldexp(1.0, exponent + is::EXPONENTS), ldexp(1.0, -last),
                            zero + last, zero + 2 * last + (is_double ? SPARE : 0)};
    return w;
}

/* A whole multiple of 2^SHIFT as an integer. Adding 1.5 * 2^52 times a power of two, rounded down, leaves what is above
 * that power in the last bits of the sum. */
template <int WORDS, int SHIFT>
HISTO_IN_KERNEL typename number<WORDS>::type whole_number(double x)
{
    typename number<WORDS>::type n = 0;
#pragma unroll
    for (int j = WORDS - 2; j >= 0; j--) {
        const double round = __hiloint2double((1023 + 52 + 32 * j + SHIFT) << 20 | 0x80000, 0);
        double sum = __dadd_rd(x, round);
        if (j == WORDS - 2) n = (typename number<WORDS>::type)(__double2hiint(sum) - __double2hiint(round));
        n = n << 32 | (uint32_t)__double2loint(sum);
        x -= sum - round;
    }
    return n;
}

template <typename T, bool SQUARES>
HISTO_IN_KERNEL fixed<T, SQUARES> cut(T x, const exponent_window<T> *w)
{
    using is = format<T, SQUARES>;
    fixed<T, SQUARES> f = {0, 0, false};
    bool inside = fabs(x) >= w->low && fabs(x) < w->high;
    f.outside = !inside && x != 0;
    double whole = (double)(inside ? x : 0) * w->scale;
    f.sum = whole_number<is::WORDS, 0>(whole);
    constexpr int spare = sizeof(T) == 8 ? SPARE : 0;
    if constexpr (SQUARES) f.square = whole_number<is::SQUARE_WORDS - (spare == 0), spare>(whole * whole);
    return f;
}

/* ---- The window of a tile ---- */

/* The first exponent of the densest window, by one weight of the tile for each thread; of several such windows one with
 * room above. weight(i): the i-th of the tile. shared: 2 * ALL + 2 words. */
template <typename T, bool SQUARES, typename F>
HISTO_IN_KERNEL uint32_t densest_exponents(unsigned int *shared, uint32_t length, F weight)
{
    using is = format<T, SQUARES>;
    enum { ROOM = 2 };
    unsigned int *inside = shared + is::ALL, &most = inside[is::ALL], &lowest = inside[is::ALL + 1];
    if (threadIdx.x == 0) {
        most = 0;
        lowest = is::LAST;
    }
    histo_clear_shared(shared, is::ALL);
    if (length) atomicAdd(&shared[exponent_of(weight((uint32_t)((uint64_t)threadIdx.x * length / blockDim.x)))], 1u);
    __syncthreads();
    for (uint32_t first = is::FIRST + threadIdx.x; first <= is::LAST; first += blockDim.x) {
        unsigned int sum = 0;
        for (uint32_t e = first; e < first + is::EXPONENTS; e++)
            sum += shared[e];
        inside[first] = sum;
        if (sum) atomicMax(&most, sum);
    }
    __syncthreads();
    for (uint32_t first = is::FIRST + threadIdx.x; first <= is::LAST; first += blockDim.x)
        if (inside[first] == most) atomicMin(&lowest, first);
    __syncthreads();
    uint32_t chosen = lowest;
    for (uint32_t first = lowest; first <= is::LAST && first <= lowest + ROOM; first++)
        if (inside[first] == most) chosen = first;
    __syncthreads(); /* the words are counters from now on */
    return chosen;
}

} // namespace histo::weights

#endif
