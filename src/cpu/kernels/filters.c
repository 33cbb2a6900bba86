/* Filters. Compiled once for each instruction set level (isa.h). Ranges are compared in the samples' own type: narrow
 * types then have more lanes, and 64-bit integers are not rounded. */
#include "cpu/kernels/filters.h"

#include <string.h>

#include "cpu/kernels/isa.h"
#include "cpu/kernels/template.h"
#include "view/dtype.h"

#if defined(__AVX512BW__)
#include <immintrin.h>
#endif

/* The loop kept[i] = PASSES or, if `too`, kept[i] &= PASSES. */
#define KEEP_ALL(PASSES)                                                                                               \
    do {                                                                                                               \
        if (too)                                                                                                       \
            for (int i = 0; i < n; i++)                                                                                \
                kept[i] &= (uint8_t)(PASSES);                                                                          \
        else                                                                                                           \
            for (int i = 0; i < n; i++)                                                                                \
                kept[i] = (uint8_t)(PASSES);                                                                           \
    } while (0)

static inline float f32_from_bits(uint64_t bits)
{
    return histo_f32_from_bits((uint32_t)bits);
}

static inline double f64_from_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

#define DEFINE_INSIDE(name, storage, type, value, from_bits)                                                           \
    static void inside_##name(const storage *restrict samples, int n, histo_bounds bounds, bool too,                   \
                              uint8_t *restrict kept)                                                                  \
    {                                                                                                                  \
        const type low = from_bits(bounds.low), high = from_bits(bounds.high);                                         \
        KEEP_ALL((int)(value(samples[i]) >= low) & (value(samples[i]) <= high));                                       \
    }
DEFINE_INSIDE(u8, uint8_t, uint8_t, histo_widen_plain, (uint8_t))
DEFINE_INSIDE(i8, int8_t, int8_t, histo_widen_plain, (int8_t))
DEFINE_INSIDE(u16, uint16_t, uint16_t, histo_widen_plain, (uint16_t))
DEFINE_INSIDE(i16, int16_t, int16_t, histo_widen_plain, (int16_t))
DEFINE_INSIDE(u32, uint32_t, uint32_t, histo_widen_plain, (uint32_t))
DEFINE_INSIDE(i32, int32_t, int32_t, histo_widen_plain, (int32_t))
DEFINE_INSIDE(u64, uint64_t, uint64_t, histo_widen_plain, (uint64_t))
DEFINE_INSIDE(i64, int64_t, int64_t, histo_widen_plain, (int64_t))
DEFINE_INSIDE(f16, uint16_t, int16_t, histo_ordered, (int16_t))
DEFINE_INSIDE(bf16, uint16_t, int16_t, histo_ordered, (int16_t))
DEFINE_INSIDE(f32, float, float, histo_widen_plain, f32_from_bits)
DEFINE_INSIDE(f64, double, double, histo_widen_plain, f64_from_bits)

/* For compacting: a vector of samples, held in registers as 32 or 64 bits each. */
#if defined(__AVX512BW__)

/* Which of the next n samples, 8 or 16, are kept, as bits. */
static inline unsigned flags_of(const uint8_t *kept, int n)
{
    const __m128i *at = (const __m128i *)(const void *)kept;
    const __m128i flags = n == 8 ? _mm_loadl_epi64(at) : _mm_loadu_si128(at);
    return _mm_test_epi8_mask(flags, flags) & ((1U << n) - 1);
}

static inline __m512i load_lanes(const void *from, int bits)
{
    return bits == 8    ? _mm512_cvtepu8_epi32(_mm_loadu_si128(from))
           : bits == 16 ? _mm512_cvtepu16_epi32(_mm256_loadu_si256(from))
                        : _mm512_loadu_si512(from);
}

static inline __m512i compress_lanes(__m512i x, unsigned flags, int bits)
{
    return bits == 64 ? _mm512_maskz_compress_epi64((__mmask8)flags, x)
                      : _mm512_maskz_compress_epi32((__mmask16)flags, x);
}

static inline void store_lanes(void *to, __m512i x, int bits)
{
    if (bits == 8)
        _mm_storeu_si128(to, _mm512_cvtepi32_epi8(x));
    else if (bits == 16)
        _mm256_storeu_si256(to, _mm512_cvtepi32_epi16(x));
    else
        _mm512_storeu_si512(to, x);
}

#endif

#define BITS 8
#include "cpu/kernels/filters_template.h"

#define BITS 16
#include "cpu/kernels/filters_template.h"

#define BITS 32
#include "cpu/kernels/filters_template.h"

#define BITS 64
#include "cpu/kernels/filters_template.h"

void HISTO_OF_ISA(keep_inside)(histo_dtype dtype, const void *samples, int n, histo_bounds bounds, bool too,
                               uint8_t *kept)
{
#define CASE(constant, name, storage, compute, widen)                                                                  \
    case constant:                                                                                                     \
        inside_##name(samples, n, bounds, too, kept);                                                                  \
        break;
    HISTO_SWITCH_DTYPE(dtype, CASE)
#undef CASE
}

void HISTO_OF_ISA(keep_nonzero)(histo_dtype dtype, const void *samples, int n, bool too, uint8_t *kept)
{
    static void (*const of_size[])(const void *, int, int, bool,
                                   uint8_t *) = {[1] = nonzero_8, [2] = nonzero_16, [4] = nonzero_32, [8] = nonzero_64};
    of_size[histo_dtype_size(dtype)](samples, n, !histo_dtype_is_integer(dtype), too, kept);
}

int HISTO_OF_ISA(count_kept)(const uint8_t *kept, int n)
{
    enum { WORD = 8 };
    int i = 0, all = 0;
    for (; i + WORD <= n; i += WORD) {
        uint64_t flags;
        memcpy(&flags, kept + i, sizeof flags);
        all += (int)(flags * 0x0101010101010101 >> 56); /* the top byte is the sum of all bytes */
    }
    for (; i < n; i++)
        all += kept[i];
    return all;
}

void HISTO_OF_ISA(compact)(size_t size, const void *samples, const uint8_t *kept, int n, void *to)
{
    static void (*const of_size[])(const void *, const uint8_t *, int,
                                   void *) = {[1] = compact_8, [2] = compact_16, [4] = compact_32, [8] = compact_64};
    of_size[size](samples, kept, n, to);
}
