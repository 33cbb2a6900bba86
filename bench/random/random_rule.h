/* The rule of the reference count: it finds the slot of each sample by comparing it with edges, on host and device. It
 * shares no code with the library. */
#ifndef BENCH_RANDOM_RULE_H
#define BENCH_RANDOM_RULE_H

#include <string.h>

#include "bench/random/random_problem.h"
#include "view/half.h" /* HISTO_INLINE */

/* Edges and a table that says how many of them are below each cell. A cell is a range of positions; the position of a
 * value never decreases as the value grows, so only edges in the cell of a sample have to be compared with it. */
typedef struct problem_finder {
    const double *edges;
    int64_t bins, cells;
    bool closed;
    double lo, hi, scale;
    const uint32_t *below; /* [cells + 1] */
} problem_finder;

typedef struct problem_rule {
    int axes;
    int64_t samples, batch, slots; /* of one histogram */
    histo_view view[HISTO_MAX_AXES], weights, mask, where;
    bool weighted, masked, filtered;
    double where_lo, where_hi;
    const int64_t *offsets; /* [batch + 1] of segments; NULL: others */
    problem_finder finder[HISTO_MAX_AXES];
} problem_rule;

/* ---- Values ---- */

/* binary16: 1 bit of sign, 5 of exponent, 10 of fraction; bfloat16: 1, 8, 7. */
HISTO_INLINE double problem_half(uint16_t bits, int fraction_bits, int bias)
{
    int exponent = (bits & 0x7fff) >> fraction_bits, most = (1 << (15 - fraction_bits)) - 1;
    int fraction = bits & ((1 << fraction_bits) - 1);
    double sign = bits & 0x8000 ? -1 : 1;
    if (exponent == most) return fraction ? (double)NAN : sign * (double)INFINITY;
    if (exponent == 0) return sign * ldexp((double)fraction, 1 - bias - fraction_bits);
    return sign * ldexp((double)(fraction + (1 << fraction_bits)), exponent - bias - fraction_bits);
}

#define PROBLEM_LOAD(type)                                                                                             \
    HISTO_INLINE type problem_load_##type(const char *at)                                                              \
    {                                                                                                                  \
        type loaded;                                                                                                   \
        memcpy(&loaded, at, sizeof loaded);                                                                            \
        return loaded;                                                                                                 \
    }
PROBLEM_LOAD(uint8_t)
PROBLEM_LOAD(int8_t)
PROBLEM_LOAD(uint16_t)
PROBLEM_LOAD(int16_t)
PROBLEM_LOAD(uint32_t)
PROBLEM_LOAD(int32_t)
PROBLEM_LOAD(uint64_t)
PROBLEM_LOAD(int64_t)
PROBLEM_LOAD(float)
PROBLEM_LOAD(double)
#undef PROBLEM_LOAD

/* Exact but for 64-bit integers. */
HISTO_INLINE double problem_value(histo_dtype type, const char *at)
{
    switch (type) {
    case HISTO_U8:
        return problem_load_uint8_t(at);
    case HISTO_I8:
        return problem_load_int8_t(at);
    case HISTO_U16:
        return problem_load_uint16_t(at);
    case HISTO_I16:
        return problem_load_int16_t(at);
    case HISTO_U32:
        return problem_load_uint32_t(at);
    case HISTO_I32:
        return problem_load_int32_t(at);
    case HISTO_U64:
        return (double)problem_load_uint64_t(at);
    case HISTO_I64:
        return (double)problem_load_int64_t(at);
    case HISTO_F16:
        return problem_half(problem_load_uint16_t(at), 10, 15);
    case HISTO_BF16:
        return problem_half(problem_load_uint16_t(at), 7, 127);
    case HISTO_F32:
        return (double)problem_load_float(at);
    default:
        return problem_load_double(at);
    }
}

HISTO_INLINE bool problem_is_zero(histo_dtype type, const char *at)
{
    if (type == HISTO_U64 || type == HISTO_I64) return problem_load_uint64_t(at) == 0;
    return problem_value(type, at) == 0;
}

/* ---- The slot of a sample ---- */

HISTO_INLINE int64_t problem_cell(const problem_finder *f, double x)
{
    double at = (x - f->lo) * f->scale;
    return at < 0 ? 0 : at < (double)(f->cells - 1) ? (int64_t)at : f->cells - 1;
}

/* edge <= x, by value. */
HISTO_INLINE bool problem_reaches_f64(double x, double edge)
{
    return x >= edge;
}

HISTO_INLINE bool problem_reaches_i64(int64_t x, double edge)
{
    double up = ceil(edge);
    return up < 0x1p63 && (up < -0x1p63 || x >= (int64_t)up);
}

HISTO_INLINE bool problem_reaches_u64(uint64_t x, double edge)
{
    double up = ceil(edge);
    return up < 0x1p64 && (up <= 0 || x >= (uint64_t)up);
}

HISTO_INLINE bool problem_equals_f64(double x, double edge)
{
    return x == edge;
}

HISTO_INLINE bool problem_equals_i64(int64_t x, double edge)
{
    /* cppcheck-suppress incorrectLogicOperator; it misreads hexadecimal exponents */
    return edge >= -0x1p63 && edge < 0x1p63 && edge == floor(edge) && (int64_t)edge == x;
}

HISTO_INLINE bool problem_equals_u64(uint64_t x, double edge)
{
    return edge >= 0 && edge < 0x1p64 && edge == floor(edge) && (uint64_t)edge == x;
}

#define PROBLEM_SLOT(name, type)                                                                                       \
    HISTO_INLINE int64_t problem_slot_##name(const problem_finder *f, type x)                                          \
    {                                                                                                                  \
        if (x != x) return f->bins + 2;                                                                                \
        if (!problem_reaches_##name(x, f->lo)) return 0;                                                               \
        if (problem_reaches_##name(x, f->hi))                                                                          \
            return f->closed && problem_equals_##name(x, f->hi) ? f->bins : f->bins + 1;                               \
        int64_t cell = problem_cell(f, (double)x), reached = f->below[cell], end = f->below[cell + 1];                 \
        while (reached < end) {                                                                                        \
            int64_t middle = (reached + end) / 2;                                                                      \
            if (problem_reaches_##name(x, f->edges[middle]))                                                           \
                reached = middle + 1;                                                                                  \
            else                                                                                                       \
                end = middle;                                                                                          \
        }                                                                                                              \
        return reached;                                                                                                \
    }
PROBLEM_SLOT(f64, double)
PROBLEM_SLOT(i64, int64_t)
PROBLEM_SLOT(u64, uint64_t)
#undef PROBLEM_SLOT

HISTO_INLINE int64_t problem_slot(const problem_finder *f, histo_dtype type, const char *at)
{
    if (type == HISTO_U64) return problem_slot_u64(f, problem_load_uint64_t(at));
    if (type == HISTO_I64) return problem_slot_i64(f, problem_load_int64_t(at));
    return problem_slot_f64(f, problem_value(type, at));
}

/* Element i of the view's shape in C order. */
HISTO_INLINE const char *problem_address(const histo_view *view, int64_t i)
{
    const char *at = (const char *)view->data;
    for (int d = view->ndim - 1; d >= 0; d--) {
        at += i % view->shape[d] * view->strides[d];
        i /= view->shape[d];
    }
    return at;
}

/* Addresses of samples from one on, which are in one row of the views. */
typedef struct problem_row {
    const char *samples[HISTO_MAX_AXES], *weights, *mask, *where;
} problem_row;

HISTO_INLINE problem_row problem_row_at(const problem_rule *rule, int64_t i)
{
    problem_row r = {{NULL}, NULL, NULL, NULL};
    for (int a = 0; a < rule->axes; a++)
        r.samples[a] = problem_address(&rule->view[a], i);
    if (rule->weighted) r.weights = problem_address(&rule->weights, i);
    if (rule->masked) r.mask = problem_address(&rule->mask, i);
    if (rule->filtered) r.where = problem_address(&rule->where, i);
    return r;
}

/* Does a mask or the filter leave out sample k of a row? The filter's bounds are at most 100, so rounding a 64-bit
 * integer does not matter. */
HISTO_INLINE bool problem_leaves_out(const problem_rule *rule, const problem_row *r, int64_t k)
{
    const int last = rule->view[0].ndim - 1;
    if (r->mask && problem_is_zero(rule->mask.dtype, r->mask + k * rule->mask.strides[last])) return true;
    if (!r->where) return false;
    double x = problem_value(rule->where.dtype, r->where + k * rule->where.strides[last]);
    return !(x >= rule->where_lo && x <= rule->where_hi);
}

/* The slot of sample k of a row in its histogram; -1: it is left out. */
HISTO_INLINE int64_t problem_slot_in_row(const problem_rule *rule, const problem_row *r, int64_t k)
{
    const int last = rule->view[0].ndim - 1;
    int64_t slot = 0;
    if (problem_leaves_out(rule, r, k)) return -1;
    for (int a = 0; a < rule->axes; a++) {
        const problem_finder *f = &rule->finder[a];
        const char *at = r->samples[a] + k * rule->view[a].strides[last];
        slot = slot * (f->bins + 3) + problem_slot(f, rule->view[a].dtype, at);
    }
    return slot;
}

/* The histogram that sample i counts in. */
HISTO_INLINE int64_t problem_batch_of(const problem_rule *rule, int64_t i)
{
    if (!rule->offsets) return rule->view[0].batch_ndim ? i / (rule->samples / rule->batch) : 0;
    int64_t first = 0, end = rule->batch; /* offsets[first] <= i < offsets[end] */
    while (end - first > 1) {
        int64_t middle = first + (end - first) / 2;
        if (rule->offsets[middle] <= i)
            first = middle;
        else
            end = middle;
    }
    return first;
}

/* The slot of sample i among those of all histograms; -1 - its histogram: it is left out. */
HISTO_INLINE int64_t problem_place_of(const problem_rule *rule, const problem_row *r, int64_t i)
{
    int64_t slot = problem_slot_in_row(rule, r, 0), batch = problem_batch_of(rule, i);
    return slot < 0 ? -1 - batch : batch * rule->slots + slot;
}

/* ---- What follows from the slot ---- */

typedef enum problem_flow { PROBLEM_IN_BIN = 0, PROBLEM_UNDER, PROBLEM_OVER, PROBLEM_NAN } problem_flow;

/* Where a slot lies on each axis; true if it is a bin on all of them. */
HISTO_INLINE bool problem_flows(const problem_rule *rule, int64_t slot, problem_flow flow[HISTO_MAX_AXES])
{
    bool bin = true;
    for (int a = rule->axes - 1; a >= 0; a--) {
        const int64_t bins = rule->finder[a].bins, at = slot % (bins + 3);
        slot /= bins + 3;
        flow[a] = at == 0          ? PROBLEM_UNDER
                  : at == bins + 1 ? PROBLEM_OVER
                  : at == bins + 2 ? PROBLEM_NAN
                                   : PROBLEM_IN_BIN;
        bin = bin && flow[a] == PROBLEM_IN_BIN;
    }
    return bin;
}

/* A number of 128 bits in two's complement, the lower half first. */
typedef struct problem_fixed {
    uint64_t low, high;
} problem_fixed;

/* x in units of 2^-bits, rounded towards zero; |x| is below 2^(127 - bits). */
HISTO_INLINE problem_fixed problem_fix(double x, int bits)
{
    int exponent;
    uint64_t digits = (uint64_t)(frexp(fabs(x), &exponent) * 0x1p53);
    int shift = exponent - 53 + bits;
    problem_fixed it = {0, 0};
    if (shift >= 64)
        it.high = digits << (shift - 64);
    else if (shift > 0) {
        it.low = digits << shift;
        it.high = digits >> (64 - shift);
    } else if (shift > -64)
        it.low = digits >> -shift;
    if (x < 0) {
        it.low = ~it.low + 1;
        it.high = ~it.high + (it.low == 0);
    }
    return it;
}

enum { PROBLEM_WEIGHT_BITS = 60, PROBLEM_SQUARE_BITS = 68 };

#endif
