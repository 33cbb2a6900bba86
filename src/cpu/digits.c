/* A thread's own exact sums. Compiled once for each level of the instruction set (HISTO_EXTREMES and HISTO_ADD_DIGITS
 * name the functions). */
#include "cpu/digits.h"

#include "sum/exact.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

enum { ABOVE = 13 }; /* of a bit of the lowest window: see histo_exact_cut_f64 */

histo_extremes HISTO_EXTREMES(const double *numbers, int n)
{
    uint64_t most = 0, below = UINT64_MAX; /* the least less 1, so that zeros are large */
    for (int i = 0; i < n; i++) {
        uint64_t magnitude = histo_exact_bits(numbers[i]) & INT64_MAX, less = magnitude - 1;
        most = magnitude > most ? magnitude : most;
        below = less < below ? less : below;
    }
    return (histo_extremes){below + 1, most};
}

#if defined(__AVX2__)

/* A lane a digit: the significand shifted to where its window begins. Shifts by more than 63, and so by less than 0,
 * leave nothing. */
void HISTO_ADD_DIGITS(histo_digits *sums, const uint32_t *slots, const double *numbers, int n, int first)
{
    const __m256i zero = _mm256_setzero_si256(), digit = _mm256_set1_epi64x(UINT32_MAX);
    const __m256i fraction = _mm256_set1_epi64x((INT64_C(1) << 52) - 1), one = _mm256_set1_epi64x(INT64_C(1) << 52);
    const __m256i exponents = _mm256_set1_epi64x(0x7ff), begin = _mm256_set1_epi64x(ABOVE - 32 * first);
    const __m256i offset = _mm256_sub_epi64(begin, _mm256_setr_epi64x(0, 32, 64, 96));
    for (int i = 0; i < n; i++) {
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

#else

void HISTO_ADD_DIGITS(histo_digits *sums, const uint32_t *slots, const double *numbers, int n, int first)
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
