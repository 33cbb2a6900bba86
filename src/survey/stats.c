/* Moments in two passes over a piece that fits the L1 cache: the mean, then powers of the deviations from it. Pieces
 * are combined by the formulas of Chan, Golub and LeVeque (1979) and Pébay (2008). This avoids cancellation of large
 * sums, and both inner loops vectorise. One-byte samples are counted by value instead, which is exact. */
#include "survey/stats.h"

#include <math.h>
#include <string.h>

#include "axis/filter.h"
#include "axis/slot_of.h"
#include "base/error.h"
#include "survey/pass.h"

enum { PIECE = 2048, LANES = 8 };

/* Compilers vectorise the first loop by themselves, but not the second. */
typedef double pair __attribute__((vector_size(2 * sizeof(double))));

void histo_stats_merge(histo_stats *stats, const histo_stats *other)
{
    if (!stats || !other) return;
    uint64_t finite_a = histo_stats_finite(stats), finite_b = histo_stats_finite(other);
    histo_stats a = *stats, b = *other;
    stats->samples += b.samples;
    stats->nan += b.nan;
    stats->infinite += b.infinite;
    stats->masked += b.masked;
    if (finite_b == 0) return;
    if (finite_a == 0) {
        stats->min = b.min;
        stats->max = b.max;
        stats->mean = b.mean;
        stats->m2 = b.m2;
        stats->m3 = b.m3;
        stats->m4 = b.m4;
        return;
    }
    double na = (double)finite_a, nb = (double)finite_b, n = na + nb;
    double distance = b.mean - a.mean;
    stats->min = fmin(a.min, b.min);
    stats->max = fmax(a.max, b.max);
    /* The second form avoids overflow of a huge distance between means. */
    stats->mean = isfinite(distance) ? a.mean + distance * (nb / n) : a.mean * (na / n) + b.mean * (nb / n);
    stats->m2 = a.m2 + b.m2 + distance * distance * (na * nb / n);
    stats->m3 = a.m3 + b.m3 + distance * distance * distance * (na * nb / n) * ((na - nb) / n) +
                3 * distance * (na / n * b.m2 - nb / n * a.m2);
    const double square = distance * distance, share_a = na / n, share_b = nb / n;
    stats->m4 = a.m4 + b.m4 +
                square * square * (na * nb / n) * (share_a * share_a - share_a * share_b + share_b * share_b) +
                6 * square * (share_a * share_a * b.m2 + share_b * share_b * a.m2) +
                4 * distance * (share_a * b.m3 - share_b * a.m3);
}

/* Sum, minimum and maximum. NaN or infinity makes the sum non-finite; min and max are then undefined. */
static double sum_and_extremes(const double *x, int64_t n, double *min, double *max)
{
    double sum[LANES] = {0}, low[LANES], high[LANES];
    for (int l = 0; l < LANES; l++)
        low[l] = high[l] = x[0];
    int64_t whole = n - n % LANES;
    for (int64_t i = 0; i < whole; i += LANES) {
        for (int l = 0; l < LANES; l++) {
            sum[l] += x[i + l];
            low[l] = x[i + l] < low[l] ? x[i + l] : low[l];
            high[l] = x[i + l] > high[l] ? x[i + l] : high[l];
        }
    }
    for (int64_t i = whole; i < n; i++) {
        sum[i - whole] += x[i];
        low[0] = fmin(low[0], x[i]);
        high[0] = fmax(high[0], x[i]);
    }
    for (int l = 1; l < LANES; l++) {
        sum[0] += sum[l];
        low[0] = fmin(low[0], low[l]);
        high[0] = fmax(high[0], high[l]);
    }
    *min = low[0];
    *max = high[0];
    return sum[0];
}

/* Compute m2, m3 and m4 from the samples and their min, max and mean. */
static void add_central_sums(const double *x, int64_t n, histo_stats *s)
{
    if (s->min == s->max) { /* keep rounding errors from looking like deviations */
        s->mean = s->min;
        return;
    }
    pair sum0 = {0}, sum1 = {0}, squares0 = {0}, squares1 = {0}, cubes0 = {0}, cubes1 = {0}, fourths0 = {0},
         fourths1 = {0};
    int64_t whole = n - n % 4;
    for (int64_t i = 0; i < whole; i += 4) {
        pair d0, d1;
        memcpy(&d0, x + i, sizeof d0);
        memcpy(&d1, x + i + 2, sizeof d1);
        d0 -= s->mean;
        d1 -= s->mean;
        sum0 += d0;
        sum1 += d1;
        pair square0 = d0 * d0, square1 = d1 * d1;
        squares0 += square0;
        squares1 += square1;
        cubes0 += square0 * d0;
        cubes1 += square1 * d1;
        fourths0 += square0 * square0;
        fourths1 += square1 * square1;
    }
    sum0 += sum1;
    squares0 += squares1;
    cubes0 += cubes1;
    fourths0 += fourths1;
    for (int64_t i = whole; i < n; i++) {
        double d = x[i] - s->mean;
        sum0[i % 2] += d;
        squares0[i % 2] += d * d;
        cubes0[i % 2] += d * d * d;
        fourths0[i % 2] += d * d * (d * d);
    }
    double off = (sum0[0] + sum0[1]) / (double)n; /* correct the rounding error of the mean */
    if (!isfinite(off)) off = 0;                  /* distances near DBL_MAX, whose squares overflow anyway */
    s->mean += off;
    const double squares = squares0[0] + squares0[1], cubes = cubes0[0] + cubes0[1], off2 = off * off;
    s->m2 = squares - off2 * (double)n;
    s->m3 = cubes - 3 * off * squares + 2 * off2 * off * (double)n;
    s->m4 = fourths0[0] + fourths0[1] - 4 * off * cubes + 6 * off2 * squares - 3 * off2 * off2 * (double)n;
}

/* A piece whose sum is not finite: drop NaN and infinities, and compute the mean without overflow. Rare. */
static histo_stats stats_of_some(const double *x, int64_t n)
{
    histo_stats s = {.samples = (uint64_t)n};
    double finite[PIECE];
    int64_t kept = 0;
    for (int64_t i = 0; i < n; i++) {
        finite[kept] = x[i];
        kept += isfinite(x[i]) != 0;
        s.nan += isnan(x[i]) != 0;
    }
    s.infinite = (uint64_t)(n - kept) - s.nan;
    if (kept == 0) return s;
    sum_and_extremes(finite, kept, &s.min, &s.max);
    for (int64_t i = 0; i < kept; i++)
        s.mean += finite[i] / (double)kept;
    add_central_sums(finite, kept, &s);
    return s;
}

static histo_stats stats_of_piece(const double *x, int64_t n)
{
    histo_stats s = {.samples = (uint64_t)n};
    double sum = sum_and_extremes(x, n, &s.min, &s.max);
    if (!isfinite(sum)) return stats_of_some(x, n);
    s.mean = sum / (double)n;
    add_central_sums(x, n, &s);
    return s;
}

/* n < 2^32. Four tables, so that equal neighbours do not depend on each other's increments. */
static histo_stats stats_of_bytes(const uint8_t *x, int64_t n, bool is_signed)
{
    uint32_t counts[4][256] = {{0}};
    int64_t whole = n - n % 4;
    for (int64_t i = 0; i < whole; i += 4) {
        counts[0][x[i]]++;
        counts[1][x[i + 1]]++;
        counts[2][x[i + 2]]++;
        counts[3][x[i + 3]]++;
    }
    for (int64_t i = whole; i < n; i++)
        counts[0][x[i]]++;
    histo_stats s = {.samples = (uint64_t)n, .min = INFINITY, .max = -INFINITY};
    double count[256], value[256], sum = 0;
    for (int v = 0; v < 256; v++) {
        count[v] = (double)counts[0][v] + (double)counts[1][v] + (double)counts[2][v] + (double)counts[3][v];
        value[v] = is_signed ? (int8_t)v : v;
        sum += count[v] * value[v];
        if (count[v] == 0) continue;
        s.min = fmin(s.min, value[v]);
        s.max = fmax(s.max, value[v]);
    }
    s.mean = sum / (double)n;
    for (int v = 0; v < 256; v++) {
        double d = value[v] - s.mean;
        s.m2 += count[v] * (d * d);
        s.m3 += count[v] * (d * d * d);
        s.m4 += count[v] * (d * d * (d * d));
    }
    return s;
}

/* Replace min and max of integers that were rounded to double by the exact ones, rounded outwards. */
#define DEFINE_OUTWARDS(name, type)                                                                                    \
    static void outwards_##name(const type *x, int64_t n, histo_stats *s)                                              \
    {                                                                                                                  \
        type min = x[0], max = x[0];                                                                                   \
        for (int64_t i = 1; i < n; i++) {                                                                              \
            min = x[i] < min ? x[i] : min;                                                                             \
            max = x[i] > max ? x[i] : max;                                                                             \
        }                                                                                                              \
        s->min = (double)min;                                                                                          \
        s->max = (double)max;                                                                                          \
        if (histo_less_##name(min, s->min)) s->min = nextafter(s->min, -INFINITY);                                     \
        if (histo_above_##name(max, s->max)) s->max = nextafter(s->max, INFINITY);                                     \
    }
DEFINE_OUTWARDS(u64, uint64_t)
DEFINE_OUTWARDS(i64, int64_t)

void histo_stats_add_block(histo_stats *stats, histo_dtype dtype, const void *block, int64_t n)
{
    if (n == 0) return;
    if (dtype == HISTO_U8 || dtype == HISTO_I8) {
        histo_stats bytes = stats_of_bytes(block, n, dtype == HISTO_I8);
        histo_stats_merge(stats, &bytes);
        return;
    }
    size_t size = histo_dtype_size(dtype);
    for (int64_t begin = 0; begin < n; begin += PIECE) {
        int64_t length = n - begin < PIECE ? n - begin : PIECE;
        const void *samples = (const char *)block + (size_t)begin * size;
        double widened[PIECE];
        if (dtype != HISTO_F64) histo_widen(dtype, samples, length, widened);
        histo_stats piece = stats_of_piece(dtype == HISTO_F64 ? samples : widened, length);
        if (dtype == HISTO_U64) outwards_u64(samples, length, &piece);
        if (dtype == HISTO_I64) outwards_i64(samples, length, &piece);
        histo_stats_merge(stats, &piece);
    }
}

histo_status histo_stats_add(histo_stats *stats, const histo_view *samples, const histo_fill_options *options)
{
    if (!stats) return histo_fail(HISTO_INVALID, "the stats to add to are NULL");
    histo_source source;
    histo_status status = histo_source_make(&source, samples, options, HISTO_NO_BATCH);
    if (status != HISTO_OK) return status;
    histo_pass_run(&source, &(histo_wanted){.stats = stats});
    return HISTO_OK;
}
