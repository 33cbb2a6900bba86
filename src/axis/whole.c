#include "axis/whole.h"

#include <inttypes.h>
#include <math.h>

static bool is_negative(const histo_axis *axis, int64_t i)
{
    return axis->edges_i64 && axis->edges_i64[i] < 0;
}

/* The bits of an edge of either type. */
static uint64_t bits_of(const histo_axis *axis, int64_t i)
{
    return axis->edges_i64 ? (uint64_t)axis->edges_i64[i] : axis->edges_u64[i];
}

static uint64_t key_of(const histo_axis *axis, int64_t i)
{
    return axis->edges_i64 ? histo_key_i64(axis->edges_i64[i]) : axis->edges_u64[i];
}

histo_status histo_whole_check(const histo_axis *axis)
{
    for (int64_t i = 1; i <= axis->bins; i++) {
        if (key_of(axis, i) >= key_of(axis, i - 1)) continue;
        if (axis->edges_i64)
            return histo_fail(HISTO_INVALID, "edges must not decrease: edge %lld is %" PRId64 " after %" PRId64,
                              (long long)i, axis->edges_i64[i], axis->edges_i64[i - 1]);
        return histo_fail(HISTO_INVALID, "edges must not decrease: edge %lld is %" PRIu64 " after %" PRIu64,
                          (long long)i, axis->edges_u64[i], axis->edges_u64[i - 1]);
    }
    return HISTO_OK;
}

double histo_whole_edge(const histo_axis *axis, int64_t i)
{
    const double nearest = axis->edges_i64 ? (double)axis->edges_i64[i] : (double)axis->edges_u64[i];
    const bool above =
        axis->edges_i64 ? histo_above_i64(axis->edges_i64[i], nearest) : histo_above_u64(axis->edges_u64[i], nearest);
    return above ? nextafter(nearest, INFINITY) : nearest;
}

bool histo_whole_is_double(const histo_axis *axis, int64_t i)
{
    const double up = histo_whole_edge(axis, i);
    return axis->edges_i64 ? !histo_less_i64(axis->edges_i64[i], up) : !histo_less_u64(axis->edges_u64[i], up);
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
        const bool negative = is_negative(axis, i), beyond = of_i64 && !negative && bits_of(axis, i) > INT64_MAX;
        const uint64_t bits = bits_of(axis, i), key = of_i64 ? histo_key_i64((int64_t)bits) : negative ? 0 : bits;
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
        equal = is_negative(a, i) == is_negative(b, i) && bits_of(a, i) == bits_of(b, i);
    return equal;
}

histo_axis histo_whole_pick(const histo_axis *axis, int64_t begin, int64_t factor, int64_t n, uint64_t *whole)
{
    for (int64_t i = 0; i < n; i++)
        whole[i] = bits_of(axis, begin + i * factor);
    return axis->edges_i64 ? histo_axis_variable_i64(n - 1, (const int64_t *)whole)
                           : histo_axis_variable_u64(n - 1, whole);
}
