/* What the reference counts: the histogram and the slot of each sample of views, which masks, filters and strides
 * decide. On host and device. */
#ifndef BENCH_REFERENCE_RULE_H
#define BENCH_REFERENCE_RULE_H

#include "bench/reference/slot.h"

typedef struct reference_rule {
    int axes;
    int64_t samples, batch, slots; /* of one histogram */
    histo_view view[HISTO_MAX_AXES], weights, mask, where;
    histo_weighting weighting;
    bool masked, filtered;
    double where_lo, where_hi;
    const int64_t *offsets; /* [batch + 1] of segments; NULL: others */
    reference_finder finder[HISTO_MAX_AXES];
} reference_rule;

/* Does a histogram with this weighting also sum the squares of its weights? */
HISTO_INLINE bool reference_sums_squares(histo_weighting weighting)
{
    return weighting == HISTO_WEIGHT_FAST || weighting == HISTO_WEIGHT_REPRODUCIBLE;
}

/* Element i of the view's shape in C order. */
HISTO_INLINE const char *reference_address(const histo_view *view, int64_t i)
{
    const char *at = (const char *)view->data;
    for (int d = view->ndim - 1; d >= 0; d--) {
        at += i % view->shape[d] * view->strides[d];
        i /= view->shape[d];
    }
    return at;
}

/* Addresses of samples from one on, which are in one row of the views. */
typedef struct reference_row {
    const char *samples[HISTO_MAX_AXES], *weights, *mask, *where;
} reference_row;

HISTO_INLINE reference_row reference_row_at(const reference_rule *rule, int64_t i)
{
    reference_row r = {{NULL}, NULL, NULL, NULL};
    for (int a = 0; a < rule->axes; a++)
        r.samples[a] = reference_address(&rule->view[a], i);
    if (rule->weighting) r.weights = reference_address(&rule->weights, i);
    if (rule->masked) r.mask = reference_address(&rule->mask, i);
    if (rule->filtered) r.where = reference_address(&rule->where, i);
    return r;
}

/* Does a mask or the filter leave out sample k of a row? The filter's bounds are at most 100, so rounding a 64-bit
 * integer does not matter. */
HISTO_INLINE bool reference_leaves_out(const reference_rule *rule, const reference_row *r, int64_t k)
{
    const int last = rule->view[0].ndim - 1;
    if (r->mask && reference_value(rule->mask.dtype, r->mask + k * rule->mask.strides[last]) == 0) return true;
    if (!r->where) return false;
    double x = reference_value(rule->where.dtype, r->where + k * rule->where.strides[last]);
    return !(x >= rule->where_lo && x <= rule->where_hi);
}

/* The slot of sample k of a row in its histogram; -1: it is left out. */
HISTO_INLINE int64_t reference_slot_in_row(const reference_rule *rule, const reference_row *r, int64_t k)
{
    const int last = rule->view[0].ndim - 1;
    int64_t slot = 0;
    if (reference_leaves_out(rule, r, k)) return -1;
    for (int a = 0; a < rule->axes; a++) {
        const reference_finder *f = &rule->finder[a];
        const char *at = r->samples[a] + k * rule->view[a].strides[last];
        slot = slot * (f->bins + 3) + reference_slot(f, rule->view[a].dtype, at);
    }
    return slot;
}

/* The histogram that sample i counts in. */
HISTO_INLINE int64_t reference_batch_of(const reference_rule *rule, int64_t i)
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
HISTO_INLINE int64_t reference_place_of(const reference_rule *rule, const reference_row *r, int64_t i)
{
    int64_t slot = reference_slot_in_row(rule, r, 0), batch = reference_batch_of(rule, i);
    return slot < 0 ? -1 - batch : batch * rule->slots + slot;
}

/* ---- What follows from the slot ---- */

typedef enum reference_flow { REFERENCE_IN_BIN = 0, REFERENCE_UNDER, REFERENCE_OVER, REFERENCE_NAN } reference_flow;

/* Where a slot lies on each axis; true if it is a bin on all of them. */
HISTO_INLINE bool reference_flows(const reference_rule *rule, int64_t slot, reference_flow flow[HISTO_MAX_AXES])
{
    bool bin = true;
    for (int a = rule->axes - 1; a >= 0; a--) {
        const int64_t bins = rule->finder[a].bins, at = slot % (bins + 3);
        slot /= bins + 3;
        flow[a] = at == 0          ? REFERENCE_UNDER
                  : at == bins + 1 ? REFERENCE_OVER
                  : at == bins + 2 ? REFERENCE_NAN
                                   : REFERENCE_IN_BIN;
        bin = bin && flow[a] == REFERENCE_IN_BIN;
    }
    return bin;
}

/* A number of 128 bits in two's complement, the lower half first. */
typedef struct reference_fixed {
    uint64_t low, high;
} reference_fixed;

/* x in units of 2^-bits, rounded towards zero; |x| is below 2^(127 - bits). */
HISTO_INLINE reference_fixed reference_fix(double x, int bits)
{
    int exponent;
    uint64_t digits = (uint64_t)(frexp(fabs(x), &exponent) * 0x1p53);
    int shift = exponent - 53 + bits;
    reference_fixed fixed = {0, 0};
    if (shift >= 64)
        fixed.high = digits << (shift - 64);
    else if (shift > 0) {
        fixed.low = digits << shift;
        fixed.high = digits >> (64 - shift);
    } else if (shift > -64)
        fixed.low = digits >> -shift;
    if (x < 0) {
        fixed.low = ~fixed.low + 1;
        fixed.high = ~fixed.high + (fixed.low == 0);
    }
    return fixed;
}

enum { REFERENCE_WEIGHT_BITS = 60, REFERENCE_SQUARE_BITS = 68 };

#endif
