/* Moments in two passes over a piece that fits the L1 cache: the mean, then powers of the deviations from it. Pieces
 * are combined by the formulas of Chan, Golub and LeVeque (1979) and Pébay (2008). This avoids cancellation of large
 * sums. One-byte samples are counted by value instead, which is exact. */
#include "survey/stats.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/floats.h"
#include "cpu/kernels/kernels.h"
#include "plan/total.h"
#include "survey/extremes.h"
#include "survey/pass.h"

enum { PIECE = 2048 };

void histo_stats_join(histo_stats *stats, const histo_stats *other)
{
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

histo_status histo_stats_merge(histo_stats *stats, const histo_stats *other)
{
    HISTO_STANDARD_FLOATS;
    if (!stats || !other) return histo_fail(HISTO_INVALID, "stats or other is NULL");
    const uint64_t all[] = {stats->samples, stats->masked, other->samples, other->masked};
    const histo_status status = histo_total_check(all, 4);
    if (status == HISTO_OK) histo_stats_join(stats, other);
    return status;
}

/* Compute m2, m3 and m4 from the samples and their min, max and mean. */
static void add_central_sums(const double *x, int n, histo_stats *s)
{
    if (s->min == s->max) { /* keep rounding errors from looking like deviations */
        s->mean = s->min;
        return;
    }
    double sums[4];
    histo_cpu_kernels_usable()->sum_powers(x, n, s->mean, sums);
    double off = sums[0] / (double)n; /* correct the rounding error of the mean */
    if (!isfinite(off)) off = 0;      /* distances near DBL_MAX, whose squares overflow anyway */
    s->mean += off;
    const double squares = sums[1], cubes = sums[2], fourths = sums[3], off2 = off * off;
    s->m2 = squares - off2 * (double)n;
    s->m3 = cubes - 3 * off * squares + 2 * off2 * off * (double)n;
    s->m4 = fourths - 4 * off * cubes + 6 * off2 * squares - 3 * off2 * off2 * (double)n;
}

/* A piece whose sum is not finite: drop NaN and infinities, and compute the mean without overflow. Rare. */
static histo_stats stats_of_some(const double *x, int n)
{
    histo_stats s = {.samples = (uint64_t)n};
    double finite[PIECE];
    int count = 0;
    for (int i = 0; i < n; i++) {
        finite[count] = x[i];
        count += isfinite(x[i]) != 0;
        s.nan += isnan(x[i]) != 0;
    }
    s.infinite = (uint64_t)(n - count) - s.nan;
    if (count == 0) return s;
    histo_cpu_kernels_usable()->sum(finite, count, &s.min, &s.max);
    for (int i = 0; i < count; i++)
        s.mean += finite[i] / (double)count;
    add_central_sums(finite, count, &s);
    return s;
}

static histo_stats stats_of_piece(const double *x, int n)
{
    histo_stats s = {.samples = (uint64_t)n};
    const double sum = histo_cpu_kernels_usable()->sum(x, n, &s.min, &s.max);
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

/* Replace min and max of integers, which were rounded to double, by the exact ones, rounded outwards. */
static void round_outwards(histo_dtype dtype, const void *samples, int n, histo_stats *s)
{
    histo_extremes extremes = {0};
    histo_cpu_kernels_usable()->add_extremes(dtype, samples, n, &extremes);
    histo_extremes_outwards(&extremes, dtype, &s->min, &s->max);
}

void histo_stats_add_block(histo_stats *stats, histo_dtype dtype, const void *block, int64_t n)
{
    if (n == 0) return;
    if (dtype == HISTO_U8 || dtype == HISTO_I8) {
        histo_stats bytes = stats_of_bytes(block, n, dtype == HISTO_I8);
        histo_stats_join(stats, &bytes);
        return;
    }
    size_t size = histo_dtype_size(dtype);
    for (int64_t begin = 0; begin < n; begin += PIECE) {
        const int length = n - begin < PIECE ? (int)(n - begin) : PIECE;
        const void *samples = (const char *)block + (size_t)begin * size;
        double widened[PIECE];
        if (dtype != HISTO_F64) histo_cpu_kernels_usable()->widen(dtype, samples, length, widened);
        histo_stats piece = stats_of_piece(dtype == HISTO_F64 ? samples : widened, length);
        if (dtype == HISTO_U64 || dtype == HISTO_I64) round_outwards(dtype, samples, length, &piece);
        histo_stats_join(stats, &piece);
    }
}

histo_status histo_stats_add(histo_stats *stats, const histo_view *samples, const histo_fill_options *options)
{
    HISTO_STANDARD_FLOATS;
    if (!stats) return histo_fail(HISTO_INVALID, "the stats to add to are NULL");
    const histo_status status = histo_check_reserved(stats->reserved, sizeof stats->reserved, "histo_stats");
    if (status != HISTO_OK) return status;
    return histo_pass_over(samples, options, &(histo_facts){.stats = stats});
}
