/* Samples -> slots on axes with stored edges, by search or by table. Included by slots.c only. */
#ifndef CPU_SEARCH_H
#define CPU_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "axis/whole.h"
#include "cpu/kernels/slots/fixed.h"

/* Store the slot on the first or only axis, or (accumulate) add that on a further axis. */
static inline void put(uint32_t *out, uint32_t slot, uint32_t stride, bool accumulate)
{
    *out = (accumulate ? *out : 0) + stride * slot;
}

/* The loop `put(&out[i], SLOT, …)`, specialised for stride 1, which needs no multiplication. */
#define PUT_ALL(SLOT)                                                                                                  \
    do {                                                                                                               \
        if (stride == 1 && !accumulate)                                                                                \
            for (int i = 0; i < n; i++)                                                                                \
                put(&out[i], SLOT, 1, false);                                                                          \
        else                                                                                                           \
            for (int i = 0; i < n; i++)                                                                                \
                put(&out[i], SLOT, stride, accumulate);                                                                \
    } while (0)

static inline double clamped(double x, const histo_spans *c)
{
    double y = x > c->lo ? x : c->lo; /* also for NaN */
    return y < c->hi ? y : c->hi;
}

/* The span of a sample, for spans of equal width. */
static inline int32_t wide_span(double x, const histo_spans *c)
{
    return (int32_t)((clamped(x, c) - c->lo) * c->per_span);
}

/* The span of a sample, for spans with equally many bit patterns. */
static inline int32_t bits_span(double x, const histo_spans *c)
{
    double y = clamped(x, c);
    return (int32_t)((histo_bits_of(y) - c->first_bits) >> c->shift);
}

/* Binary search among the `most` edges from the first of the sample's span on. Each step is a loop over all samples,
 * which vectorises. */
static void search_spans(const histo_spans *spans, const double *restrict samples, int n, uint32_t stride,
                         bool accumulate, uint32_t *restrict out)
{
    const histo_spans c = *spans;
    int32_t slots[HISTO_BLOCK];
    if (c.by_bits)
        for (int i = 0; i < n; i++)
            slots[i] = c.first[bits_span(samples[i], &c)];
    else
        for (int i = 0; i < n; i++)
            slots[i] = c.first[wide_span(samples[i], &c)];
    for (int32_t left = c.most; left > 0;) {
        const int32_t half = (left + 1) / 2;
        const double *edges = c.edges + half - 1;
        for (int i = 0; i < n; i++)
            slots[i] += samples[i] >= edges[slots[i]] ? half : 0;
        left -= half;
    }
    PUT_ALL(samples[i] != samples[i] ? c.nan : (uint32_t)slots[i]);
}

/* Binary search among thresholds of integers, as search_spans does among edges. */
static void search_keys(const histo_spans *spans, const uint64_t *restrict keys, int n, uint32_t stride,
                        bool accumulate, uint32_t *restrict out)
{
    const histo_spans c = *spans;
    uint32_t slots[HISTO_BLOCK];
    for (int i = 0; i < n; i++) {
        uint64_t key = keys[i] > c.first_bits ? keys[i] : c.first_bits;
        key = key < c.last_key ? key : c.last_key;
        slots[i] = (uint32_t)c.first[(key - c.first_bits) >> c.shift];
    }
    for (int32_t left = c.most; left > 0;) {
        const int32_t half = (left + 1) / 2;
        const uint64_t *at = c.keys + half - 1;
        for (int i = 0; i < n; i++)
            slots[i] += keys[i] >= at[slots[i]] ? (uint32_t)half : 0;
        left -= half;
    }
    PUT_ALL(slots[i] < c.nan ? slots[i] : c.nan); /* the largest key also reaches the padding after the thresholds */
}

/* The length, in groups, of the prefix that has at most two distinct values. For nearly all other data, four samples
 * spread over the block and one branch decide. NaN equals nothing. */
static int count_pair(const double *samples, int n, double pair[2])
{
    enum { GROUP = 64 };
    if (n < GROUP) return 0;
    const double a = samples[0], x = samples[n / 4], y = samples[n / 2 + 1], z = samples[n - 1];
    double b = x != a ? x : y;
    if (!((y == a) | (y == b)) | !((z == a) | (z == b) | (a == b))) return 0;
    b = b != a ? b : z;
    int same = 0;
    while (same + GROUP <= n) {
        const double *group = samples + same;
        uint64_t others = 0;
        for (int i = 0; i < GROUP; i++)
            others |= (uint64_t)(group[i] != a) & (uint64_t)(group[i] != b);
        if (others && b != a) break;
        if (!others) same += GROUP;
        while (others && b == a) /* the second value is rare */
            b = *group++;
    }
    pair[0] = a;
    pair[1] = b;
    return same;
}

/* The slots of samples with only two values, from the slots of these. */
static void put_pair(const double *restrict samples, int n, const double pair[2], const uint32_t slots[2],
                     uint32_t stride, bool accumulate, uint32_t *restrict out)
{
    const double a = pair[0];
    const uint64_t of_a = slots[0], of_b = slots[1]; /* as wide as the samples, else the loop does not vectorise */
    PUT_ALL((uint32_t)(samples[i] == a ? of_a : of_b));
}

static void slots_by_spans(const histo_spans *spans, const double *samples, int n, uint32_t stride, bool accumulate,
                           uint32_t *out)
{
    double pair[2];
    const int same = count_pair(samples, n, pair);
    if (same) {
        uint32_t slots[2];
        search_spans(spans, pair, 2, 1, false, slots);
        put_pair(samples, same, pair, slots, stride, accumulate, out);
    }
    if (same < n) search_spans(spans, samples + same, n - same, stride, accumulate, out + same);
}

static void slots_by_keys(const histo_spans *spans, histo_dtype dtype, const void *samples, int n, uint32_t stride,
                          bool accumulate, uint32_t *out)
{
    uint64_t keys[HISTO_BLOCK];
    const int64_t *integers = samples;
    if (dtype == HISTO_I64)
        for (int i = 0; i < n; i++)
            keys[i] = histo_key_i64(integers[i]);
    search_keys(spans, dtype == HISTO_I64 ? keys : samples, n, stride, accumulate, out);
}

static void slots_by_table(const uint32_t *table, size_t size, const void *samples, int n, uint32_t stride,
                           bool accumulate, uint32_t *out)
{
    if (size == 1)
        PUT_ALL(table[((const uint8_t *)samples)[i]]);
    else
        PUT_ALL(table[((const uint16_t *)samples)[i]]);
}

#endif
