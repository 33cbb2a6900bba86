/* Brackets. Compiled once for each level of the instruction set (isa.h). */
#include "cpu/kernels/brackets.h"

#include <string.h>

#include "cpu/kernels/isa.h"

#if defined(__AVX512BW__)
#include <immintrin.h>
#endif

/* The bits to flip in a sample to order it: always, and if its sign bit is set. */
typedef struct order {
    int64_t always, negative;
} order;

#if defined(__AVX512BW__)

/* Masks of vectors both count and compress. Inlined for a constant number of brackets, which stay in registers then. */
#define INLINE static inline __attribute__((always_inline))
#define DEFINE_VECTORS(bits, lanes, mask, masked)                                                                      \
    INLINE int vectors_##bits(const uint##bits##_t *x, int n, order o, const histo_brackets *brackets, int count,      \
                              bool floats, histo_bracketed *found, uint##bits##_t *to)                                 \
    {                                                                                                                  \
        const __m512i always = _mm512_set1_epi##bits((int##bits##_t)o.always),                                         \
                      negative = _mm512_set1_epi##bits((int##bits##_t)o.negative),                                     \
                      least = _mm512_set1_epi##bits((int##bits##_t)brackets->least),                                   \
                      most = _mm512_set1_epi##bits((int##bits##_t)brackets->most), one = _mm512_set1_epi##bits(1);     \
        __m512i low[HISTO_MAX_BRACKETS], high[HISTO_MAX_BRACKETS], below[HISTO_MAX_BRACKETS],                          \
            above[HISTO_MAX_BRACKETS], nan_below = _mm512_setzero_si512(), nan_above = nan_below;                      \
        for (int b = 0; b < count; b++) {                                                                              \
            low[b] = _mm512_set1_epi##bits((int##bits##_t)brackets->low[b]);                                           \
            high[b] = _mm512_set1_epi##bits((int##bits##_t)brackets->high[b]);                                         \
            below[b] = above[b] = _mm512_setzero_si512();                                                              \
        }                                                                                                              \
        mask wanted[HISTO_MAX_BRACKETS];                                                                               \
        for (int b = 0; b < count; b++)                                                                                \
            wanted[b] = brackets->low[b] < brackets->high[b] ? (mask)~0 : 0;                                           \
        int kept = 0;                                                                                                  \
        for (int i = 0; i + lanes <= n; i += lanes) {                                                                  \
            const __m512i bits_of = _mm512_loadu_si512(x + i);                                                         \
            const __m512i at = _mm512_xor_si512(_mm512_xor_si512(bits_of, always),                                     \
                                                _mm512_and_si512(_mm512_srai_epi##bits(bits_of, bits - 1), negative)); \
            mask inside = 0;                                                                                           \
            for (int b = 0; b < count; b++) {                                                                          \
                const mask is_below = _mm512_cmplt_epi##bits##_mask(at, low[b]),                                       \
                           is_above = _mm512_cmpgt_epi##bits##_mask(at, high[b]);                                      \
                below[b] = _mm512_mask_add_epi##bits(below[b], is_below, below[b], one);                               \
                above[b] = _mm512_mask_add_epi##bits(above[b], is_above, above[b], one);                               \
                inside |= (mask)(~(is_below | is_above) & wanted[b]);                                                  \
            }                                                                                                          \
            if (floats) {                                                                                              \
                nan_below =                                                                                            \
                    _mm512_mask_add_epi##bits(nan_below, _mm512_cmplt_epi##bits##_mask(at, least), nan_below, one);    \
                nan_above =                                                                                            \
                    _mm512_mask_add_epi##bits(nan_above, _mm512_cmpgt_epi##bits##_mask(at, most), nan_above, one);     \
            }                                                                                                          \
            _mm512_storeu_si512(to + kept, masked(inside, bits_of));                                                   \
            kept += (int)_mm_popcnt_u32(inside);                                                                       \
        }                                                                                                              \
        for (int b = 0; b < count; b++) {                                                                              \
            const uint64_t under = (uint64_t)_mm512_reduce_add_epi##bits(below[b]),                                    \
                           over = (uint64_t)_mm512_reduce_add_epi##bits(above[b]);                                     \
            found->below[b] += under;                                                                                  \
            found->inside[b] += (uint64_t)(n - n % lanes) - under - over;                                              \
        }                                                                                                              \
        found->nan_below += (uint64_t)_mm512_reduce_add_epi##bits(nan_below);                                          \
        found->nan_above += (uint64_t)_mm512_reduce_add_epi##bits(nan_above);                                          \
        return kept;                                                                                                   \
    }                                                                                                                  \
                                                                                                                       \
    static int most_##bits(const uint##bits##_t *x, int n, order o, const histo_brackets *brackets, bool floats,       \
                           histo_bracketed *found, uint##bits##_t *to, int *kept)                                      \
    {                                                                                                                  \
        if (brackets->count == 1)                                                                                      \
            *kept = vectors_##bits(x, n, o, brackets, 1, floats, found, to);                                           \
        else if (brackets->count == 2)                                                                                 \
            *kept = vectors_##bits(x, n, o, brackets, 2, floats, found, to);                                           \
        else                                                                                                           \
            *kept = vectors_##bits(x, n, o, brackets, brackets->count, floats, found, to);                             \
        return n - n % lanes;                                                                                          \
    }
DEFINE_VECTORS(32, 16, __mmask16, _mm512_maskz_compress_epi32)
DEFINE_VECTORS(64, 8, __mmask8, _mm512_maskz_compress_epi64)

#else

/* All, by loops that the compiler vectorises; few samples are kept. */
#define DEFINE_VECTORS(bits)                                                                                           \
    static int most_##bits(const uint##bits##_t *x, int n, order o, const histo_brackets *brackets, bool floats,       \
                           histo_bracketed *found, uint##bits##_t *to, int *kept)                                      \
    {                                                                                                                  \
        enum { WORD = 8 };                                                                                             \
        int##bits##_t ordered[HISTO_BLOCK];                                                                            \
        uint8_t in[HISTO_BLOCK];                                                                                       \
        const int##bits##_t always = (int##bits##_t)o.always, negative = (int##bits##_t)o.negative,                    \
                            least = (int##bits##_t)brackets->least, most = (int##bits##_t)brackets->most;              \
        uint##bits##_t nan_below = 0, nan_above = 0;                                                                   \
        const int whole = n - n % WORD;                                                                                \
        for (int i = 0; i < whole; i++) {                                                                              \
            const int##bits##_t at = (int##bits##_t)x[i];                                                              \
            ordered[i] = at ^ always ^ (-(int##bits##_t)(at < 0) & negative);                                          \
            in[i] = 0;                                                                                                 \
        }                                                                                                              \
        for (int i = 0; i < whole && floats; i++) {                                                                    \
            nan_below += ordered[i] < least;                                                                           \
            nan_above += ordered[i] > most;                                                                            \
        }                                                                                                              \
        found->nan_below += nan_below;                                                                                 \
        found->nan_above += nan_above;                                                                                 \
        for (int b = 0; b < brackets->count; b++) {                                                                    \
            const int##bits##_t low = (int##bits##_t)brackets->low[b], high = (int##bits##_t)brackets->high[b];        \
            uint##bits##_t below = 0, above = 0;                                                                       \
            for (int i = 0; i < whole; i++) {                                                                          \
                below += ordered[i] < low;                                                                             \
                above += ordered[i] > high;                                                                            \
            }                                                                                                          \
            for (int i = 0; i < whole && low < high; i++)                                                              \
                in[i] |= (uint8_t)((ordered[i] >= low) & (ordered[i] <= high));                                        \
            found->below[b] += below;                                                                                  \
            found->inside[b] += (uint64_t)whole - below - above;                                                       \
        }                                                                                                              \
        int at = 0;                                                                                                    \
        for (int i = 0; i < whole; i += WORD) {                                                                        \
            uint64_t flags;                                                                                            \
            memcpy(&flags, in + i, sizeof flags);                                                                      \
            if (!flags) continue;                                                                                      \
            for (int k = 0; k < WORD; at += in[i + k++])                                                               \
                to[at] = x[i + k];                                                                                     \
        }                                                                                                              \
        *kept = at;                                                                                                    \
        return whole;                                                                                                  \
    }
DEFINE_VECTORS(32)
DEFINE_VECTORS(64)

#endif

#define DEFINE_COLLECT(bits)                                                                                           \
    static int collect_##bits(const uint##bits##_t *x, int n, order o, const histo_brackets *brackets, bool floats,    \
                              histo_bracketed *found, uint##bits##_t *to)                                              \
    {                                                                                                                  \
        int kept;                                                                                                      \
        for (int i = most_##bits(x, n, o, brackets, floats, found, to, &kept); i < n; i++) {                           \
            const int64_t signed_bits = (int##bits##_t)x[i],                                                           \
                          at = (int##bits##_t)(signed_bits ^ o.always ^ (signed_bits < 0 ? o.negative : 0));           \
            bool in = false;                                                                                           \
            for (int b = 0; b < brackets->count; b++) {                                                                \
                const bool inside = at >= brackets->low[b] && at <= brackets->high[b];                                 \
                found->below[b] += at < brackets->low[b];                                                              \
                found->inside[b] += inside;                                                                            \
                in |= inside && brackets->low[b] < brackets->high[b];                                                  \
            }                                                                                                          \
            found->nan_below += at < brackets->least;                                                                  \
            found->nan_above += at > brackets->most;                                                                   \
            to[kept] = x[i];                                                                                           \
            kept += in;                                                                                                \
        }                                                                                                              \
        return kept;                                                                                                   \
    }
DEFINE_COLLECT(32)
DEFINE_COLLECT(64)

int HISTO_OF_ISA(collect)(histo_dtype dtype, const void *samples, int n, const histo_brackets *brackets,
                          histo_bracketed *found, void *to)
{
    switch (dtype) {
    case HISTO_U32:
        return collect_32(samples, n, (order){INT32_MIN, 0}, brackets, false, found, to);
    case HISTO_I32:
        return collect_32(samples, n, (order){0, 0}, brackets, false, found, to);
    case HISTO_F32:
        return collect_32(samples, n, (order){0, INT32_MAX}, brackets, true, found, to);
    case HISTO_U64:
        return collect_64(samples, n, (order){INT64_MIN, 0}, brackets, false, found, to);
    case HISTO_I64:
        return collect_64(samples, n, (order){0, 0}, brackets, false, found, to);
    case HISTO_F64:
        return collect_64(samples, n, (order){0, INT64_MAX}, brackets, true, found, to);
    default: /* narrower samples are counted by value */
        return 0;
    }
}
