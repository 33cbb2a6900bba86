/* Extremes. Compiled once for each level of the instruction set (isa.h); the compiler vectorises the loops.
 *
 * Floats are compared as integers. Those without a sign are in the order of their bits; those with one are in the
 * opposite order, and come after all others if bits are unsigned, before them if bits are signed. So three numbers give
 * the extremes: the largest unsigned, the largest signed and the smallest signed bits. That takes three instructions
 * for a vector, and no more to notice NaN and infinities, whose bits are beyond those of numbers. A piece with some of
 * these is looked at again. */
#include "cpu/extremes.h"

#include <string.h>

#include "cpu/isa.h"
#include "view/dtype.h"

enum { PIECE_BYTES = 16384 }; /* fits into the L1 cache; its samples can be counted in 16 bits */

static inline bool any_yet(const histo_extremes *e)
{
    return e->samples > e->nan + e->below + e->above;
}

/* ---- Integers ---- */

#define DEFINE_INTEGERS(name, type, member)                                                                            \
    static void add_##name(const type *x, int64_t n, histo_extremes *e)                                                \
    {                                                                                                                  \
        type low = x[0], high = x[0];                                                                                  \
        for (int64_t i = 0; i < n; i++) {                                                                              \
            low = x[i] < low ? x[i] : low;                                                                             \
            high = x[i] > high ? x[i] : high;                                                                          \
        }                                                                                                              \
        const bool first = !any_yet(e);                                                                                \
        if (first || low < e->min.member) e->min.member = low;                                                         \
        if (first || high > e->max.member) e->max.member = high;                                                       \
        e->samples += (uint64_t)n;                                                                                     \
    }
DEFINE_INTEGERS(u8, uint8_t, u64)
DEFINE_INTEGERS(i8, int8_t, i64)
DEFINE_INTEGERS(u16, uint16_t, u64)
DEFINE_INTEGERS(i16, int16_t, i64)
DEFINE_INTEGERS(u32, uint32_t, u64)
DEFINE_INTEGERS(i32, int32_t, i64)
DEFINE_INTEGERS(u64, uint64_t, u64)
DEFINE_INTEGERS(i64, int64_t, i64)

/* ---- Floats ---- */

static inline double f64_of(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline double f32_of(uint32_t bits)
{
    return (double)histo_f32_from_bits(bits);
}

static inline double f16_of(uint16_t bits)
{
    return (double)histo_f16_to_f32(bits);
}

static inline double bf16_of(uint16_t bits)
{
    return (double)histo_bf16_to_f32(bits);
}

/* Bits that the samples of a piece have, as signed and as unsigned integers: see above. */
#define DEFINE_PIECES(bits)                                                                                            \
    typedef struct piece_##bits {                                                                                      \
        int##bits##_t least, most;                                                                                     \
        uint##bits##_t top;                                                                                            \
        uint##bits##_t nan, below, above; /* numbers of samples */                                                     \
    } piece_##bits;                                                                                                    \
                                                                                                                       \
    static piece_##bits bits_of_##bits(const uint##bits##_t *x, int n)                                                 \
    {                                                                                                                  \
        int##bits##_t least = (int##bits##_t)x[0], most = least;                                                       \
        uint##bits##_t top = x[0];                                                                                     \
        for (int i = 0; i < n; i++) {                                                                                  \
            const uint##bits##_t u = x[i];                                                                             \
            const int##bits##_t s = (int##bits##_t)u;                                                                  \
            least = s < least ? s : least;                                                                             \
            most = s > most ? s : most;                                                                                \
            top = u > top ? u : top;                                                                                   \
        }                                                                                                              \
        return (piece_##bits){.least = least, .most = most, .top = top};                                               \
    }                                                                                                                  \
                                                                                                                       \
    /* The same of finite samples; the others are counted. */                                                          \
    static piece_##bits finite_bits_of_##bits(const uint##bits##_t *x, int n, uint##bits##_t infinity)                 \
    {                                                                                                                  \
        int##bits##_t least = INT##bits##_MAX, most = INT##bits##_MIN;                                                 \
        uint##bits##_t top = 0, nan = 0, below = 0, above = 0;                                                         \
        for (int i = 0; i < n; i++) {                                                                                  \
            const uint##bits##_t u = x[i], magnitude = u & (uint##bits##_t)INT##bits##_MAX;                            \
            const int##bits##_t s = (int##bits##_t)u;                                                                  \
            const bool finite = magnitude < infinity;                                                                  \
            const int##bits##_t low = finite ? s : INT##bits##_MAX, high = finite ? s : INT##bits##_MIN;               \
            const uint##bits##_t unsigned_high = finite ? u : 0;                                                       \
            least = low < least ? low : least;                                                                         \
            most = high > most ? high : most;                                                                          \
            top = unsigned_high > top ? unsigned_high : top;                                                           \
            nan = (uint##bits##_t)(nan + (magnitude > infinity));                                                      \
            above = (uint##bits##_t)(above + (u == infinity));                                                         \
            below = (uint##bits##_t)(below + (u == (uint##bits##_t)(infinity | (uint##bits##_t)INT##bits##_MIN)));     \
        }                                                                                                              \
        return (piece_##bits){least, most, top, nan, below, above};                                                    \
    }
DEFINE_PIECES(16)
DEFINE_PIECES(32)
DEFINE_PIECES(64)

/* Adding 0 makes zeros positive. */
#define DEFINE_FLOATS(name, bits, infinity)                                                                            \
    static void add_##name(const uint##bits##_t *x, int64_t n, histo_extremes *e)                                      \
    {                                                                                                                  \
        enum { PIECE = PIECE_BYTES / (bits / 8) };                                                                     \
        const uint##bits##_t sign = (uint##bits##_t)INT##bits##_MIN;                                                   \
        bool looked = false;                                                                                           \
        for (int64_t begin = 0; begin < n; begin += PIECE) {                                                           \
            const int length = n - begin < PIECE ? (int)(n - begin) : PIECE;                                           \
            piece_##bits p;                                                                                            \
            if (!looked) p = bits_of_##bits(x + begin, length);                                                        \
            if (looked || p.most >= (infinity) || p.top >= (uint##bits##_t)((infinity) | sign)) {                      \
                p = finite_bits_of_##bits(x + begin, length, infinity);                                                \
                looked = p.nan || p.below || p.above; /* the next piece may have some as well */                       \
            }                                                                                                          \
            const int finite = length - (int)p.nan - (int)p.below - (int)p.above;                                      \
            const bool first = !any_yet(e);                                                                            \
            e->samples += (uint64_t)length;                                                                            \
            e->nan += p.nan;                                                                                           \
            e->below += p.below;                                                                                       \
            e->above += p.above;                                                                                       \
            if (finite == 0) continue;                                                                                 \
            const double min = name##_of(p.top & sign ? p.top : (uint##bits##_t)p.least) + 0.0;                        \
            const double max = name##_of((uint##bits##_t)(p.most < 0 ? p.least : p.most)) + 0.0;                       \
            if (first || min < e->min.f64) e->min.f64 = min;                                                           \
            if (first || max > e->max.f64) e->max.f64 = max;                                                           \
        }                                                                                                              \
    }
DEFINE_FLOATS(f16, 16, 0x7c00)
DEFINE_FLOATS(bf16, 16, 0x7f80)
DEFINE_FLOATS(f32, 32, 0x7f800000)
DEFINE_FLOATS(f64, 64, INT64_C(0x7ff0000000000000))

void HISTO_OF_ISA(add_extremes)(histo_dtype dtype, const void *samples, int64_t n, histo_extremes *extremes)
{
    if (n == 0) return;
    switch (dtype) {
#define CASE(constant, name, storage, compute, widen)                                                                  \
    case constant:                                                                                                     \
        add_##name(samples, n, extremes);                                                                              \
        break;
        HISTO_DTYPES(CASE)
#undef CASE
    default:
        break;
    }
}
