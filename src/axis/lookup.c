/* Lookups: an axis prepared for samples of one dtype. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "axis/axis.h"
#include "axis/whole.h"
#include "base/memory.h"
#include "view/dtype.h"

#define SLOT_OF(compute)                                                                                               \
    _Generic((compute)0, double : histo_slot_f64, int64_t : histo_slot_i64, uint64_t : histo_slot_u64)

/* The key of a 64-bit integer, which may be unaligned. */
static uint64_t key_at(histo_dtype dtype, const void *address)
{
    uint64_t bits;
    memcpy(&bits, address, sizeof bits);
    return dtype == HISTO_I64 ? histo_key_i64((int64_t)bits) : bits;
}

uint32_t histo_lookup_slot(const histo_lookup *lookup, histo_dtype dtype, const void *address)
{
    if (lookup->kind == HISTO_SEARCH_WHOLE) return histo_threshold_slot(lookup->thresholds, key_at(dtype, address));
    switch (dtype) {
#define CASE(constant, name, storage, compute, widen)                                                                  \
    case constant: {                                                                                                   \
        storage x;                                                                                                     \
        memcpy(&x, address, sizeof x);                                                                                 \
        return SLOT_OF(compute)(lookup, (compute)widen(x));                                                            \
    }
        HISTO_DTYPES(CASE)
#undef CASE
    default:
        return 0;
    }
}

/* On an axis with stored edges that may be nearly regular: guess the bin of a regular axis and return it if it is
 * right; otherwise search. */
static uint32_t guess_f64(const histo_lookup *l, double x)
{
    const double at = (x - l->lo) * l->per_step;
    const bool inside = l->kind == HISTO_SEARCH && at >= 0 && at < l->bins;
    const int32_t bin = inside ? (int32_t)at : 0;
    return inside && l->edges[bin] <= x && x < l->edges[bin + 1] ? (uint32_t)bin + 1 : histo_slot_f64(l, x);
}

#define GUESS_OF(compute) _Generic((compute)0, double : guess_f64, int64_t : histo_slot_i64, uint64_t : histo_slot_u64)

void histo_lookup_slots(const histo_lookup *lookup, histo_dtype dtype, const void *samples, int n, uint32_t stride,
                        bool accumulate, uint32_t *out)
{
    if (lookup->kind == HISTO_SEARCH_WHOLE) {
        for (int i = 0; i < n; i++) {
            const void *at = (const char *)samples + (size_t)i * sizeof(uint64_t);
            out[i] = (accumulate ? out[i] : 0) + stride * histo_lookup_slot(lookup, dtype, at);
        }
        return;
    }
#define CASE(constant, name, storage, compute, widen)                                                                  \
    case constant:                                                                                                     \
        for (int i = 0; i < n; i++) {                                                                                  \
            const uint32_t slot = GUESS_OF(compute)(lookup, (compute)widen(((const storage *)samples)[i]));            \
            out[i] = (accumulate ? out[i] : 0) + stride * slot;                                                        \
        }                                                                                                              \
        break;
    HISTO_SWITCH_DTYPE(dtype, CASE)
#undef CASE
}

/* Bins of 2^shift integers, few enough that differences do not wrap; for 64-bit dtypes, within the range of 32-bit
 * ones, excluding its ends. */
static histo_pow2 pow2_of(const histo_lookup *l, histo_dtype dtype)
{
    histo_pow2 w = {.is = false};
    double least, most; /* the smallest value of the dtype, and the largest plus one */
    if (!histo_dtype_is_integer(dtype) || l->kind != HISTO_UNIFORM) return w;
    histo_dtype_limits(dtype, &least, &most);
    int exponent;
    bool is_power = frexp(l->step, &exponent) == 0.5 && exponent >= 1 && exponent <= 31;
    bool on_integers = l->lo == floor(l->lo) && l->hi == l->lo + l->bins * l->step;
    bool is_near = fabs(l->lo) <= 0x1p31 && l->hi - l->lo + l->step < 0x1p31 && l->lo < most && l->hi > least;
    bool is_narrow = histo_dtype_size(dtype) <= 4 || (l->lo > -0x1p31 && l->hi < 0x1p31 - 1);
    if (!is_power || !on_integers || !is_near || !is_narrow) return w;
    double low = l->lo - 1 > least ? l->lo - 1 : least, high = l->hi < most - 1 ? l->hi : most - 1;
    w.is = true;
    w.shift = (uint8_t)(exponent - 1);
    w.low = (uint32_t)(int64_t)low;
    w.high = (uint32_t)(int64_t)high;
    w.from = (uint32_t)(int64_t)(l->lo - l->step);
    w.closed = l->closed && l->hi < most;
    return w;
}

/* first, last: the curve's values at the ends of the axis. off: the largest distance, in bins, between the curve and
 * the edges. Errors in float: the scale, the offset, the fraction and the final distance from an edge are each rounded
 * by 2^-24; a GPU's logarithm is off by 2^-22 (relative, or absolute below 1), its square root by 2^-23 and half of its
 * argument's error. Samples outside the axis have larger errors, but smaller than their distance from it. */
static void set_guess(histo_lookup *l, histo_curve curve, double first, double last, double off)
{
    double scale = 1 / (last - first), offset = -first * scale, most = fmax(fabs(first), fabs(last));
    double error = curve == HISTO_STRAIGHT ? 0 : fmax(most, 1) * scale * 0x1p-22;
    error += (most * scale + fabs(offset) + 1) * 0x1.2p-24;
    l->curve = curve;
    l->scale_f32 = (float)scale;
    l->offset_f32 = (float)offset;
    l->margin_f32 = (float)(off + error * l->bins + 0x1p-24);
    l->near_f32 = l->margin_f32 < 0.5f && isnormal(l->scale_f32) && l->bins < 1 << 20;
}

static double on_curve(const histo_lookup *l, histo_curve curve, double x)
{
    return curve == HISTO_LOGARITHM ? log2(x) : sqrt(x - l->from_f32);
}

static void fit(histo_lookup *l, histo_curve curve)
{
    double first = on_curve(l, curve, l->lo), last = on_curve(l, curve, l->hi), off = 0;
    for (int32_t i = 0; i <= l->bins && off < 1; i++)
        off = fmax(off, fabs((on_curve(l, curve, l->edges[i]) - first) / (last - first) * l->bins - i));
    set_guess(l, curve, first, last, off);
}

void histo_lookup_fit(histo_lookup *l)
{
    if (l->hi > FLT_MAX) return;
    if (l->lo >= FLT_MIN) fit(l, HISTO_LOGARITHM);
    if (!l->near_f32 && l->lo >= 0) fit(l, HISTO_ROOT);
    l->from_f32 = l->near_f32 ? l->from_f32 : l->first_f32;
    if (!l->near_f32 && l->from_f32 == l->lo) fit(l, HISTO_ROOT);
}

/* The largest deviation, in bins, of the thresholds from equal steps between the first and the last. */
static double off_of_thresholds(const histo_edge_keys *t, double per_step)
{
    double off = 0;
    for (int64_t i = 0; i < t->n && off <= HISTO_NEAR; i++)
        off = fmax(off, fabs((double)(t->at[i] - t->at[0]) * per_step - (double)i));
    return off;
}

/* Set up a guess for thresholds that are nearly regular. */
static void find_near_whole(histo_lookup *l)
{
    const histo_edge_keys *t = l->thresholds;
    if (t->n != (int64_t)l->bins + 1 || t->at[t->n - 1] == t->at[0]) return;
    l->step = (double)(t->at[t->n - 1] - t->at[0]) / l->bins;
    l->per_step = 1 / l->step;
    const double off = off_of_thresholds(t, l->per_step);
    if (off <= HISTO_NEAR) l->near = (float)(off + l->bins * 0x1p-50 + 0x1p-20);
}

void histo_lookup_start(histo_lookup *lookup, const histo_axis *owned, histo_dtype dtype)
{
    *lookup = (histo_lookup){.kind = owned->edges ? HISTO_SEARCH : HISTO_UNIFORM,
                             .closed = owned->closed,
                             .bins = (int32_t)owned->bins,
                             .lo = owned->lo,
                             .hi = owned->hi,
                             .edges = histo_axis_doubles(owned)};
    const bool is_whole = histo_axis_is_whole(owned);
    if (is_whole) lookup->closed &= histo_whole_is_double(owned, owned->bins); /* else hi has been rounded up */
    lookup->over = histo_first_value(HISTO_F64, lookup->hi, lookup->closed);
    lookup->step = histo_axis_step(owned);
    lookup->per_step = 1 / lookup->step;
    lookup->pow2 = pow2_of(lookup, dtype);
    const histo_edge_keys *thresholds = histo_axis_thresholds(owned, dtype);
    if (!thresholds) return;
    lookup->kind = HISTO_SEARCH_WHOLE;
    lookup->thresholds = thresholds;
}

static double value_of_half(histo_dtype dtype, uint16_t bits)
{
    return dtype == HISTO_F16 ? histo_f16_to_f32(bits) : histo_bf16_to_f32(bits);
}

/* The slot of an axis that is not closed. */
static uint32_t open_slot(const histo_lookup *l, uint32_t pattern, double x)
{
    return l->table[pattern] + (l->closed && x == l->hi);
}

/* Whether floor(x * scale + offset), clamped, is the slot. Rounding the sum down does not change its floor. The product
 * of 11 and 24 significant bits is exact. */
static bool is_affine_slot(const histo_lookup *l, const histo_affine *affine, double x, uint32_t slot)
{
    const uint32_t above = (uint32_t)l->bins + 1;
    const double product = x * (double)affine->scale, offset = affine->offset;
    const double from = slot - offset, to = slot + 1 - offset;
    if (from + offset != slot || slot - from != offset || to + offset != slot + 1 || slot + 1 - to != offset)
        return false; /* the differences are rounded */
    return (slot == 0 || product >= from) && (slot == above || product < to);
}

/* The table of a 16-bit float as a linear function, if it is one: each value limits the offset. */
static histo_affine affine_of(const histo_lookup *l, histo_dtype dtype)
{
    histo_affine affine = {.is = false, .scale = (float)l->per_step, .last = NAN};
    const int32_t exact_in_float = 1 << 24;
    if (histo_dtype_is_integer(dtype) || l->kind != HISTO_UNIFORM || !isnormal(affine.scale)) return affine;
    if (l->bins >= exact_in_float - 1) return affine;
    const uint32_t patterns = 1u << 16, above = (uint32_t)l->bins + 1;
    double least = -INFINITY, most = INFINITY;
    for (uint32_t pattern = 0; pattern < patterns; pattern++) {
        const double x = value_of_half(dtype, (uint16_t)pattern), product = x * (double)affine.scale;
        if (isnan(x)) continue;
        const uint32_t slot = open_slot(l, pattern, x);
        if (slot > 0) least = fmax(least, slot - product);
        if (slot < above) most = fmin(most, slot + 1 - product);
        if (l->closed && x == l->hi) affine.last = (float)x;
    }
    affine.offset = (float)least;
    if (affine.offset < least) affine.offset = nextafterf(affine.offset, INFINITY);
    affine.is = isfinite(affine.offset) && affine.offset <= most;
    for (uint32_t pattern = 0; pattern < patterns && affine.is; pattern++) {
        const double x = value_of_half(dtype, (uint16_t)pattern);
        affine.is = isnan(x) || is_affine_slot(l, &affine, x, open_slot(l, pattern, x));
    }
    return affine;
}

histo_status histo_lookup_make(histo_lookup *lookup, const histo_axis *owned, histo_dtype dtype, bool many)
{
    histo_lookup_start(lookup, owned, dtype);
    lookup->first_f32 = (float)histo_first_value(HISTO_F32, lookup->lo, false);
    lookup->over_f32 = (float)histo_first_value(HISTO_F32, lookup->hi, lookup->closed);
    const double off = lookup->kind == HISTO_SEARCH ? histo_axis_off(owned) : 0;
    if (lookup->kind != HISTO_SEARCH_WHOLE && off <= HISTO_NEAR)
        set_guess(lookup, HISTO_STRAIGHT, lookup->lo, lookup->hi, off);
    /* The position of a sample in bins is a difference and a product of doubles, each rounded once. */
    if (lookup->kind == HISTO_SEARCH && off <= HISTO_NEAR)
        lookup->near = (float)(off + lookup->bins * 0x1p-50 + 0x1p-20);
    if (lookup->kind == HISTO_SEARCH_WHOLE) find_near_whole(lookup);
    size_t size = histo_dtype_size(dtype);
    if (size > 2 || (size == 2 && !many)) return HISTO_OK;
    size_t patterns = (size_t)1 << (8 * size);
    uint32_t *table = histo_malloc(patterns * sizeof *table);
    if (!table) return histo_fail_memory(patterns * sizeof *table, "a table of slots");
    for (size_t pattern = 0; pattern < patterns; pattern++) {
        union {
            uint8_t one;
            uint16_t two;
            uint64_t room; /* what the compiler assumes may be read */
        } sample = {.room = 0};
        if (size == 1)
            sample.one = (uint8_t)pattern;
        else
            sample.two = (uint16_t)pattern;
        table[pattern] = histo_lookup_slot(lookup, dtype, &sample);
    }
    lookup->table = table;
    if (size == 2) lookup->affine = affine_of(lookup, dtype);
    return HISTO_OK;
}

void histo_lookup_free(histo_lookup *lookup)
{
    histo_free((void *)lookup->table);
    lookup->table = NULL;
    histo_cells_free(&lookup->cells);
}
