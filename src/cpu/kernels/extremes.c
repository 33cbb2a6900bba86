/* Extremes. Compiled once for each level of the instruction set (isa.h); the compiler vectorises the loops.
 *
 * Floats are compared as integers. Those without a sign are in the order of their bits; those with one are in the
 * opposite order, and come after all others if bits are unsigned, before them if bits are signed. So three numbers give
 * the extremes: the largest unsigned, the largest signed and the smallest signed bits. That takes three instructions
 * for a vector, and no more to notice NaN and infinities, whose bits are beyond those of numbers. A piece with some of
 * these is looked at again. */
#include "cpu/kernels/extremes.h"

#include <string.h>

#include "cpu/kernels/isa.h"
#include "view/dtype.h"

enum { PIECE_BYTES = 16384 }; /* fits into the L1 cache; its samples can be counted in 16 bits */

static inline bool any_yet(const histo_extremes *e)
{
    return e->samples > e->nan + e->below + e->above;
}

/* ---- Integers ---- */

#define DEFINE_INTEGERS(name, type, member)                                                                            \
    static inline void merge_##name(type low, type high, int64_t n, histo_extremes *e)                                 \
    {                                                                                                                  \
        const bool first = !any_yet(e);                                                                                \
        if (first || low < e->min.member) e->min.member = low;                                                         \
        if (first || high > e->max.member) e->max.member = high;                                                       \
        e->samples += (uint64_t)n;                                                                                     \
    }                                                                                                                  \
                                                                                                                       \
    static void add_##name(const type *x, int64_t n, histo_extremes *e)                                                \
    {                                                                                                                  \
        type low = x[0], high = x[0];                                                                                  \
        for (int64_t i = 0; i < n; i++) {                                                                              \
            low = x[i] < low ? x[i] : low;                                                                             \
            high = x[i] > high ? x[i] : high;                                                                          \
        }                                                                                                              \
        merge_##name(low, high, n, e);                                                                                 \
    }                                                                                                                  \
                                                                                                                       \
    static void add_columns_##name(const char *table, int64_t pitch, int rows, int columns, histo_extremes *e)         \
    {                                                                                                                  \
        type low[HISTO_COLUMNS], high[HISTO_COLUMNS];                                                                  \
        memcpy(low, table, (size_t)columns * sizeof *low);                                                             \
        memcpy(high, table, (size_t)columns * sizeof *high);                                                           \
        for (int r = 1; r < rows; r++) {                                                                               \
            const type *x = (const type *)(const void *)(table + r * pitch);                                           \
            for (int c = 0; c < columns; c++) {                                                                        \
                low[c] = x[c] < low[c] ? x[c] : low[c];                                                                \
                high[c] = x[c] > high[c] ? x[c] : high[c];                                                             \
            }                                                                                                          \
        }                                                                                                              \
        for (int c = 0; c < columns; c++)                                                                              \
            merge_##name(low[c], high[c], rows, &e[c]);                                                                \
    }
DEFINE_INTEGERS(u8, uint8_t, u64)
DEFINE_INTEGERS(i8, int8_t, i64) /* NOLINT(bugprone-signed-char-misuse,cert-str34-c): these are numbers */
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

/* The same of the columns of a table. */
#define DEFINE_COLUMNS(bits)                                                                                           \
    typedef struct columns_##bits {                                                                                    \
        int##bits##_t least[HISTO_COLUMNS], most[HISTO_COLUMNS];                                                       \
        uint##bits##_t top[HISTO_COLUMNS];                                                                             \
        uint##bits##_t nan[HISTO_COLUMNS], below[HISTO_COLUMNS], above[HISTO_COLUMNS];                                 \
    } columns_##bits;                                                                                                  \
                                                                                                                       \
    static void find_columns_##bits(const char *table, int64_t pitch, int rows, int columns, columns_##bits *all)      \
    {                                                                                                                  \
        const size_t row = (size_t)columns * (bits / 8);                                                               \
        memcpy(all->least, table, row);                                                                                \
        memcpy(all->most, table, row);                                                                                 \
        memcpy(all->top, table, row);                                                                                  \
        memset(all->nan, 0, row);                                                                                      \
        memset(all->below, 0, row);                                                                                    \
        memset(all->above, 0, row);                                                                                    \
        for (int r = 1; r < rows; r++) {                                                                               \
            const uint##bits##_t *x = (const uint##bits##_t *)(const void *)(table + r * pitch);                       \
            for (int c = 0; c < columns; c++) {                                                                        \
                const uint##bits##_t u = x[c];                                                                         \
                const int##bits##_t s = (int##bits##_t)u;                                                              \
                all->least[c] = s < all->least[c] ? s : all->least[c];                                                 \
                all->most[c] = s > all->most[c] ? s : all->most[c];                                                    \
                all->top[c] = u > all->top[c] ? u : all->top[c];                                                       \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    static void find_finite_columns_##bits(const char *table, int64_t pitch, int rows, int columns,                    \
                                           uint##bits##_t infinity, columns_##bits *all)                               \
    {                                                                                                                  \
        for (int c = 0; c < columns; c++) {                                                                            \
            all->least[c] = INT##bits##_MAX;                                                                           \
            all->most[c] = INT##bits##_MIN;                                                                            \
            all->top[c] = 0;                                                                                           \
        }                                                                                                              \
        for (int r = 0; r < rows; r++) {                                                                               \
            const uint##bits##_t *x = (const uint##bits##_t *)(const void *)(table + r * pitch);                       \
            for (int c = 0; c < columns; c++) {                                                                        \
                const uint##bits##_t u = x[c], magnitude = u & (uint##bits##_t)INT##bits##_MAX;                        \
                const int##bits##_t s = (int##bits##_t)u;                                                              \
                const bool finite = magnitude < infinity, negative = s < 0;                                            \
                const int##bits##_t low = finite ? s : INT##bits##_MAX, high = finite ? s : INT##bits##_MIN;           \
                const uint##bits##_t unsigned_high = finite ? u : 0;                                                   \
                all->least[c] = low < all->least[c] ? low : all->least[c];                                             \
                all->most[c] = high > all->most[c] ? high : all->most[c];                                              \
                all->top[c] = unsigned_high > all->top[c] ? unsigned_high : all->top[c];                               \
                all->nan[c] = (uint##bits##_t)(all->nan[c] + (magnitude > infinity));                                  \
                all->above[c] = (uint##bits##_t)(all->above[c] + ((magnitude == infinity) & !negative));               \
                all->below[c] = (uint##bits##_t)(all->below[c] + ((magnitude == infinity) & negative));                \
            }                                                                                                          \
        }                                                                                                              \
    }
DEFINE_COLUMNS(16)
DEFINE_COLUMNS(32)
DEFINE_COLUMNS(64)

/* Adding 0 makes zeros positive. */
#define DEFINE_FLOATS(name, bits, infinity)                                                                            \
    static inline void merge_##name(piece_##bits p, int n, histo_extremes *e)                                          \
    {                                                                                                                  \
        const uint##bits##_t sign = (uint##bits##_t)INT##bits##_MIN;                                                   \
        const int finite = n - (int)p.nan - (int)p.below - (int)p.above;                                               \
        const bool first = !any_yet(e);                                                                                \
        e->samples += (uint64_t)n;                                                                                     \
        e->nan += p.nan;                                                                                               \
        e->below += p.below;                                                                                           \
        e->above += p.above;                                                                                           \
        if (finite == 0) return;                                                                                       \
        const double min = name##_of(p.top & sign ? p.top : (uint##bits##_t)p.least) + 0.0;                            \
        const double max = name##_of((uint##bits##_t)(p.most < 0 ? p.least : p.most)) + 0.0;                           \
        if (first || min < e->min.f64) e->min.f64 = min;                                                               \
        if (first || max > e->max.f64) e->max.f64 = max;                                                               \
    }                                                                                                                  \
                                                                                                                       \
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
            merge_##name(p, length, e);                                                                                \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    static void add_columns_##name(const char *table, int64_t pitch, int rows, int columns, histo_extremes *e)         \
    {                                                                                                                  \
        const uint##bits##_t sign = (uint##bits##_t)INT##bits##_MIN;                                                   \
        columns_##bits all;                                                                                            \
        find_columns_##bits(table, pitch, rows, columns, &all);                                                        \
        bool finite = true;                                                                                            \
        for (int c = 0; c < columns; c++)                                                                              \
            finite &= (all.most[c] < (infinity)) & (all.top[c] < (uint##bits##_t)((infinity) | sign));                 \
        if (!finite) find_finite_columns_##bits(table, pitch, rows, columns, infinity, &all);                          \
        for (int c = 0; c < columns; c++)                                                                              \
            merge_##name(                                                                                              \
                (piece_##bits){all.least[c], all.most[c], all.top[c], all.nan[c], all.below[c], all.above[c]}, rows,   \
                &e[c]);                                                                                                \
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

void HISTO_OF_ISA(add_column_extremes)(histo_dtype dtype, const void *table, int64_t pitch, int rows, int columns,
                                       histo_extremes *extremes)
{
    if (rows == 0) return;
    switch (dtype) {
#define CASE(constant, name, storage, compute, widen)                                                                  \
    case constant:                                                                                                     \
        add_columns_##name(table, pitch, rows, columns, extremes);                                                     \
        break;
        HISTO_DTYPES(CASE)
#undef CASE
    default:
        break;
    }
}
