/* Filters. Compiled once for each level of the instruction set (isa.h). A range is compared in the samples' own type:
 * narrow types then have more lanes, and 64-bit integers are not rounded. */
#include "cpu/kernels/filters.h"

#include <string.h>

#include "cpu/kernels/isa.h"
#include "view/dtype.h"

#if defined(__AVX512BW__)
#include <immintrin.h>
#endif

/* The loop kept[i] = PASSES; if `too`, kept[i] &= PASSES. */
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

/* ignored: 1 for floats, whose sign bit does not count; else 0. */
#define DEFINE_NONZERO(bits)                                                                                           \
    static void nonzero_##bits(const uint##bits##_t *restrict samples, int n, int ignored, bool too,                   \
                               uint8_t *restrict kept)                                                                 \
    {                                                                                                                  \
        const uint##bits##_t mask = (uint##bits##_t) ~(uint##bits##_t)0 >> ignored;                                    \
        KEEP_ALL((samples[i] & mask) != 0);                                                                            \
    }
DEFINE_NONZERO(8)
DEFINE_NONZERO(16)
DEFINE_NONZERO(32)
DEFINE_NONZERO(64)

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
    const int sign = !histo_dtype_is_integer(dtype);
    switch (histo_dtype_size(dtype)) {
    case 1:
        nonzero_8(samples, n, sign, too, kept);
        break;
    case 2:
        nonzero_16(samples, n, sign, too, kept);
        break;
    case 4:
        nonzero_32(samples, n, sign, too, kept);
        break;
    default:
        nonzero_64(samples, n, sign, too, kept);
        break;
    }
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

/* ---- Compacting ---- */

#if defined(__AVX512BW__)

/* LANES samples at a time; full vectors are written, which never reach beyond sample i + LANES. */
#define DEFINE_COMPACT_VECTORS(name, type, LANES, load, compress, store)                                               \
    static int compact_vectors_##name(const type *samples, const uint8_t *kept, int n, type *to, int *moved)           \
    {                                                                                                                  \
        int i = 0, at = 0;                                                                                             \
        for (; i + LANES <= n; i += LANES) {                                                                           \
            const __m128i flags = _mm_loadu_si128((const __m128i *)(const void *)(kept + i));                          \
            const unsigned some = _mm_test_epi8_mask(flags, flags) & ((1U << LANES) - 1);                              \
            store(to + at, compress((uint16_t)some, load(samples + i)));                                               \
            at += (int)_mm_popcnt_u32(some);                                                                           \
        }                                                                                                              \
        *moved = at;                                                                                                   \
        return i;                                                                                                      \
    }
#define LOAD_8(at) _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)(at)))
#define LOAD_16(at) _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(const void *)(at)))
#define STORE_8(at, x) _mm_storeu_si128((__m128i *)(void *)(at), _mm512_cvtepi32_epi8(x))
#define STORE_16(at, x) _mm256_storeu_si256((__m256i *)(void *)(at), _mm512_cvtepi32_epi16(x))
DEFINE_COMPACT_VECTORS(8, uint8_t, 16, LOAD_8, _mm512_maskz_compress_epi32, STORE_8)
DEFINE_COMPACT_VECTORS(16, uint16_t, 16, LOAD_16, _mm512_maskz_compress_epi32, STORE_16)
DEFINE_COMPACT_VECTORS(32, uint32_t, 16, _mm512_loadu_si512, _mm512_maskz_compress_epi32, _mm512_storeu_si512)

static int compact_vectors_64(const uint64_t *samples, const uint8_t *kept, int n, uint64_t *to, int *moved)
{
    enum { LANES = 8 };
    int i = 0, at = 0;
    for (; i + LANES <= n; i += LANES) {
        const __m128i flags = _mm_loadl_epi64((const __m128i *)(const void *)(kept + i));
        const __mmask8 some = (__mmask8)_mm_test_epi8_mask(flags, flags);
        _mm512_storeu_si512(to + at, _mm512_maskz_compress_epi64(some, _mm512_loadu_si512(samples + i)));
        at += (int)_mm_popcnt_u32(some);
    }
    *moved = at;
    return i;
}

#else

#define DEFINE_COMPACT_VECTORS(name, type)                                                                             \
    static int compact_vectors_##name(const type *samples, const uint8_t *kept, int n, type *to, int *moved)           \
    {                                                                                                                  \
        (void)samples, (void)kept, (void)n, (void)to;                                                                  \
        return *moved = 0;                                                                                             \
    }
DEFINE_COMPACT_VECTORS(8, uint8_t)
DEFINE_COMPACT_VECTORS(16, uint16_t)
DEFINE_COMPACT_VECTORS(32, uint32_t)
DEFINE_COMPACT_VECTORS(64, uint64_t)

#endif

/* Branchless: what is not kept is overwritten. */
#define DEFINE_COMPACT(bits)                                                                                           \
    static void compact_##bits(const void *samples, const uint8_t *kept, int n, void *to)                              \
    {                                                                                                                  \
        const uint##bits##_t *from = samples;                                                                          \
        uint##bits##_t *out = to;                                                                                      \
        int at;                                                                                                        \
        for (int i = compact_vectors_##bits(from, kept, n, out, &at); i < n; at += kept[i++])                          \
            out[at] = from[i];                                                                                         \
    }
DEFINE_COMPACT(8)
DEFINE_COMPACT(16)
DEFINE_COMPACT(32)
DEFINE_COMPACT(64)

void HISTO_OF_ISA(compact)(size_t size, const void *samples, const uint8_t *kept, int n, void *to)
{
    switch (size) {
    case 1:
        compact_8(samples, kept, n, to);
        break;
    case 2:
        compact_16(samples, kept, n, to);
        break;
    case 4:
        compact_32(samples, kept, n, to);
        break;
    default:
        compact_64(samples, kept, n, to);
        break;
    }
}
