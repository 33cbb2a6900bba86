/* Axis descriptions, their checks and their edges. */
#include "axis/axis.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "axis/whole.h"
#include "base/bits.h"
#include "base/floats.h"
#include "base/memory.h"
#include "view/half.h"

/* Doubles represent every integer up to this magnitude exactly. */
static const int64_t most_whole = INT64_C(1) << 53;

histo_axis histo_axis_integer(int64_t lo, int64_t bins)
{
    /* A larger integer may not be a double: NaN makes the check refuse it. */
    if (lo < -most_whole || lo > most_whole)
        return (histo_axis){.kind = HISTO_INTEGER, .bins = bins, .lo = NAN, .hi = NAN};
    return (histo_axis){.kind = HISTO_INTEGER, .bins = bins, .lo = (double)lo, .hi = (double)lo + (double)bins};
}

histo_axis histo_axis_regular(int64_t bins, double lo, double hi)
{
    return (histo_axis){.kind = HISTO_REGULAR, .bins = bins, .lo = lo, .hi = hi};
}

histo_axis histo_axis_variable(int64_t bins, const double *edges)
{
    histo_axis axis = {.kind = HISTO_VARIABLE, .bins = bins, .edges = edges};
    if (edges && bins > 0) {
        axis.lo = edges[0];
        axis.hi = edges[bins];
    }
    return axis;
}

histo_axis histo_axis_variable_i64(int64_t bins, const int64_t *edges)
{
    return (histo_axis){.kind = HISTO_VARIABLE, .bins = bins, .edge_type = HISTO_EDGES_I64, .edges = edges};
}

histo_axis histo_axis_variable_u64(int64_t bins, const uint64_t *edges)
{
    return (histo_axis){.kind = HISTO_VARIABLE, .bins = bins, .edge_type = HISTO_EDGES_U64, .edges = edges};
}

histo_axis histo_axis_log(int64_t bins, double lo, double hi)
{
    return (histo_axis){.kind = HISTO_LOG, .bins = bins, .lo = lo, .hi = hi};
}

histo_axis histo_axis_sqrt(int64_t bins, double lo, double hi)
{
    return (histo_axis){.kind = HISTO_SQRT, .bins = bins, .lo = lo, .hi = hi, .power = 0.5};
}

histo_axis histo_axis_power(int64_t bins, double lo, double hi, double power)
{
    return (histo_axis){.kind = HISTO_POWER, .bins = bins, .lo = lo, .hi = hi, .power = power};
}

histo_axis histo_axis_closed(histo_axis axis)
{
    axis.closed = true;
    return axis;
}

double histo_axis_step(const histo_axis *axis)
{
    return (axis->hi - axis->lo) / (double)axis->bins;
}

static double transform(const histo_axis *axis, double x)
{
    switch (axis->kind) {
    case HISTO_LOG:
        return log10(x); /* log10 makes powers of ten exact edges where possible */
    case HISTO_SQRT:
        return sqrt(x);
    case HISTO_POWER:
        return pow(x, axis->power);
    default:
        return x;
    }
}

static double inverse(const histo_axis *axis, double t)
{
    switch (axis->kind) {
    case HISTO_LOG:
        return pow(10, t);
    case HISTO_SQRT:
        return t * t;
    case HISTO_POWER:
        return pow(t, 1 / axis->power);
    default:
        return t;
    }
}

/* Equal steps on the transformed scale: t holds both ends and the step there. */
typedef struct axis_scale {
    double first, step;
} axis_scale;

static axis_scale scale_of(const histo_axis *axis)
{
    double first = transform(axis, axis->lo);
    return (axis_scale){first, (transform(axis, axis->hi) - first) / (double)axis->bins};
}

static double formula_edge(const histo_axis *axis, axis_scale s, int64_t i)
{
    if (i == 0) return axis->lo;
    if (i == axis->bins) return axis->hi;
    return inverse(axis, s.first + (double)i * s.step);
}

bool histo_axis_is_uniform(const histo_axis *axis)
{
    if (axis->kind == HISTO_INTEGER) return true;
    if (axis->kind != HISTO_REGULAR) return false;
    /* Rounding moves an edge by at most 5 and the guess by at most 3 units of 2^-53 * magnitude, so with bins this wide
     * the guess is at most one off; the two outer bounds keep step and 1/step normal. */
    double magnitude = fmax(fabs(axis->lo), fabs(axis->hi));
    double step = histo_axis_step(axis);
    return step >= magnitude * 0x1p-48 && step >= 0x1p-1000 && step <= 0x1p1000;
}

/* The edges of an owned axis. */
typedef struct stored_edges {
    int64_t owners;
    bool ordinary;
    double off;
    histo_edge_keys of_i64, of_u64; /* thresholds of integer edges that doubles cannot represent */
    double edges[];                 /* rounded up, followed by the integer edges and the thresholds */
} stored_edges;

static stored_edges *stored(const histo_axis *owned)
{
    return (stored_edges *)((const char *)histo_axis_doubles(owned) - offsetof(stored_edges, edges));
}

/* The edges given with the description, or NULL: integer and regular axes only have those of their formula. */
static const double *given_edges(const histo_axis *axis)
{
    return axis->kind >= HISTO_VARIABLE && !histo_axis_is_whole(axis) ? (const double *)axis->edges : NULL;
}

/* Whether a formula gives the edges. */
static bool is_computed(const histo_axis *axis)
{
    return axis->kind != HISTO_VARIABLE && !given_edges(axis);
}

/* Whether the edges increase. Written for vectors, since compilers do not vectorise comparisons, which may trap. */
static bool all_increase(const double *edges, int64_t bins)
{
    typedef double pair __attribute__((vector_size(16)));
    typedef int64_t signs __attribute__((vector_size(16)));
    signs all = {-1, -1};
    int64_t i = 0;
    for (; i + 2 <= bins; i += 2) {
        pair here, next;
        memcpy(&here, edges + i, sizeof here);
        memcpy(&next, edges + i + 1, sizeof next);
        all &= next > here;
    }
    return all[0] && all[1] && (i == bins || edges[i + 1] > edges[i]);
}

/* edges: stored ones, or NULL for those of the formula. Only edges of variable axes may be equal. */
static histo_status check_increasing(const histo_axis *axis, const double *edges)
{
    if (edges && all_increase(edges, axis->bins)) return HISTO_OK;
    const bool may_equal = axis->kind == HISTO_VARIABLE;
    axis_scale s = scale_of(axis);
    double before = axis->lo;
    for (int64_t i = 1; i <= axis->bins; i++) {
        double edge = edges ? edges[i] : formula_edge(axis, s, i);
        if (!(edge > before) && !(may_equal && edge == before)) {
            if (given_edges(axis) && isnan(edge))
                return histo_fail(HISTO_INVALID, "edge %lld is not a number", (long long)i);
            if (given_edges(axis))
                return histo_fail(HISTO_INVALID, "edges must %s: edge %lld is %.17g after %.17g",
                                  may_equal ? "not decrease" : "increase", (long long)i, edge, before);
            return histo_fail(HISTO_INVALID,
                              "%lld bins are too many for the range [%.17g, %.17g], as bin %lld would have no width: "
                              "give fewer bins or a wider range",
                              (long long)axis->bins, axis->lo, axis->hi, (long long)i - 1);
        }
        before = edge;
    }
    return HISTO_OK;
}

/* Up to this many edges are computed to check that they increase, which takes a tenth of a second. */
static const int64_t most_compared = INT64_C(1) << 22;

/* Whether edges of the formula increase by more than rounding moves them, as they do for all but extremely narrow bins.
 * On the scale, edges move by 3 * 2^-53 of the farther end. On the way back, pow is at most two ulp off, the rounded
 * exponent counts for as much as the logarithm of the edge, at most 745, and log edges move by their exponents. */
static bool surely_increases(const histo_axis *axis)
{
    const axis_scale s = scale_of(axis);
    const double step = fabs(s.step), farthest = fmax(fabs(s.first), fabs(s.first + (double)axis->bins * s.step));
    double share = 0x1p-46; /* minimum step, as a fraction of the farther end */
    if (axis->kind == HISTO_REGULAR) share = 0x1p-50;
    if (axis->kind == HISTO_POWER || axis->kind == HISTO_SQRT) share += fabs(axis->power) * 0x1p-41;
    const double end = axis->kind == HISTO_LOG ? fmax(farthest, 1) : farthest;
    const bool normal = axis->kind == HISTO_REGULAR || fmax(axis->lo, formula_edge(axis, s, 1)) >= 0x1p-1000;
    return normal && step >= 0x1p-1000 && step >= share * end;
}

static histo_status check_integer(const histo_axis *axis)
{
    if (isnan(axis->lo))
        return histo_fail(HISTO_INVALID, "the lo of an integer axis is not in -2^53 to 2^53, where doubles are exact");
    if (axis->lo != floor(axis->lo) || fabs(axis->lo) > (double)most_whole)
        return histo_fail(HISTO_INVALID, "the lo of an integer axis is a whole number from -2^53 to 2^53, not %.17g",
                          axis->lo);
    const int64_t hi = (int64_t)axis->lo + axis->bins;
    if (hi > most_whole)
        return histo_fail(HISTO_INVALID, "the hi of an integer axis, lo + bins, is at most 2^53, not %lld",
                          (long long)hi);
    if (axis->hi != (double)hi)
        return histo_fail(HISTO_INVALID, "an integer axis has bins of width 1: hi must be lo + bins, not %.17g",
                          axis->hi);
    return HISTO_OK;
}

static histo_status check_kind(const histo_axis *axis)
{
    switch (axis->kind) {
    case HISTO_INTEGER:
    case HISTO_REGULAR:
        return HISTO_OK;
    case HISTO_VARIABLE:
        if (!axis->edges) return histo_fail(HISTO_INVALID, "a variable axis needs its edges");
        return HISTO_OK;
    case HISTO_LOG:
        if (axis->lo <= 0) return histo_fail(HISTO_INVALID, "a log axis needs lo > 0, not %.17g", axis->lo);
        return HISTO_OK;
    case HISTO_SQRT:
        if (axis->lo < 0) return histo_fail(HISTO_INVALID, "a square root axis needs lo >= 0, not %.17g", axis->lo);
        return HISTO_OK;
    case HISTO_POWER:
        if (!isfinite(axis->power) || axis->power == 0)
            return histo_fail(HISTO_INVALID, "a power axis needs a finite power that is not 0");
        if (axis->lo < 0 || (axis->lo == 0 && axis->power < 0))
            return histo_fail(HISTO_INVALID, "a power axis needs lo >= 0 (lo > 0 for a negative power), not %.17g",
                              axis->lo);
        return HISTO_OK;
    }
    return histo_fail(HISTO_INVALID, "unknown kind of axis %d", (int)axis->kind);
}

static histo_status check_range(const histo_axis *axis)
{
    if (!isfinite(axis->lo) || !isfinite(axis->hi))
        return histo_fail(HISTO_INVALID, "the range [%.17g, %.17g] is not finite: give two finite ends", axis->lo,
                          axis->hi);
    if (!isfinite(axis->hi - axis->lo))
        return histo_fail(HISTO_INVALID,
                          "the range [%.17g, %.17g] is wider than a double can hold: give a narrower one", axis->lo,
                          axis->hi);
    return HISTO_OK;
}

histo_status histo_axis_check_description(const histo_axis *axis)
{
    if (!axis) return histo_fail(HISTO_INVALID, "the axis is NULL");
    if (axis->bins < 1)
        return histo_fail(HISTO_INVALID, "an axis needs at least one bin, not %lld", (long long)axis->bins);
    if (axis->bins > HISTO_MAX_BINS)
        return histo_fail(HISTO_INVALID, "%lld bins are more than the %lld that a histogram can have",
                          (long long)axis->bins, (long long)HISTO_MAX_BINS);
    histo_status status = histo_check_reserved(axis->reserved, sizeof axis->reserved, "histo_axis");
    if (status != HISTO_OK) return status;
    /* A shortcut for the commonest axis, since calls with few samples make it. */
    if (axis->kind == HISTO_REGULAR && axis->edge_type == HISTO_EDGES_F64 && axis->bins <= most_compared &&
        axis->lo < axis->hi && isfinite(axis->hi - axis->lo))
        return HISTO_OK;
    if (axis->edge_type > HISTO_EDGES_U64)
        return histo_fail(HISTO_INVALID, "unknown type of edges %u", (unsigned)axis->edge_type);
    if (axis->edge_type != HISTO_EDGES_F64 && axis->kind != HISTO_VARIABLE)
        return histo_fail(HISTO_INVALID, "integer edges are for a variable axis, not for kind %d", (int)axis->kind);
    if (axis->kind == HISTO_INTEGER) return check_integer(axis);
    if (axis->kind != HISTO_VARIABLE) status = check_range(axis);
    if (status == HISTO_OK) status = check_kind(axis);
    if (status != HISTO_OK) return status;
    const double *edges = given_edges(axis);
    if (edges && isnan(edges[0])) return histo_fail(HISTO_INVALID, "edge 0 is not a number");
    if (edges && isnan(edges[axis->bins]))
        return histo_fail(HISTO_INVALID, "edge %lld is not a number", (long long)axis->bins);
    if (edges && (edges[0] != axis->lo || edges[axis->bins] != axis->hi))
        return histo_fail(HISTO_INVALID, "lo and hi of an axis with edges must be its first and last edge");
    if (axis->kind != HISTO_VARIABLE && !(axis->lo < axis->hi))
        return histo_fail(HISTO_INVALID, "the range [%.17g, %.17g] is empty: lo must be less than hi", axis->lo,
                          axis->hi);
    if (axis->bins > most_compared && is_computed(axis) && !surely_increases(axis))
        return histo_fail(HISTO_INVALID,
                          "%lld bins are too many for the range [%.17g, %.17g], as rounding may leave some no width: "
                          "give fewer bins or a wider range",
                          (long long)axis->bins, axis->lo, axis->hi);
    return HISTO_OK;
}

histo_status histo_axis_check(const histo_axis *axis)
{
    HISTO_STANDARD_FLOATS;
    histo_status status = histo_axis_check_description(axis);
    if (status != HISTO_OK || histo_axis_is_uniform(axis)) return status;
    if (axis->bins > most_compared && is_computed(axis)) return HISTO_OK;
    return histo_axis_is_whole(axis) ? histo_whole_check(axis) : check_increasing(axis, given_edges(axis));
}

static void write_edges(const histo_axis *axis, double *edges)
{
    const double *given = given_edges(axis);
    if (given) {
        memcpy(edges, given, (size_t)(axis->bins + 1) * sizeof *edges);
        return;
    }
    axis_scale s = scale_of(axis);
    for (int64_t i = 0; i <= axis->bins; i++)
        edges[i] = histo_axis_is_whole(axis) ? histo_whole_edge(axis, i) : formula_edge(axis, s, i);
}

histo_status histo_axis_edges(const histo_axis *axis, double *edges)
{
    HISTO_STANDARD_FLOATS;
    histo_status status = histo_axis_check(axis);
    if (status != HISTO_OK) return status;
    if (!edges) return histo_fail(HISTO_INVALID, "the array for the edges is NULL");
    write_edges(axis, edges);
    return HISTO_OK;
}

enum { LANES = 8, TOGETHER = 256, SUMMED = 4 };

/* By how much, at most, n <= TOGETHER edges miss lo + i * step = lo + steps[i], apart from rounding; or SUMMED times as
 * much, since that many are added up, which is faster in vectors than comparing them. NaN if an edge is NaN. */
static double misses(const double *edges, int64_t n, double lo, const double *steps)
{
    double miss[TOGETHER / SUMMED + 1] = {0}, farthest = 0, all = 0;
    int64_t sums = n / SUMMED, i = sums * SUMMED;
    for (int64_t k = 0; k < sums; k++)
        miss[k] = fabs((edges[k] - lo) - steps[k]) + fabs((edges[k + sums] - lo) - steps[k + sums]) +
                  fabs((edges[k + 2 * sums] - lo) - steps[k + 2 * sums]) +
                  fabs((edges[k + 3 * sums] - lo) - steps[k + 3 * sums]);
    for (; i < n; i++)
        miss[sums] += fabs((edges[i] - lo) - steps[i]);
    for (int64_t k = 0; k <= sums; k++) {
        farthest = miss[k] > farthest ? miss[k] : farthest;
        all += miss[k];
    }
    return all - all == 0 ? farthest : NAN;
}

/* Whether all edges but the last are exactly lo + i * step. */
static bool follow_formula(const histo_axis *axis, const double *edges)
{
    const double lo = axis->lo, step = histo_axis_step(axis);
    uint64_t differ[LANES] = {0}, all = 0;
    double at[LANES];
    for (int k = 0; k < LANES; k++)
        at[k] = k;
    int64_t i = 0;
    while (i + LANES <= axis->bins && !all) {
        for (int64_t end = i + TOGETHER; i < end && i + LANES <= axis->bins; i += LANES)
            for (int k = 0; k < LANES; k++) {
                differ[k] |= histo_bits_of(edges[i + k]) ^ histo_bits_of(lo + at[k] * step);
                at[k] += LANES;
            }
        for (int k = 0; k < LANES; k++)
            all |= differ[k];
    }
    for (; i < axis->bins && !all; i++)
        all = histo_bits_of(edges[i]) ^ histo_bits_of(lo + (double)i * step);
    return !all;
}

/* See histo_axis_off. */
static double measure_off(const histo_axis *axis, const double *edges)
{
    const histo_axis regular = histo_axis_regular(axis->bins, axis->lo, axis->hi);
    if (!histo_axis_is_uniform(&regular)) return HISTO_FAR_OFF;
    const double lo = axis->lo, step = histo_axis_step(axis), middle = lo + (double)(axis->bins / 2) * step;
    if (!(fabs(edges[axis->bins / 2] - middle) <= HISTO_NEAR * step)) return HISTO_FAR_OFF;
    if ((axis->bins == 1 || edges[1] == lo + step) && follow_formula(axis, edges)) return 0;
    double steps[TOGETHER], off = 0;
    for (int k = 0; k < TOGETHER && k < axis->bins; k++)
        steps[k] = k * step;
    for (int64_t i = 0; i < axis->bins; i += TOGETHER) {
        const int64_t n = axis->bins - i < TOGETHER ? axis->bins - i : TOGETHER;
        const double miss = misses(edges + i, n, lo + (double)i * step, steps);
        if (!(miss <= HISTO_NEAR * step)) return HISTO_FAR_OFF;
        off = fmax(off, miss);
    }
    off = (off + fmax(fabs(lo), fabs(axis->hi)) * 0x1p-50) / step; /* plus rounding errors */
    return off <= HISTO_NEAR ? off : HISTO_FAR_OFF;
}

bool histo_axis_is_ordinary(const histo_axis *owned)
{
    return !owned->edges || stored(owned)->ordinary;
}

histo_status histo_axis_check_finite(const histo_axis *axis, const char *what)
{
    if (isfinite(axis->lo) && isfinite(axis->hi)) return HISTO_OK;
    return histo_fail(HISTO_INVALID, "%s: bins with an infinite edge have no middle: leave them out by a slice", what);
}

double histo_axis_off(const histo_axis *owned)
{
    return stored(owned)->off;
}

/* Store integer edges after the doubles. */
static void keep_whole(const histo_axis *axis, stored_edges *it, histo_axis *owned)
{
    const int64_t n = axis->bins + 1;
    uint64_t *whole = (uint64_t *)(void *)(it->edges + n), *of_i64 = whole + n, *of_u64 = of_i64 + n;
    it->ordinary = false;
    it->off = HISTO_FAR_OFF;
    const histo_axis kept = histo_whole_pick(axis, 0, 1, n, whole);
    owned->edges = kept.edges;
    owned->edge_type = kept.edge_type;
    it->of_i64 = (histo_edge_keys){of_i64, histo_whole_thresholds(axis, true, of_i64)};
    it->of_u64 = (histo_edge_keys){of_u64, histo_whole_thresholds(axis, false, of_u64)};
}

const histo_edge_keys *histo_axis_thresholds(const histo_axis *owned, histo_dtype dtype)
{
    if (!histo_axis_is_whole(owned)) return NULL;
    return dtype == HISTO_I64 ? &stored(owned)->of_i64 : dtype == HISTO_U64 ? &stored(owned)->of_u64 : NULL;
}

histo_status histo_axis_own(const histo_axis *axis, histo_axis *owned)
{
    const bool is_whole = histo_axis_is_whole(axis);
    histo_status status = is_whole ? histo_whole_check(axis) : HISTO_OK;
    if (status != HISTO_OK) return status;
    const bool keeps_whole = is_whole && !histo_whole_are_doubles(axis);
    *owned = *axis;
    owned->edges = NULL;
    owned->edge_type = HISTO_EDGES_F64;
    if (histo_axis_is_uniform(axis)) return HISTO_OK;
    size_t bytes = sizeof(stored_edges) + (keeps_whole ? 4 : 1) * (size_t)(axis->bins + 1) * sizeof(double);
    stored_edges *it = histo_malloc(bytes);
    if (!it) return histo_fail_memory(bytes, "the edges of an axis");
    write_edges(axis, it->edges);
    it->owners = 1;
    owned->edges = it->edges;
    owned->lo = it->edges[0];
    owned->hi = it->edges[axis->bins];
    if (keeps_whole) {
        keep_whole(axis, it, owned);
        return HISTO_OK;
    }
    it->off = measure_off(owned, it->edges);
    /* Edges close to those of a regular axis increase. */
    it->ordinary = it->off <= HISTO_NEAR || (isfinite(owned->hi - owned->lo) && all_increase(it->edges, axis->bins));
    if (!it->ordinary && !is_whole) status = check_increasing(axis, it->edges);
    if (status != HISTO_OK) histo_axis_disown(owned);
    return status;
}

bool histo_axis_borrow(const histo_axis *axis, histo_axis *borrowed, double *off)
{
    if (histo_axis_check_description(axis) != HISTO_OK || histo_axis_is_whole(axis)) return false;
    const bool uniform = histo_axis_is_uniform(axis);
    if (!uniform && axis->kind != HISTO_VARIABLE) return false;
    *borrowed = *axis;
    if (uniform) borrowed->edges = NULL;
    if (uniform) return true;
    if (off) *off = measure_off(axis, axis->edges);
    return (off && *off <= HISTO_NEAR) || (isfinite(axis->hi - axis->lo) && all_increase(axis->edges, axis->bins));
}

bool histo_axis_has_edges(const histo_axis *axis)
{
    return axis->edges;
}

void histo_axis_free_given(histo_axis *axis)
{
    histo_free((void *)axis->edges);
}

histo_axis histo_axis_share(const histo_axis *owned)
{
    if (owned->edges) __atomic_fetch_add(&stored(owned)->owners, 1, __ATOMIC_RELAXED);
    return *owned;
}

void histo_axis_disown(histo_axis *owned)
{
    if (owned->edges && __atomic_sub_fetch(&stored(owned)->owners, 1, __ATOMIC_ACQ_REL) == 0) histo_free(stored(owned));
    owned->edges = NULL;
    owned->edge_type = HISTO_EDGES_F64;
}

double histo_edge_at(const histo_axis *axis, int64_t i)
{
    if (histo_axis_is_whole(axis)) return histo_whole_edge(axis, i);
    const double *given = given_edges(axis);
    return given ? given[i] : formula_edge(axis, scale_of(axis), i);
}

double histo_axis_edge(const histo_axis *axis, int64_t i)
{
    if (!axis || i < 0 || i > axis->bins || (axis->kind == HISTO_VARIABLE && !axis->edges)) return (double)NAN;
    HISTO_STANDARD_FLOATS;
    return histo_float_result(histo_edge_at(axis, i));
}

static double rounded_to(histo_dtype dtype, double x)
{
    return dtype == HISTO_F64 ? x : dtype == HISTO_F32 ? (double)(float)x : (double)histo_f16_to_f32(histo_f16_of(x));
}

/* edges[i] = i * ((hi - lo) / bins) + lo, every result rounded to a type; if the step is too small for the type, i /
 * bins * (hi - lo) + lo. 32-bit numbers convert in vectors. */
static void linspace_f64(int32_t bins, double lo, double hi, bool as_float, double *edges)
{
    const double width = hi - lo, step = width / (double)bins;
    if (step != 0 && as_float)
        for (int32_t i = 0; i < bins; i++)
            edges[i] = (double)(float)((double)i * step + lo);
    else if (step != 0)
        for (int32_t i = 0; i < bins; i++)
            edges[i] = (double)i * step + lo;
    else
        for (int32_t i = 0; i < bins; i++)
            edges[i] = rounded_to(as_float ? HISTO_F32 : HISTO_F64, (double)i / (double)bins * width + lo);
}

static void linspace_f32(int32_t bins, double lo, double hi, double *edges)
{
    const float first = (float)lo, width = (float)hi - first, step = width / (float)bins;
    if (step != 0)
        for (int32_t i = 0; i < bins; i++)
            edges[i] = (double)((float)i * step + first);
    else
        for (int32_t i = 0; i < bins; i++)
            edges[i] = (double)((float)i / (float)bins * width + first);
}

/* NumPy computes in float and rounds the result to binary16. */
static float half(float x)
{
    return histo_f16_to_f32(histo_f16_of((double)x));
}

static void linspace_f16(int64_t bins, double lo, double hi, double *edges)
{
    const float first = half((float)lo), width = half((float)hi - first), count = half((float)bins);
    const float step = half(width / count);
    for (int64_t i = 0; i < bins; i++) {
        const float at = half((float)i);
        edges[i] = (double)half((step != 0 ? half(at * step) : half(half(at / count) * width)) + first);
    }
}

static bool is_edge_type(histo_dtype dtype)
{
    return dtype == HISTO_F16 || dtype == HISTO_F32 || dtype == HISTO_F64;
}

histo_status histo_linspace(int64_t bins, double lo, double hi, histo_dtype computed, histo_dtype edge, double *edges)
{
    HISTO_STANDARD_FLOATS;
    if (!edges) return histo_fail(HISTO_INVALID, "the array for the edges is NULL");
    if (!is_edge_type(computed) || !is_edge_type(edge))
        return histo_fail(HISTO_INVALID, "edges are computed in and rounded to HISTO_F16, HISTO_F32 or HISTO_F64");
    histo_axis axis = histo_axis_regular(bins, rounded_to(computed, lo), rounded_to(computed, hi));
    axis.lo = rounded_to(edge, axis.lo);
    axis.hi = rounded_to(edge, axis.hi);
    histo_status status = histo_axis_check_description(&axis);
    if (status != HISTO_OK) return status;
    if (!isfinite(rounded_to(computed, rounded_to(computed, hi) - rounded_to(computed, lo))))
        return histo_fail(HISTO_INVALID, "the range [%.17g, %.17g] is wider than %s can hold: give a narrower one", lo,
                          hi, histo_dtype_name(computed));
    if (computed == HISTO_F64)
        linspace_f64((int32_t)bins, lo, hi, edge == HISTO_F32, edges);
    else if (computed == HISTO_F32)
        linspace_f32((int32_t)bins, lo, hi, edges);
    else
        linspace_f16(bins, lo, hi, edges);
    edges[bins] = rounded_to(edge, rounded_to(computed, hi));
    for (int64_t i = 0; i < bins && edge == HISTO_F16; i++)
        edges[i] = rounded_to(edge, edges[i]);
    /* Edges of bins that are wide compared with rounding errors always increase. */
    const bool single = computed == HISTO_F32 || edge == HISTO_F32,
               any_half = computed == HISTO_F16 || edge == HISTO_F16;
    const double least = single ? fmax(fabs(axis.lo), fabs(axis.hi)) * 0x1p-20 : 0;
    const bool wide = !any_half && histo_axis_is_uniform(&axis) && histo_axis_step(&axis) >= least;
    return wide && (!single || histo_axis_step(&axis) >= FLT_MIN) ? HISTO_OK : check_increasing(&axis, edges);
}

histo_status histo_axis_check_kept(const histo_axis *owned, const double *edges)
{
    for (int64_t i = 0; i <= owned->bins; i++)
        if (histo_edge_at(owned, i) != edges[i])
            return histo_fail(HISTO_INVALID, "edge %lld is not that of an axis of this kind", (long long)i);
    return HISTO_OK;
}

/* Whether lo, hi and the number of bins give the edges, by one formula. */
static bool is_regular(const histo_axis *axis)
{
    return axis->kind == HISTO_INTEGER || axis->kind == HISTO_REGULAR;
}

/* Before a histogram owns an axis, its integer edges may all be doubles. */
static bool equals_whole(const histo_axis *whole, const histo_axis *other)
{
    if (histo_axis_is_whole(other)) return histo_whole_equal(whole, other);
    bool equal = true;
    for (int64_t i = 0; i <= whole->bins && equal; i++)
        equal = histo_whole_is_double(whole, i) && histo_whole_edge(whole, i) == histo_edge_at(other, i);
    return equal;
}

bool histo_axis_equal(const histo_axis *a, const histo_axis *b)
{
    HISTO_STANDARD_FLOATS;
    if (!a || !b || a->bins != b->bins || a->closed != b->closed) return false;
    if (histo_axis_is_whole(a)) return equals_whole(a, b);
    if (histo_axis_is_whole(b)) return equals_whole(b, a);
    if (is_regular(a) && is_regular(b)) return a->lo == b->lo && a->hi == b->hi;
    const double *of_a = given_edges(a), *of_b = given_edges(b);
    if (of_a && of_b && memcmp(of_a, of_b, ((size_t)a->bins + 1) * sizeof *of_a) == 0) return true;
    const axis_scale scale_a = scale_of(a), scale_b = scale_of(b);
    bool equal = true;
    for (int64_t i = 0; i <= a->bins && equal; i++)
        equal = (of_a ? of_a[i] : formula_edge(a, scale_a, i)) == (of_b ? of_b[i] : formula_edge(b, scale_b, i));
    return equal;
}

histo_status histo_axis_regroup(const histo_axis *owned, int64_t begin, int64_t bins, int64_t factor,
                                histo_axis *regrouped)
{
    size_t bytes = (size_t)(bins + 1) * sizeof(double);
    double *edges = histo_malloc(bytes);
    if (!edges) return histo_fail_memory(bytes, "the edges of an axis");
    const bool closed = owned->closed && begin + bins * factor == owned->bins;
    if (histo_axis_is_whole(owned)) {
        histo_axis whole = histo_whole_pick(owned, begin, factor, bins + 1, (uint64_t *)(void *)edges);
        whole.closed = closed;
        histo_status status = histo_axis_own(&whole, regrouped);
        histo_free(edges);
        return status;
    }
    for (int64_t i = 0; i <= bins; i++)
        edges[i] = histo_edge_at(owned, begin + i * factor);
    histo_axis formula = *owned;
    formula.bins = bins;
    formula.lo = edges[0];
    formula.hi = edges[bins];
    formula.edges = NULL;
    if (formula.kind == HISTO_INTEGER && factor > 1) formula.kind = HISTO_REGULAR;
    histo_axis variable = histo_axis_variable(bins, edges);
    variable.closed = formula.closed = closed;
    axis_scale s = scale_of(&formula);
    bool same = formula.kind != HISTO_VARIABLE;
    for (int64_t i = 0; same && i <= bins; i++)
        same = formula_edge(&formula, s, i) == edges[i];
    histo_status status = histo_axis_own(same ? &formula : &variable, regrouped);
    histo_free(edges);
    return status;
}
