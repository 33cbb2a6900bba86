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
    int exponent = (bits & 0x7fff) >> fraction_bits, highest = (1 << (15 - fraction_bits)) - 1;
    int fraction = bits & ((1 << fraction_bits) - 1);
    double sign = bits & 0x8000 ? -1 : 1;
    if (exponent == highest) return fraction ? (double)NAN : sign * (double)INFINITY;
    if (exponent == 0) return sign * ldexp((double)fraction, 1 - bias - fraction_bits);
    return sign * ldexp((double)(fraction + (1 << fraction_bits)), exponent - bias - fraction_bits);
}

/* Rounded for 64-bit integers, exact for others. */
HISTO_INLINE double reference_value(histo_dtype type, const char *at)
{
    uint16_t half;
    switch (type) {
#define VALUE(constant, storage)                                                                                       \
    case constant: {                                                                                                   \
        storage value;                                                                                                 \
        memcpy(&value, at, sizeof value);                                                                              \
        return (double)value;                                                                                          \
    }
        VALUE(HISTO_U8, uint8_t)
        VALUE(HISTO_I8, int8_t)
        VALUE(HISTO_U16, uint16_t)
        VALUE(HISTO_I16, int16_t)
        VALUE(HISTO_U32, uint32_t)
        VALUE(HISTO_I32, int32_t)
        VALUE(HISTO_U64, uint64_t)
        VALUE(HISTO_I64, int64_t)
        VALUE(HISTO_F32, float)
        VALUE(HISTO_F64, double)
#undef VALUE
    case HISTO_F16:
        memcpy(&half, at, sizeof half);
        return reference_half(half, 10, 15);
    default: /* HISTO_BF16 */
        memcpy(&half, at, sizeof half);
        return reference_half(half, 7, 127);
    }
}

/* The exact value of any sample: rounded + rest. Only 64-bit integers have a rest. */
typedef struct reference_exact {
    double rounded;
    int64_t rest;
} reference_exact;

HISTO_INLINE reference_exact reference_exact_value(histo_dtype type, const char *at)
{
    reference_exact x = {reference_value(type, at), 0};
    if (type != HISTO_U64 && type != HISTO_I64) return x;
    uint64_t bits;
    memcpy(&bits, at, sizeof bits);
    /* The difference is small, so it may be taken modulo 2^64, which the largest samples are rounded to. */
    const uint64_t rounded = x.rounded < 0        ? (uint64_t)(int64_t)x.rounded
                             : x.rounded < 0x1p64 ? (uint64_t)x.rounded
                                                  : 0;
    x.rest = (int64_t)(bits - rounded);
    return x;
}

/* -1, 0 or 1: the sample is below the edge, equal or above. Rounding never carries a sample past a double, so the rest
 * decides only where the rounded value is the edge. */
HISTO_INLINE int reference_compare_edge(reference_exact x, double edge)
{
    if (x.rounded != edge) return x.rounded < edge ? -1 : 1;
    return x.rest < 0 ? -1 : x.rest > 0;
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

HISTO_INLINE int64_t reference_slot(const reference_finder *f, histo_dtype type, const char *at)
{
    const reference_exact x = reference_exact_value(type, at);
    if (x.rounded != x.rounded) return f->bins + 2;
    if (reference_compare_edge(x, f->lo) < 0) return 0;
    const int beyond = reference_compare_edge(x, f->hi);
    if (beyond >= 0) return f->closed && beyond == 0 ? f->bins : f->bins + 1;
    int64_t reached = 0, end = f->bins + 1;
    if (f->below) {
        int64_t cell = reference_cell(f, x.rounded);
        reached = f->below[cell];
        end = f->below[cell + 1];
    }
    while (reached < end) {
        int64_t middle = (reached + end) / 2;
        if (reference_compare_edge(x, f->edges[middle]) >= 0)
            reached = middle + 1;
        else
            end = middle;
    }
    return reached;
}

/* The slot of a sample, searched among all edges [bins + 1]. */
HISTO_INLINE int64_t reference_slot_by_edges(const void *at, histo_dtype type, const double *edges, int64_t bins,
                                             bool closed)
{
    const reference_finder f = {edges, bins, 0, closed, edges[0], edges[bins], 0, NULL};
    return reference_slot(&f, type, (const char *)at);
}

#endif
