/* De-interleaves pixels. Compiled once for each level of the instruction set (isa.h). */
#include "cpu/isa.h"

#if defined(__AVX512BW__)
#include <immintrin.h>

/* 16 pixels at a time: each 16-byte lane receives four pixels and groups their bytes by channel; then each channel is
 * moved to a lane of its own. Reads no byte beyond the last channel of the last pixel. */
static int split_vectors(const uint8_t *pixels, int pitch, int count, int n, uint8_t *const *out)
{
    enum { PIXELS = 16, LANES = 4, AHEAD = 4096 };
    uint32_t spread[16], collect[16];
    uint8_t pick[64];
    for (int lane = 0; lane < LANES; lane++)
        for (int c = 0; c < HISTO_MAX_CHANNELS; c++) {
            spread[4 * lane + c] = (uint32_t)(c < pitch ? pitch * lane + c : 0);
            collect[4 * c + lane] = (uint32_t)(4 * lane + c);
            for (int i = 0; i < 4; i++)
                pick[16 * lane + 4 * c + i] = (uint8_t)(c < pitch ? pitch * i + c : 0);
        }
    const __m512i s = _mm512_loadu_si512(spread), p = _mm512_loadu_si512(pick), k = _mm512_loadu_si512(collect);
    const __mmask64 used = ~(uint64_t)0 >> (64 - (PIXELS - 1) * pitch - count);
    int i = 0;
    for (; i + PIXELS <= n; i += PIXELS) {
        const uint8_t *at = pixels + (int64_t)i * pitch;
        __builtin_prefetch(at + AHEAD, 0, 2);
        __m512i v = _mm512_permutexvar_epi32(s, _mm512_maskz_loadu_epi8(used, at));
        v = _mm512_permutexvar_epi32(k, _mm512_shuffle_epi8(v, p));
        _mm_storeu_si128((__m128i *)(out[0] + i), _mm512_castsi512_si128(v));
        if (count > 1) _mm_storeu_si128((__m128i *)(out[1] + i), _mm512_extracti32x4_epi32(v, 1));
        if (count > 2) _mm_storeu_si128((__m128i *)(out[2] + i), _mm512_extracti32x4_epi32(v, 2));
        if (count > 3) _mm_storeu_si128((__m128i *)(out[3] + i), _mm512_extracti32x4_epi32(v, 3));
    }
    return i;
}

#else

static int split_vectors(const uint8_t *pixels, int pitch, int count, int n, uint8_t *const *out)
{
    (void)pixels, (void)pitch, (void)count, (void)n, (void)out;
    return 0;
}

#endif

/* The compiler vectorises the loop where the pitch is constant. */
static inline void split_loop(const uint8_t *pixels, int pitch, int count, int begin, int n, uint8_t *const *out)
{
    for (int c = 0; c < count; c++) {
        uint8_t *restrict to = out[c];
        for (int i = begin; i < n; i++)
            to[i] = pixels[(int64_t)i * pitch + c];
    }
}

void HISTO_OF_ISA(split_channels)(const uint8_t *pixels, int pitch, int count, int n, uint8_t *const *out)
{
    int done = split_vectors(pixels, pitch, count, n, out);
    switch (pitch) {
    case 2:
        split_loop(pixels, 2, count, done, n, out);
        break;
    case 3:
        split_loop(pixels, 3, count, done, n, out);
        break;
    default:
        split_loop(pixels, pitch, count, done, n, out);
        break;
    }
}
