/* De-interleaves pixels, and gathers samples that are a short distance apart, and rows. Compiled once for each
 * instruction set level (isa.h). */
#include "cpu/kernels/isa.h"
#include "cpu/kernels/template.h"
#include "view/gather.h"

#if defined(__AVX512BW__)
#include <immintrin.h>

/* Returns the number of pixels split. 16 pixels at a time: each 16-byte lane receives four pixels and groups their
 * bytes by channel; then each channel is moved to a lane of its own. Reads no byte beyond the last channel of the last
 * pixel. */
static int split_vectors(const uint8_t *pixels, int pitch, int count, int n, uint8_t *const *out)
{
    enum { PIXELS = 16, AHEAD = 4096 };
    const __m512i lane = _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
    const __m512i channel = _mm512_setr_epi32(0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3);
    const __m512i s = _mm512_add_epi32(_mm512_mullo_epi32(lane, _mm512_set1_epi32(pitch)), channel);
    const __m512i p = _mm512_add_epi32(_mm512_set1_epi32(pitch * 0x03020100),
                                       _mm512_mullo_epi32(channel, _mm512_set1_epi32(0x01010101)));
    const __m512i k = _mm512_add_epi32(_mm512_slli_epi32(channel, 2), lane);
    const __mmask64 used = ~(uint64_t)0 >> (64 - (PIXELS - 1) * pitch - count);
    if (n < PIXELS) return 0;
    for (int begin = 0; begin < n; begin += PIXELS) {
        const int i = begin + PIXELS <= n ? begin : n - PIXELS; /* the last vector overlaps the one before */
        const uint8_t *at = pixels + (int64_t)i * pitch;
        __builtin_prefetch(at + AHEAD, 0, 2);
        __m512i v = _mm512_permutexvar_epi32(s, _mm512_maskz_loadu_epi8(used, at));
        v = _mm512_permutexvar_epi32(k, _mm512_shuffle_epi8(v, p));
        _mm_storeu_si128((__m128i *)(out[0] + i), _mm512_castsi512_si128(v));
        if (count > 1) _mm_storeu_si128((__m128i *)(out[1] + i), _mm512_extracti32x4_epi32(v, 1));
        if (count > 2) _mm_storeu_si128((__m128i *)(out[2] + i), _mm512_extracti32x4_epi32(v, 2));
        if (count > 3) _mm_storeu_si128((__m128i *)(out[3] + i), _mm512_extracti32x4_epi32(v, 3));
    }
    return n;
}

#else

static int split_vectors(const uint8_t *pixels, int pitch, int count, int n, uint8_t *const *out)
{
    (void)pixels, (void)pitch, (void)count, (void)n, (void)out;
    return 0;
}

#endif

/* The compiler vectorises the loop if the pitch is constant. */
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
    case 4:
        split_loop(pixels, 4, count, done, n, out);
        break;
    default:
        split_loop(pixels, pitch, count, done, n, out);
        break;
    }
}

/* ---- One channel of any type ---- */

#if defined(__AVX512BW__)

#define BITS 16
#include "cpu/kernels/channels_template.h"

#define BITS 32
#include "cpu/kernels/channels_template.h"

#define BITS 64
#include "cpu/kernels/channels_template.h"

static int64_t pick(char *to, const char *from, int64_t stride, size_t size, int64_t n)
{
    const int64_t apart = stride / (int64_t)size;
    if (stride <= 0 || stride % (int64_t)size || apart < 2) return 0;
    if (size == 1 && apart <= HISTO_MAX_CHANNELS) {
        uint8_t *out[] = {(uint8_t *)to};
        return split_vectors((const uint8_t *)from, (int)apart, 1, (int)n, out);
    }
    if (size == 2 && apart <= 16) return pick_16(to, from, (int)apart, n);
    if (size == 4 && apart <= 8) return pick_32(to, from, (int)apart, n);
    if (size == 8 && apart <= 4) return pick_64(to, from, (int)apart, n);
    return 0;
}

#else

/* The compiler vectorises loops with a constant distance. */
#define BITS 8
#include "cpu/kernels/channels_template.h"

#define BITS 16
#include "cpu/kernels/channels_template.h"

#define BITS 32
#include "cpu/kernels/channels_template.h"

#define BITS 64
#include "cpu/kernels/channels_template.h"

static int64_t pick(char *to, const char *from, int64_t stride, size_t size, int64_t n)
{
    if (stride % (int64_t)size) return 0;
    const int64_t apart = stride / (int64_t)size;
    return size == 1   ? pick_8(to, from, apart, n)
           : size == 2 ? pick_16(to, from, apart, n)
           : size == 4 ? pick_32(to, from, apart, n)
                       : pick_64(to, from, apart, n);
}

#endif

void HISTO_OF_ISA(gather)(char *to, const char *from, int64_t stride, size_t size, int64_t n)
{
    const int64_t picked = pick(to, from, stride, size, n);
    histo_gather(to + picked * (int64_t)size, from + picked * stride, stride, size, n - picked);
}

void HISTO_OF_ISA(fetch)(char *to, const char *from, int64_t stride, histo_dtype dtype, const char *bits, int64_t n)
{
    histo_fetch_by(HISTO_OF_ISA(gather), to, from, stride, dtype, bits, n);
}

/* Rows of at most a vector are stored as one; the next row overwrites what is too much. Returns how many are copied. */
static int64_t copy_short_rows(char *to, const char *from, int64_t pitch, size_t bytes, int64_t rows)
{
    int64_t row = 0;
#if defined(__AVX512BW__)
    enum { VECTOR = 64 };
    const int64_t size = (int64_t)bytes;
    if (bytes > VECTOR) return 0;
    const __mmask64 used = ~(uint64_t)0 >> (VECTOR - bytes);
    for (; row * size + VECTOR <= rows * size; row++)
        _mm512_storeu_si512(to + row * size, _mm512_maskz_loadu_epi8(used, from + row * pitch));
#else
    (void)to, (void)from, (void)pitch, (void)bytes, (void)rows;
#endif
    return row;
}

void HISTO_OF_ISA(copy_rows)(char *to, const char *from, int64_t pitch, size_t bytes, int64_t rows)
{
    for (int64_t row = copy_short_rows(to, from, pitch, bytes, rows); row < rows; row++)
        memcpy(to + row * (int64_t)bytes, from + row * pitch, bytes);
}
