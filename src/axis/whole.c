#include "axis/whole.h"

#include <inttypes.h>
#include <math.h>

static bool is_signed(const histo_axis *axis)
{
    return axis->edge_type == HISTO_EDGES_I64;
}

uint64_t histo_whole_bits(const histo_axis *axis, int64_t i)
{
    return ((const uint64_t *)axis->edges)[i];
}

bool histo_whole_is_negative(const histo_axis *axis, int64_t i)
{
    return is_signed(axis) && (int64_t)histo_whole_bits(axis, i) < 0;
}

static uint64_t key_of(const histo_axis *axis, int64_t i)
{
    const uint64_t bits = histo_whole_bits(axis, i);
    return is_signed(axis) ? histo_key_i64((int64_t)bits) : bits;
}

histo_status histo_whole_check(const histo_axis *axis)
{
    for (int64_t i = 1; i <= axis->bins; i++) {
        if (key_of(axis, i) >= key_of(axis, i - 1)) continue;
        const uint64_t edge = histo_whole_bits(axis, i), before = histo_whole_bits(axis, i - 1);
        if (is_signed(axis))
            return histo_fail(HISTO_INVALID, "edges must not decrease: edge %lld is %" PRId64 " after %" PRId64,
                              (long long)i, (int64_t)edge, (int64_t)before);
        return histo_fail(HISTO_INVALID, "edges must not decrease: edge %lld is %" PRIu64 " after %" PRIu64,
                          (long long)i, edge, before);
    }
    return HISTO_OK;
}

double histo_whole_edge(const histo_axis *axis, int64_t i)
{
    const uint64_t bits = histo_whole_bits(axis, i);
    const double nearest = is_signed(axis) ? (double)(int64_t)bits : (double)bits;
    const bool above = is_signed(axis) ? histo_above_i64((int64_t)bits, nearest) : histo_above_u64(bits, nearest);
    return above ? nextafter(nearest, INFINITY) : nearest;
}

bool histo_whole_is_double(const histo_axis *axis, int64_t i)
{
    const double up = histo_whole_edge(axis, i);
    const uint64_t bits = histo_whole_bits(axis, i);
    return is_signed(axis) ? !histo_less_i64((int64_t)bits, up) : !histo_less_u64(bits, up);
}

bool histo_whole_are_doubles(const histo_axis *axis)
{
    bool all = true;
    for (int64_t i = 0; i <= axis->bins && all; i++)
        all = histo_whole_is_double(axis, i);
    return all;
}

int64_t histo_whole_thresholds(const histo_axis *axis, bool of_i64, uint64_t *at)
{
    int64_t n = 0;
    for (int64_t i = 0; i <= axis->bins; i++) {
        const bool negative = histo_whole_is_negative(axis, i),
                   beyond = of_i64 && !negative && histo_whole_bits(axis, i) > INT64_MAX;
        const uint64_t bits = histo_whole_bits(axis, i), key = of_i64     ? histo_key_i64((int64_t)bits)
                                                               : negative ? 0
                                                                          : bits;
        const bool takes_edge = i == axis->bins && axis->closed && (of_i64 || !negative);
        if (beyond || (takes_edge && key == UINT64_MAX)) break;
        at[n++] = key + takes_edge;
    }
    return n;
}

bool histo_whole_equal(const histo_axis *a, const histo_axis *b)
{
    bool equal = a->bins == b->bins;
    for (int64_t i = 0; i <= a->bins && equal; i++)
        equal = histo_whole_is_negative(a, i) == histo_whole_is_negative(b, i) &&
                histo_whole_bits(a, i) == histo_whole_bits(b, i);
    return equal;
}

histo_axis histo_whole_pick(const histo_axis *axis, int64_t begin, int64_t factor, int64_t n, uint64_t *whole)
{
    for (int64_t i = 0; i < n; i++)
        whole[i] = histo_whole_bits(axis, begin + i * factor);
    return is_signed(axis) ? histo_axis_variable_i64(n - 1, (const int64_t *)whole)
                           : histo_axis_variable_u64(n - 1, whole);
}
