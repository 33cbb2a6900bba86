#include "cpu/samples/bounds.h"

#include <math.h>
#include <string.h>

#include "view/dtype.h"

/* From the smallest integer not below lo to the largest not above hi. */
static histo_bounds of_integers(histo_dtype dtype, double lo, double hi)
{
    double min, end;
    histo_dtype_limits(dtype, &min, &end);
    const bool is_signed = min < 0, none = ceil(lo) >= end || hi < min || ceil(lo) > floor(hi);
    const uint64_t ones = UINT64_MAX >> (64 - 8 * histo_dtype_size(dtype));
    const uint64_t least = is_signed ? ones ^ ones >> 1 : 0, most = is_signed ? ones >> 1 : ones;
    if (none) return (histo_bounds){most, least};
    const double from = ceil(lo), to = floor(hi);
    histo_bounds bounds = {least, most};
    if (from > min) bounds.low = is_signed ? (uint64_t)(int64_t)from & ones : (uint64_t)from;
    if (to < end) bounds.high = is_signed ? (uint64_t)(int64_t)to & ones : (uint64_t)to;
    return bounds;
}

static histo_bounds of_floats(double lo, double hi)
{
    float low = (float)lo, high = (float)hi;
    if ((double)low < lo) low = nextafterf(low, INFINITY);
    if ((double)high > hi) high = nextafterf(high, -INFINITY);
    uint32_t bits[2];
    memcpy(&bits[0], &low, sizeof low);
    memcpy(&bits[1], &high, sizeof high);
    return (histo_bounds){bits[0], bits[1]};
}

/* Bisect the ordered bit patterns between the infinities. */
static histo_bounds of_halves(histo_dtype dtype, double lo, double hi)
{
    const uint16_t infinity = dtype == HISTO_F16 ? 0x7c00 : 0x7f80;
    const int first = histo_ordered(infinity | 0x8000), end = histo_ordered(infinity) + 1;
    uint16_t bounds[2];
    for (int above = 0; above < 2; above++) { /* the first value not below lo, the first above hi */
        int from = first, to = end;
        while (from < to) {
            const int middle = from + (to - from) / 2;
            const uint16_t bits = (uint16_t)histo_ordered((uint16_t)middle);
            const double x = histo_sample_value(&bits, dtype);
            const bool before = above ? x <= hi : x < lo;
            from = before ? middle + 1 : from;
            to = before ? to : middle;
        }
        bounds[above] = (uint16_t)(from - above);
    }
    return (histo_bounds){bounds[0], bounds[1]};
}

histo_bounds histo_bounds_of(histo_dtype dtype, double lo, double hi)
{
    if (histo_dtype_is_integer(dtype)) return of_integers(dtype, lo, hi);
    if (histo_dtype_size(dtype) == 2) return of_halves(dtype, lo, hi);
    if (dtype == HISTO_F32) return of_floats(lo, hi);
    histo_bounds bounds;
    memcpy(&bounds.low, &lo, sizeof lo);
    memcpy(&bounds.high, &hi, sizeof hi);
    return bounds;
}
