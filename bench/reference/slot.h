/* The slot of a sample, found by comparing its exact value with the edges, on host and device. Counts of benchmarks and
 * of tests are compared with what this finds, so it shares no code with the library. */
#ifndef BENCH_REFERENCE_SLOT_H
#define BENCH_REFERENCE_SLOT_H

#include <histo/histo.h>
#include <math.h>
#include <string.h>

#include "base/host_device.h" /* HISTO_INLINE */

/* ---- Values ---- */

/* binary16: 1 bit of sign, 5 of exponent, 10 of fraction; bfloat16: 1, 8, 7. */
HISTO_INLINE double reference_half(uint16_t bits, int fraction_bits, int bias)
{
    int exponent = (bits & 0x7fff) >> fraction_bits, most = (1 << (15 - fraction_bits)) - 1;
    int fraction = bits & ((1 << fraction_bits) - 1);
    double sign = bits & 0x8000 ? -1 : 1;
    if (exponent == most) return fraction ? (double)NAN : sign * (double)INFINITY;
    if (exponent == 0) return sign * ldexp((double)fraction, 1 - bias - fraction_bits);
    return sign * ldexp((double)(fraction + (1 << fraction_bits)), exponent - bias - fraction_bits);
}

#define REFERENCE_LOAD(type)                                                                                           \
    HISTO_INLINE type reference_load_##type(const char *at)                                                            \
    {                                                                                                                  \
        type loaded;                                                                                                   \
        memcpy(&loaded, at, sizeof loaded);                                                                            \
        return loaded;                                                                                                 \
    }
REFERENCE_LOAD(uint8_t)
REFERENCE_LOAD(int8_t)
REFERENCE_LOAD(uint16_t)
REFERENCE_LOAD(int16_t)
REFERENCE_LOAD(uint32_t)
REFERENCE_LOAD(int32_t)
REFERENCE_LOAD(uint64_t)
REFERENCE_LOAD(int64_t)
REFERENCE_LOAD(float)
REFERENCE_LOAD(double)
#undef REFERENCE_LOAD

/* Exact but for 64-bit integers. */
HISTO_INLINE double reference_value(histo_dtype type, const char *at)
{
    switch (type) {
#define VALUE(constant, storage)                                                                                       \
    case constant:                                                                                                     \
        return (double)reference_load_##storage(at);
        VALUE(HISTO_U8, uint8_t)
        VALUE(HISTO_I8, int8_t)
        VALUE(HISTO_U16, uint16_t)
        VALUE(HISTO_I16, int16_t)
        VALUE(HISTO_U32, uint32_t)
        VALUE(HISTO_I32, int32_t)
        VALUE(HISTO_U64, uint64_t)
        VALUE(HISTO_I64, int64_t)
        VALUE(HISTO_F32, float)
#undef VALUE
    case HISTO_F16:
        return reference_half(reference_load_uint16_t(at), 10, 15);
    case HISTO_BF16:
        return reference_half(reference_load_uint16_t(at), 7, 127);
    default:
        return reference_load_double(at);
    }
}

HISTO_INLINE bool reference_is_zero(histo_dtype type, const char *at)
{
    if (type == HISTO_U64 || type == HISTO_I64) return reference_load_uint64_t(at) == 0;
    return reference_value(type, at) == 0;
}

/* ---- Slots ---- */

/* Edges and a table that says how many of them are below each cell. A cell is a range of positions; the position of a
 * value never decreases as the value grows, so only edges in the cell of a sample have to be compared with it. */
typedef struct reference_finder {
    const double *edges;
    int64_t bins, cells;
    bool closed;
    double lo, hi, scale;
    const uint32_t *below; /* [cells + 1]; NULL: all edges are searched */
} reference_finder;

HISTO_INLINE int64_t reference_cell(const reference_finder *f, double x)
{
    double at = (x - f->lo) * f->scale;
    return at < 0 ? 0 : at < (double)(f->cells - 1) ? (int64_t)at : f->cells - 1;
}

/* edge <= x, by value. */
HISTO_INLINE bool reference_reaches_f64(double x, double edge)
{
    return x >= edge;
}

HISTO_INLINE bool reference_reaches_i64(int64_t x, double edge)
{
    double up = ceil(edge);
    return up < 0x1p63 && (up < -0x1p63 || x >= (int64_t)up);
}

HISTO_INLINE bool reference_reaches_u64(uint64_t x, double edge)
{
    double up = ceil(edge);
    return up < 0x1p64 && (up <= 0 || x >= (uint64_t)up);
}

HISTO_INLINE bool reference_equals_f64(double x, double edge)
{
    return x == edge;
}

HISTO_INLINE bool reference_equals_i64(int64_t x, double edge)
{
    /* cppcheck-suppress incorrectLogicOperator; it misreads hexadecimal exponents */
    return edge >= -0x1p63 && edge < 0x1p63 && edge == floor(edge) && (int64_t)edge == x;
}

HISTO_INLINE bool reference_equals_u64(uint64_t x, double edge)
{
    return edge >= 0 && edge < 0x1p64 && edge == floor(edge) && (uint64_t)edge == x;
}

#define REFERENCE_SLOT(name, type)                                                                                     \
    HISTO_INLINE int64_t reference_slot_##name(const reference_finder *f, type x)                                      \
    {                                                                                                                  \
        if (x != x) return f->bins + 2;                                                                                \
        if (!reference_reaches_##name(x, f->lo)) return 0;                                                             \
        if (reference_reaches_##name(x, f->hi))                                                                        \
            return f->closed && reference_equals_##name(x, f->hi) ? f->bins : f->bins + 1;                             \
        int64_t reached = 0, end = f->bins + 1;                                                                        \
        if (f->below) {                                                                                                \
            int64_t cell = reference_cell(f, (double)x);                                                               \
            reached = f->below[cell];                                                                                  \
            end = f->below[cell + 1];                                                                                  \
        }                                                                                                              \
        while (reached < end) {                                                                                        \
            int64_t middle = (reached + end) / 2;                                                                      \
            if (reference_reaches_##name(x, f->edges[middle]))                                                         \
                reached = middle + 1;                                                                                  \
            else                                                                                                       \
                end = middle;                                                                                          \
        }                                                                                                              \
        return reached;                                                                                                \
    }
REFERENCE_SLOT(f64, double)
REFERENCE_SLOT(i64, int64_t)
REFERENCE_SLOT(u64, uint64_t)
#undef REFERENCE_SLOT

HISTO_INLINE int64_t reference_slot(const reference_finder *f, histo_dtype type, const char *at)
{
    if (type == HISTO_U64) return reference_slot_u64(f, reference_load_uint64_t(at));
    if (type == HISTO_I64) return reference_slot_i64(f, reference_load_int64_t(at));
    return reference_slot_f64(f, reference_value(type, at));
}

/* The slot of a sample, searched among all edges [bins + 1]. */
HISTO_INLINE int64_t reference_slot_by_edges(const void *at, histo_dtype type, const double *edges, int64_t bins,
                                             bool closed)
{
    const reference_finder f = {edges, bins, 0, closed, edges[0], edges[bins], 0, NULL};
    return reference_slot(&f, type, (const char *)at);
}

#endif
