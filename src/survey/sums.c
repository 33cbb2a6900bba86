/* Exact sums of samples and of their squares: long fixed-point numbers, to which the sums of small blocks are added.
 * Integer additions commute, so the sums do not depend on order, threads or merges. Most blocks are summed by a kernel
 * (cpu/kernels/power_sums/power_sums.h); floats that span too many powers of two, with one sum for each exponent. */
#include "survey/sums.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/floats.h"
#include "base/wide.h"
#include "cpu/kernels/kernels.h"
#include "plan/total.h"
#include "sum/long.h"
#include "survey/extremes.h"
#include "survey/pass.h"
#include "view/dtype.h"

enum { UNIT = HISTO_LONG_UNIT, BLOCK = HISTO_SUMMED_BLOCK }; /* the unit of squares is the square of the sums' unit */

/* ---- Blocks ---- */

static void add_terms(histo_power_sums *s, const histo_block_sums *block)
{
    for (int i = 0; i < HISTO_SUM_TERMS; i++)
        if (block->sum[i].value)
            histo_long_add_at(s->sum, HISTO_SUM_WORDS, block->sum[i].value, UNIT + block->sum[i].exponent);
    for (int i = 0; i < HISTO_SQUARE_TERMS; i++)
        if (block->squares[i].value)
            histo_long_add_at(s->squares, HISTO_SQUARES_WORDS, block->squares[i].value,
                              2 * UNIT + block->squares[i].exponent);
}

/* Finite doubles of any size: their significands are added up by exponent. */
static void add_by_exponent(histo_power_sums *s, const double *x, int n)
{
    enum { EXPONENTS = 2047, BITS = 52 };
    const uint64_t one = UINT64_C(1) << BITS;
    histo_wide_int sum[EXPONENTS], squares[EXPONENTS];
    int low = EXPONENTS, high = 0;
    for (int i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        const int exponent = (int)(bits >> BITS & EXPONENTS);
        low = exponent < low ? exponent : low;
        high = exponent > high ? exponent : high;
    }
    for (int e = low; e <= high; e++)
        sum[e] = squares[e] = 0;
    for (int i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        const int exponent = (int)(bits >> BITS & EXPONENTS);
        const int64_t significand = (int64_t)((bits & (one - 1)) | (exponent ? one : 0));
        sum[exponent] += bits >> 63 ? -significand : significand;
        squares[exponent] += (histo_wide_int)significand * significand;
    }
    for (int e = low; e <= high; e++) {
        const int shift = e ? e - 1 : 0; /* subnormal doubles have the unit of the smallest exponent */
        if (sum[e]) histo_long_add_at(s->sum, HISTO_SUM_WORDS, sum[e], shift);
        if (squares[e]) histo_long_add_at(s->squares, HISTO_SQUARES_WORDS, squares[e], 2 * shift);
    }
}

static void add_longs(histo_power_sums *s, histo_dtype dtype, const void *samples, int n)
{
    histo_wide_int sum = 0, low = 0, high = 0;
    for (int i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, (const char *)samples + (size_t)i * sizeof bits, sizeof bits);
        const bool negative = dtype == HISTO_I64 && bits >> 63;
        const uint64_t magnitude = negative ? 0 - bits : bits;
        const wide_word_pair square = (wide_word_pair)magnitude * magnitude;
        sum += negative ? -(histo_wide_int)magnitude : (histo_wide_int)magnitude;
        low += (uint64_t)square;
        high += (uint64_t)(square >> 64);
    }
    histo_long_add_at(s->sum, HISTO_SUM_WORDS, sum, UNIT);
    histo_long_add_at(s->squares, HISTO_SQUARES_WORDS, low, 2 * UNIT);
    histo_long_add_at(s->squares, HISTO_SQUARES_WORDS, high, 2 * UNIT + 64);
}

/* Convert to doubles, replacing NaN and infinities by zero. */
static void widen_finite(histo_dtype dtype, const void *samples, int n, double *widened)
{
    histo_cpu_kernels_usable()->widen(dtype, samples, n, widened);
    for (int i = 0; i < n; i++)
        widened[i] = fabs(widened[i]) <= DBL_MAX ? widened[i] : 0;
}

static void add_floats(histo_power_sums *s, histo_dtype dtype, const void *samples, int n, double largest,
                       bool all_finite)
{
    const histo_cpu_kernels *kernels = histo_cpu_kernels_usable();
    histo_block_sums block;
    double widened[BLOCK];
    const bool as_it_is = all_finite && (dtype == HISTO_F32 || dtype == HISTO_F64);
    if (!as_it_is) widen_finite(dtype, samples, n, widened);
    if (kernels->sum_block(as_it_is ? dtype : HISTO_F64, as_it_is ? samples : widened, n, largest, &block)) {
        add_terms(s, &block);
        return;
    }
    if (as_it_is) widen_finite(dtype, samples, n, widened);
    add_by_exponent(s, widened, n);
}

static void add_extremes(histo_power_sums *s, const histo_extremes *e, double min, double max)
{
    const bool first = s->samples == s->nan + s->infinite;
    if (histo_extremes_finite(e)) {
        s->min = first ? min : fmin(s->min, min);
        s->max = first ? max : fmax(s->max, max);
    }
    s->samples += e->samples;
    s->nan += e->nan;
    s->infinite += e->below + e->above;
}

static void add_piece(histo_power_sums *s, histo_dtype dtype, const void *samples, int n, histo_extremes *extremes)
{
    const histo_cpu_kernels *kernels = histo_cpu_kernels_usable();
    histo_extremes e = {0};
    histo_block_sums block;
    double min = 0, max = 0;
    kernels->add_extremes(dtype, samples, n, &e);
    histo_extremes_merge(extremes, &e, dtype);
    histo_extremes_outwards(&e, dtype, &min, &max);
    add_extremes(s, &e, min, max);
    const double largest = fmax(fabs(min), fabs(max));
    if (histo_extremes_finite(&e) == 0 || largest == 0) return;
    if (dtype == HISTO_I64 || dtype == HISTO_U64)
        add_longs(s, dtype, samples, n);
    else if (!histo_dtype_is_integer(dtype))
        add_floats(s, dtype, samples, n, largest, histo_extremes_finite(&e) == (uint64_t)n);
    else if (kernels->sum_block(dtype, samples, n, largest, &block))
        add_terms(s, &block);
}

void histo_power_sums_add_block(histo_power_sums *sums, histo_dtype dtype, const void *block, int64_t n,
                                histo_extremes *extremes)
{
    const size_t size = histo_dtype_size(dtype);
    for (int64_t begin = 0; begin < n; begin += BLOCK)
        add_piece(sums, dtype, (const char *)block + (size_t)begin * size, (int)(n - begin < BLOCK ? n - begin : BLOCK),
                  extremes);
}

/* ---- All ---- */

histo_status histo_power_sums_add(histo_power_sums *sums, const histo_view *samples, const histo_fill_options *options)
{
    HISTO_STANDARD_FLOATS;
    if (!sums) return histo_fail(HISTO_INVALID, "the sums to add to are NULL");
    return histo_pass_over(samples, options, &(histo_facts){.sums = sums});
}

void histo_power_sums_join(histo_power_sums *sums, const histo_power_sums *other)
{
    const histo_extremes samples = {.samples = other->samples, .nan = other->nan, .above = other->infinite};
    add_extremes(sums, &samples, other->min, other->max);
    sums->masked += other->masked;
    histo_long_add(sums->sum, other->sum, HISTO_SUM_WORDS);
    histo_long_add(sums->squares, other->squares, HISTO_SQUARES_WORDS);
}

histo_status histo_power_sums_merge(histo_power_sums *sums, const histo_power_sums *other)
{
    HISTO_STANDARD_FLOATS;
    if (!sums || !other) return histo_fail(HISTO_INVALID, "sums or other is NULL");
    const uint64_t all[] = {sums->samples, sums->masked, other->samples, other->masked};
    const histo_status status = histo_total_check(all, 4);
    if (status == HISTO_OK) histo_power_sums_join(sums, other);
    return status;
}

/* (n * squares - sum^2) / n, in units of 2^(-2 UNIT - 64). */
static double central_squares(const histo_power_sums *s, const uint64_t *magnitude, uint64_t n)
{
    enum { WORDS = 2 * HISTO_SUM_WORDS };
    uint64_t all[WORDS + 1] = {0}, square[WORDS];
    histo_long_multiply(s->squares, HISTO_SQUARES_WORDS, &n, 1, all + 1);
    histo_long_multiply(magnitude, HISTO_SUM_WORDS, magnitude, HISTO_SUM_WORDS, square);
    histo_long_negate(square, WORDS);
    histo_long_add(all + 1, square, WORDS);
    return histo_long_divide(all, WORDS + 1, -2 * UNIT - 64, n);
}

void histo_power_sums_read(const histo_power_sums *sums, histo_stats *stats)
{
    HISTO_STANDARD_FLOATS;
    static const histo_power_sums none;
    if (!stats) return;
    if (!sums) sums = &none;
    const uint64_t n = sums->samples - sums->nan - sums->infinite;
    uint64_t magnitude[HISTO_SUM_WORDS + 1] = {0};
    *stats = (histo_stats){.samples = sums->samples,
                           .nan = sums->nan,
                           .infinite = sums->infinite,
                           .masked = sums->masked,
                           .min = sums->min,
                           .max = sums->max,
                           .m3 = NAN,
                           .m4 = NAN};
    if (n == 0) return;
    const bool negative = sums->sum[HISTO_SUM_WORDS - 1] >> 63;
    memcpy(magnitude + 1, sums->sum, sizeof sums->sum);
    if (negative) histo_long_negate(magnitude + 1, HISTO_SUM_WORDS);
    stats->m2 = central_squares(sums, magnitude + 1, n);
    const double mean = histo_long_divide(magnitude, HISTO_SUM_WORDS + 1, -UNIT - 64, n);
    stats->mean = negative ? -mean : mean;
}
