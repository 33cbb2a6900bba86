/* Typed loops over samples, one set for each dtype. */
#include "axis/filter.h"

#include <string.h>

#include "axis/slot_of.h"
#include "base/error.h"
#include "view/dtype.h"

/* lo <= x <= hi, by value. */
static inline bool inside_f64(double x, double lo, double hi)
{
    return (x >= lo) & (x <= hi);
}
static inline bool inside_i64(int64_t x, double lo, double hi)
{
    return !histo_less_i64(x, lo) && !histo_above_i64(x, hi);
}
static inline bool inside_u64(uint64_t x, double lo, double hi)
{
    return !histo_less_u64(x, lo) && !histo_above_u64(x, hi);
}

#define INSIDE(compute) _Generic((compute)0, double : inside_f64, int64_t : inside_i64, uint64_t : inside_u64)

/* Both filters clear keep[i] for samples that do not pass. Contiguous samples have their own loop, which vectorises. */
#define DEFINE_FILTERS(constant, name, storage, compute, widen)                                                        \
    static inline compute load_##name(const char *at)                                                                  \
    {                                                                                                                  \
        storage x;                                                                                                     \
        memcpy(&x, at, sizeof x);                                                                                      \
        return (compute)widen(x);                                                                                      \
    }                                                                                                                  \
    static void keep_nonzero_##name(const char *at, int64_t stride, int64_t n, uint8_t *keep)                          \
    {                                                                                                                  \
        if (stride == (int64_t)sizeof(storage))                                                                        \
            for (int64_t i = 0; i < n; i++)                                                                            \
                keep[i] = (uint8_t)(keep[i] & (load_##name(at + i * (int64_t)sizeof(storage)) != 0));                  \
        else                                                                                                           \
            for (int64_t i = 0; i < n; i++)                                                                            \
                keep[i] = (uint8_t)(keep[i] & (load_##name(at + i * stride) != 0));                                    \
    }                                                                                                                  \
    static void keep_inside_##name(const char *at, int64_t stride, int64_t n, double lo, double hi, uint8_t *keep)     \
    {                                                                                                                  \
        if (stride == (int64_t)sizeof(storage))                                                                        \
            for (int64_t i = 0; i < n; i++)                                                                            \
                keep[i] =                                                                                              \
                    (uint8_t)(keep[i] & INSIDE(compute)(load_##name(at + i * (int64_t)sizeof(storage)), lo, hi));      \
        else                                                                                                           \
            for (int64_t i = 0; i < n; i++)                                                                            \
                keep[i] = (uint8_t)(keep[i] & INSIDE(compute)(load_##name(at + i * stride), lo, hi));                  \
    }                                                                                                                  \
    static void widen_##name(const void *samples, int64_t n, double *widened)                                          \
    {                                                                                                                  \
        const storage *x = samples;                                                                                    \
        for (int64_t i = 0; i < n; i++)                                                                                \
            widened[i] = (double)widen(x[i]);                                                                          \
    }
HISTO_DTYPES(DEFINE_FILTERS)

static const struct {
    void (*keep_nonzero)(const char *at, int64_t stride, int64_t n, uint8_t *keep);
    void (*keep_inside)(const char *at, int64_t stride, int64_t n, double lo, double hi, uint8_t *keep);
    void (*widen)(const void *samples, int64_t n, double *widened);
} typed[HISTO_DTYPE_COUNT] = {
#define ROW(constant, name, storage, compute, widen)                                                                   \
    [constant] = {keep_nonzero_##name, keep_inside_##name, widen_##name},
    HISTO_DTYPES(ROW)
#undef ROW
};

histo_status histo_filter_check(const histo_fill_options *options)
{
    const histo_status status = histo_check_reserved(options->reserved, sizeof options->reserved, "histo_fill_options");
    if (status != HISTO_OK) return status;
    if (options->rows || options->weight_count)
        return histo_fail(HISTO_UNSUPPORTED, "options have %s, which only histo_hist_fill and histo_count take",
                          options->rows ? "rows" : "weight_count");
    if (options->mask_offset < 0)
        return histo_fail(HISTO_INVALID, "mask_offset is %lld: give 0 or more", (long long)options->mask_offset);
    if (options->mask_offset && (!options->mask || options->mask->dtype != HISTO_BIT))
        return histo_fail(HISTO_INVALID, "mask_offset is %lld, and is for a mask of HISTO_BIT only",
                          (long long)options->mask_offset);
    if (!options->where && (options->where_lo != 0 || options->where_hi != 0))
        return histo_fail(HISTO_INVALID, "where_lo and where_hi are given without where, whose values they bound");
    if (!options->where || options->where_lo <= options->where_hi) return HISTO_OK;
    return histo_fail(HISTO_INVALID, "the range filter [%.17g, %.17g] is empty: where_lo must not be above where_hi",
                      options->where_lo, options->where_hi);
}

void histo_keep_nonzero(histo_dtype dtype, const char *at, int64_t stride, int64_t n, uint8_t *keep)
{
    typed[dtype].keep_nonzero(at, stride, n, keep);
}

void histo_keep_inside(histo_dtype dtype, const char *at, int64_t stride, int64_t n, double lo, double hi,
                       uint8_t *keep)
{
    if (lo <= hi)
        typed[dtype].keep_inside(at, stride, n, lo, hi, keep);
    else
        memset(keep, 0, (size_t)n);
}

void histo_widen(histo_dtype dtype, const void *samples, int64_t n, double *widened)
{
    typed[dtype].widen(samples, n, widened);
}
