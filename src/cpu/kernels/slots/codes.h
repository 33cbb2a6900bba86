/* Bins as bytes: code shared by samples of all types. Included by slots.c only. */
#ifndef CPU_CODES_H
#define CPU_CODES_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__AVX512BW__)
#include <immintrin.h>
#endif

/* Codes from slots; samples outside the axis are added to `flow`. */
static void codes_of_slots(const uint32_t *restrict slots, int n, uint32_t bins, uint8_t *restrict codes,
                           uint64_t flow[3])
{
    uint32_t outside = 0;
    for (int i = 0; i < n; i++) {
        uint32_t bin = slots[i] - 1;
        outside |= (uint32_t)(bin >= bins);
        codes[i] = (uint8_t)bin;
    }
    if (!outside) return;
    uint32_t under = 0, over = 0, nan = 0;
    for (int i = 0; i < n; i++) {
        under += slots[i] == 0;
        over += slots[i] == bins + 1;
        nan += slots[i] == bins + 2;
    }
    flow[0] += under;
    flow[1] += over;
    flow[2] += nan;
}

/* Codes of n 16-bit integers; returns how many have been made, and sets *outside unless all of them are in first …
 * first + width. Some compilers would widen vectors of these. */
static int short_codes(const void *samples, int n, uint16_t first, uint16_t width, uint16_t lo, int shift,
                       uint8_t *codes, bool *outside)
{
    int i = 0;
#if defined(__AVX512BW__)
    enum { SHORTS = 32 };
    const __m512i least = _mm512_set1_epi16((int16_t)first), from = _mm512_set1_epi16((int16_t)lo);
    const __m128i by = _mm_cvtsi32_si128(shift);
    __m512i farthest = _mm512_setzero_si512();
    for (; i + SHORTS <= n; i += SHORTS) {
        const __m512i x = _mm512_loadu_si512((const uint16_t *)samples + i);
        farthest = _mm512_max_epu16(farthest, _mm512_sub_epi16(x, least));
        const __m512i bins = _mm512_srl_epi16(_mm512_sub_epi16(x, from), by);
        _mm256_storeu_si256((__m256i *)(void *)(codes + i), _mm512_cvtepi16_epi8(bins));
    }
    *outside |= _mm512_cmpgt_epu16_mask(farthest, _mm512_set1_epi16((int16_t)width)) != 0;
#else
    (void)samples, (void)n, (void)first, (void)width, (void)lo, (void)shift, (void)codes, (void)outside;
#endif
    return i;
}

/* Codes of n 64-bit integers on an axis within 32 bits; returns how many have been made, and sets *outside unless all
 * of them are in first … first + width. The compiler would narrow vectors of these step by step. */
static int narrow_codes(const void *samples, int n, uint64_t first, uint64_t width, uint32_t lo, int shift,
                        uint8_t *codes, uint64_t *outside)
{
    int i = 0;
#if defined(__AVX512BW__)
    enum { LONGS = 8 };
    const __m512i least = _mm512_set1_epi64((int64_t)first), most = _mm512_set1_epi64((int64_t)width);
    const __m512i from = _mm512_set1_epi32((int32_t)lo);
    const __m128i by = _mm_cvtsi32_si128(shift);
    __m512i farthest = _mm512_setzero_si512();
    for (; i + LONGS <= n; i += LONGS) {
        const __m512i x = _mm512_loadu_si512((const uint64_t *)samples + i);
        farthest = _mm512_max_epu64(farthest, _mm512_sub_epi64(x, least));
        const __m512i bins = _mm512_srl_epi32(_mm512_sub_epi32(x, from), by);
        _mm_storel_epi64((__m128i *)(void *)(codes + i), _mm512_cvtepi64_epi8(bins));
    }
    *outside |= _mm512_cmpgt_epu64_mask(farthest, most);
#else
    (void)samples, (void)n, (void)first, (void)width, (void)lo, (void)shift, (void)codes, (void)outside;
#endif
    return i;
}

#endif
