/* Per-thread exact sums. Compiled once for each instruction set level (isa.h). */
#include <math.h>

#include "cpu/kernels/isa.h"
#include "sum/exact.h"

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

enum { ABOVE = 13 }; /* bias of the lowest window: see histo_exact_cut_f64 */

#if defined(__aarch64__)

/* Compares as floats, since NEON has no minimum and maximum of 64-bit integers. NaN is the largest, and zeros become
 * NaN, which the minimum ignores. */
static inline void add_magnitudes(float64x2_t numbers, float64x2_t *least, float64x2_t *most)
{
    const float64x2_t x = vabsq_f64(numbers);
    *most = vmaxq_f64(*most, x);
    *least = vminnmq_f64(*least, vreinterpretq_f64_u64(vorrq_u64(vreinterpretq_u64_f64(x), vceqzq_f64(x))));
}

histo_magnitudes HISTO_OF_ISA(magnitudes)(const double *numbers, int n)
{
    float64x2_t most = vdupq_n_f64(0), least = vdupq_n_f64((double)NAN);
    for (int i = 0; i + 2 <= n; i += 2)
        add_magnitudes(vld1q_f64(numbers + i), &least, &most);
    if (n % 2) add_magnitudes(vdupq_n_f64(numbers[n - 1]), &least, &most);
    const double largest = vmaxvq_f64(most), smallest = vminnmvq_f64(least);
    return (histo_magnitudes){largest == 0 ? 0 : histo_exact_bits(smallest), histo_exact_bits(largest)};
}

#else

histo_magnitudes HISTO_OF_ISA(magnitudes)(const double *numbers, int n)
{
    uint64_t most = 0, below = UINT64_MAX; /* the minimum minus 1, so that zeros wrap to the largest */
    for (int i = 0; i < n; i++) {
        uint64_t magnitude = histo_exact_bits(numbers[i]) & INT64_MAX, less = magnitude - 1;
        most = magnitude > most ? magnitude : most;
        below = less < below ? less : below;
    }
    return (histo_magnitudes){below + 1, most};
}

#endif

void HISTO_OF_ISA(widen_floats)(const float *restrict floats, int n, double *restrict numbers)
{
    for (int i = 0; i < n; i++)
        numbers[i] = (double)floats[i];
}

void HISTO_OF_ISA(cut_digits)(const double *restrict numbers, int n, int window, int64_t *restrict digits)
{
    const int64_t below = ABOVE - 32 * (int64_t)window;
    for (int i = 0; i < n; i++) {
        const uint64_t bits = histo_exact_bits(numbers[i]), fraction = bits & ((UINT64_C(1) << 52) - 1);
        const uint64_t significand = fraction | UINT64_C(1) << 52;
        const int64_t up = (int64_t)(bits >> 52 & 0x7ff) + below, down = -up;
        const uint64_t raised = up >= 0 && up < 64 ? significand << (up & 63) : 0;
        const uint64_t lowered = down > 0 && down < 64 ? significand >> (down & 63) : 0;
        const int64_t slice = (int64_t)(uint32_t)(raised | lowered), negative = -(int64_t)(bits >> 63);
        digits[i] = (slice ^ negative) - negative;
    }
}

#if defined(__AVX512DQ__)

static inline void add_slice(histo_digits *sum, __m256i slice)
{
    _mm256_storeu_si256((__m256i *)*sum, _mm256_add_epi64(_mm256_loadu_si256((const __m256i *)*sum), slice));
}

/* The AVX-512 version of the loop below: unpacks eight numbers at once and splits two at a time into digits; if all
 * eight go to the same slot, they are summed first. Returns how many numbers were added. */
static inline int add_eights(histo_digits *sums, const uint32_t *slots, const double *numbers, int n, int first)
{
    enum { EIGHT = 8, ALL = 0xff };
    const __m512i zero = _mm512_setzero_si512(), digit = _mm512_set1_epi64(UINT32_MAX);
    const __m512i fraction = _mm512_set1_epi64((INT64_C(1) << 52) - 1), one = _mm512_set1_epi64(INT64_C(1) << 52);
    const __m512i exponents = _mm512_set1_epi64(0x7ff), begin = _mm512_set1_epi64(ABOVE - 32 * first);
    const __m512i offset = _mm512_sub_epi64(begin, _mm512_setr_epi64(0, 32, 64, 96, 0, 32, 64, 96));
    const __m512i pair = _mm512_setr_epi64(0, 0, 0, 0, 1, 1, 1, 1);
    int i = 0;
    for (; i + EIGHT <= n; i += EIGHT) {
        const __m512i x = _mm512_loadu_si512(numbers + i), negatives = _mm512_srai_epi64(x, 63);
        const __m512i significands = _mm512_or_si512(_mm512_and_si512(x, fraction), one);
        const __m512i powers = _mm512_and_si512(_mm512_srli_epi64(x, 52), exponents);
        __m512i slices[EIGHT / 2];
        for (int k = 0; k < EIGHT / 2; k++) {
            const __m512i which = _mm512_add_epi64(pair, _mm512_set1_epi64(2 * k));
            const __m512i significand = _mm512_permutexvar_epi64(which, significands);
            const __m512i negative = _mm512_permutexvar_epi64(which, negatives);
            const __m512i up = _mm512_add_epi64(_mm512_permutexvar_epi64(which, powers), offset);
            const __m512i down = _mm512_sub_epi64(zero, up);
            const __m512i shifted =
                _mm512_or_si512(_mm512_sllv_epi64(significand, up), _mm512_srlv_epi64(significand, down));
            slices[k] = _mm512_sub_epi64(_mm512_xor_si512(_mm512_and_si512(shifted, digit), negative), negative);
        }
        const __m256i at = _mm256_loadu_si256((const __m256i *)(slots + i));
        if (_mm256_cmpeq_epi32_mask(at, _mm256_set1_epi32((int)slots[i])) == ALL) {
            const __m512i some = _mm512_add_epi64(slices[0], slices[1]),
                          others = _mm512_add_epi64(slices[2], slices[3]);
            const __m512i all = _mm512_add_epi64(some, others);
            add_slice(&sums[slots[i]],
                      _mm256_add_epi64(_mm512_castsi512_si256(all), _mm512_extracti64x4_epi64(all, 1)));
            continue;
        }
        for (int k = 0; k < EIGHT / 2; k++) {
            add_slice(&sums[slots[i + 2 * k]], _mm512_castsi512_si256(slices[k]));
            add_slice(&sums[slots[i + 2 * k + 1]], _mm512_extracti64x4_epi64(slices[k], 1));
        }
    }
    return i;
}

#elif defined(__AVX2__)
#define add_eights(sums, slots, numbers, n, first) 0
#endif

#if defined(__AVX2__)

/* One lane per digit: the significand shifted to the digit's window. A shift by more than 63, which includes any
 * negative count, gives 0. */
void HISTO_OF_ISA(add_digits)(histo_digits *sums, const uint32_t *slots, const double *numbers, int n, int first)
{
    const __m256i zero = _mm256_setzero_si256(), digit = _mm256_set1_epi64x(UINT32_MAX);
    const __m256i fraction = _mm256_set1_epi64x((INT64_C(1) << 52) - 1), one = _mm256_set1_epi64x(INT64_C(1) << 52);
    const __m256i exponents = _mm256_set1_epi64x(0x7ff), begin = _mm256_set1_epi64x(ABOVE - 32 * first);
    const __m256i offset = _mm256_sub_epi64(begin, _mm256_setr_epi64x(0, 32, 64, 96));
    for (int i = add_eights(sums, slots, numbers, n, first); i < n; i++) {
        const __m256i x = _mm256_castpd_si256(_mm256_broadcast_sd(numbers + i));
        const __m256i significand = _mm256_or_si256(_mm256_and_si256(x, fraction), one);
        const __m256i exponent = _mm256_and_si256(_mm256_srli_epi64(x, 52), exponents);
        const __m256i up = _mm256_add_epi64(exponent, offset), down = _mm256_sub_epi64(zero, up);
        const __m256i shifted =
            _mm256_or_si256(_mm256_sllv_epi64(significand, up), _mm256_srlv_epi64(significand, down));
        const __m256i negative = _mm256_cmpgt_epi64(zero, x);
        const __m256i slice = _mm256_sub_epi64(_mm256_xor_si256(_mm256_and_si256(shifted, digit), negative), negative);
        __m256i *sum = (__m256i *)sums[slots[i]];
        _mm256_storeu_si256(sum, _mm256_add_epi64(_mm256_loadu_si256(sum), slice));
    }
}

#elif defined(__aarch64__)

/* The shift count is the low byte of its lane, to the right if negative. Digits of the sums are at most 128 bits away
 * from those of a number, or so far that the byte shifts the number out, too; only zeros, which are 0 here, are farther
 * away. */
static inline void add_number(int64_t *sum, uint64x2_t significand, int64x2_t power, int64x2_t negative)
{
    for (int k = 0; k < HISTO_DIGITS; k += 2, power = vsubq_s64(power, vdupq_n_s64(64))) {
        const uint64x2_t shifted = vandq_u64(vshlq_u64(significand, power), vdupq_n_u64(UINT32_MAX));
        const int64x2_t slice = vsubq_s64(veorq_s64(vreinterpretq_s64_u64(shifted), negative), negative);
        vst1q_s64(sum + k, vaddq_s64(vld1q_s64(sum + k), slice));
    }
}

/* Add both numbers, or only the first. */
static inline void add_pair(histo_digits *sums, const uint32_t *slots, uint64x2_t x, int first, bool both)
{
    const uint64x2_t exponents = vdupq_n_u64(UINT64_C(0x7ff) << 52), fraction = vdupq_n_u64((UINT64_C(1) << 52) - 1);
    const uint64x2_t ones = vandq_u64(vtstq_u64(x, exponents), vdupq_n_u64(UINT64_C(1) << 52)); /* 0 for zeros */
    const uint64x2_t significands = vbslq_u64(fraction, x, ones);
    const int64x2_t powers = vreinterpretq_s64_u64(vshrq_n_u64(vandq_u64(x, exponents), 52));
    const int64x2_t negatives = vshrq_n_s64(vreinterpretq_s64_u64(x), 63);
    const int64x2_t begin = vdupq_n_s64(ABOVE - 32 * (int64_t)first);
    const int64x2_t offset = vsubq_s64(begin, vcombine_s64(vdup_n_s64(0), vdup_n_s64(32)));
    add_number(sums[slots[0]], vdupq_laneq_u64(significands, 0), vaddq_s64(vdupq_laneq_s64(powers, 0), offset),
               vdupq_laneq_s64(negatives, 0));
    if (both)
        add_number(sums[slots[1]], vdupq_laneq_u64(significands, 1), vaddq_s64(vdupq_laneq_s64(powers, 1), offset),
                   vdupq_laneq_s64(negatives, 1));
}

void HISTO_OF_ISA(add_digits)(histo_digits *sums, const uint32_t *slots, const double *numbers, int n, int first)
{
    for (int i = 0; i + 2 <= n; i += 2)
        add_pair(sums, slots + i, vreinterpretq_u64_f64(vld1q_f64(numbers + i)), first, true);
    if (n % 2) add_pair(sums, slots + n - 1, vreinterpretq_u64_f64(vdupq_n_f64(numbers[n - 1])), first, false);
}

#else

void HISTO_OF_ISA(add_digits)(histo_digits *sums, const uint32_t *slots, const double *numbers, int n, int first)
{
    for (int i = 0; i < n; i++) {
        const histo_exact_slices cut = histo_exact_cut_f64(histo_exact_bits(numbers[i]));
        for (int k = 0; k < 3; k++) {
            int digit = cut.window + k - first;
            if (cut.slice[k]) sums[slots[i]][digit] += cut.negative ? -(int64_t)cut.slice[k] : (int64_t)cut.slice[k];
        }
    }
}

#endif
