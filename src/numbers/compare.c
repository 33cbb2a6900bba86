/* Distances of histograms: one pass over the bins that are occupied in either. Sums are in double, in order of the
 * bins. */
#include <math.h>

#include "base/error.h"
#include "base/floats.h"
#include "base/wide.h"
#include "counts/hist.h"
#include "numbers/occupied.h"

static const char *const metric_names[] = {
    [HISTO_CORRELATION] = "correlation",       [HISTO_CHI_SQUARE] = "chi-square",
    [HISTO_CHI_SQUARE_ALT] = "chi-square-alt", [HISTO_INTERSECTION] = "intersection",
    [HISTO_BHATTACHARYYA] = "bhattacharyya",   [HISTO_KL_DIVERGENCE] = "kl-divergence",
    [HISTO_JS_DIVERGENCE] = "js-divergence",   [HISTO_KOLMOGOROV] = "kolmogorov",
    [HISTO_EARTH_MOVER] = "earth-mover",
};
enum { METRICS = sizeof metric_names / sizeof *metric_names };

histo_status histo_metric_parse(const char *name, histo_metric *metric)
{
    if (!metric) return histo_fail(HISTO_INVALID, "the place for the metric is NULL");
    *metric = 0;
    int found;
    histo_status status = histo_name_find(metric_names, METRICS, name, "metric", &found);
    if (status == HISTO_OK) *metric = (histo_metric)found;
    return status;
}

/* Steps of about a nanosecond. */
enum { STEPS_A_BIN = 8 };

/* Iterates over the bins that are occupied in either histogram. */
typedef struct pairs {
    histo_levels a, b;
    int64_t i, j;              /* the next levels */
    int64_t bin;               /* the current bin */
    uint64_t count_a, count_b; /* its counts in the two histograms */
    double in_a, in_b;         /* the same as doubles */
    double of_a, of_b;         /* as shares of all counts */
    histo_pace *pace;          /* if it stops, iteration ends */
} pairs;

static bool pairs_next(pairs *p)
{
    const bool a = p->i < p->a.n, b = p->j < p->b.n;
    if ((!a && !b) || !histo_goes_on(p->pace, STEPS_A_BIN)) return false;
    p->bin = a && (!b || p->a.bin[p->i] < p->b.bin[p->j]) ? p->a.bin[p->i] : p->b.bin[p->j];
    p->count_a = a && p->a.bin[p->i] == p->bin ? p->a.count[p->i++] : 0;
    p->count_b = b && p->b.bin[p->j] == p->bin ? p->b.count[p->j++] : 0;
    p->in_a = (double)p->count_a;
    p->in_b = (double)p->count_b;
    p->of_a = p->in_a / (double)p->a.total;
    p->of_b = p->in_b / (double)p->b.total;
    return true;
}

static double correlation(pairs p, int64_t bins)
{
    const double n = (double)bins, mean_a = (double)p.a.total / n, mean_b = (double)p.b.total / n;
    double ab = 0, aa = 0, bb = 0, seen = 0;
    for (; pairs_next(&p); seen++) {
        const double a = p.in_a - mean_a, b = p.in_b - mean_b;
        ab += a * b;
        aa += a * a;
        bb += b * b;
    }
    const double empty = n - seen; /* number of bins where both counts are 0 */
    ab += empty * mean_a * mean_b;
    aa += empty * mean_a * mean_a;
    bb += empty * mean_b * mean_b;
    const double r = ab / (sqrt(aa) * sqrt(bb));
    return fabs(r) > 1 ? copysign(1, r) : r; /* rounding must not exceed the bounds */
}

/* p * log(p / q) */
static double divergence(double p, double q)
{
    return p == 0 ? 0 : p * log(p / q);
}

/* The metrics that are a sum over pairs. */
static double term(histo_metric metric, const pairs *p)
{
    const double difference = p->in_a - p->in_b, middle = 0.5 * (p->of_a + p->of_b);
    switch (metric) {
    case HISTO_CHI_SQUARE:
        return p->in_a > 0 ? difference * difference / p->in_a : 0;
    case HISTO_CHI_SQUARE_ALT:
        return 2 * (difference * difference / (p->in_a + p->in_b));
    case HISTO_BHATTACHARYYA: /* 1 minus the sum of sqrt(a * b), without its cancellation */
        return 0.5 * ((sqrt(p->of_a) - sqrt(p->of_b)) * (sqrt(p->of_a) - sqrt(p->of_b)));
    case HISTO_KL_DIVERGENCE:
        return divergence(p->of_a, p->of_b);
    default:
        return 0.5 * (divergence(p->of_a, middle) + divergence(p->of_b, middle));
    }
}

/* Exact until it is divided: equal histograms give 1. */
static double intersection(pairs p)
{
    wide_word_pair sum = 0;
    while (pairs_next(&p)) {
        const wide_word_pair a = (wide_word_pair)p.count_a * p.b.total, b = (wide_word_pair)p.count_b * p.a.total;
        sum += a < b ? a : b;
    }
    return (double)sum / (double)((wide_word_pair)p.a.total * p.b.total);
}

static double sum_of_terms(histo_metric metric, pairs p)
{
    double sum = 0;
    while (pairs_next(&p))
        sum += term(metric, &p);
    return sum;
}

/* The largest difference between the cumulative shares, or the area between them. */
static double between_cumulative(histo_metric metric, pairs p, const histo_axis *axis)
{
    double largest = 0, area = 0, apart = 0, before = 0;
    uint64_t upto_a = 0, upto_b = 0;
    for (bool first = true; pairs_next(&p); first = false) {
        const double value = histo_bin_value(axis, p.bin);
        if (!first) area += fabs(apart) * (value - before);
        before = value;
        upto_a += p.count_a;
        upto_b += p.count_b;
        apart = (double)upto_a / (double)p.a.total - (double)upto_b / (double)p.b.total;
        largest = fmax(largest, fabs(apart));
    }
    return metric == HISTO_KOLMOGOROV ? largest : area;
}

static double compare(histo_metric metric, pairs p, const histo_hist *hist)
{
    const bool sums = metric == HISTO_CHI_SQUARE || metric == HISTO_CHI_SQUARE_ALT;
    if (!sums && (p.a.total == 0 || p.b.total == 0)) return NAN;
    if (metric == HISTO_CORRELATION) return correlation(p, histo_hist_size(hist, HISTO_BINS) / histo_hist_batch(hist));
    if (metric == HISTO_KOLMOGOROV || metric == HISTO_EARTH_MOVER) {
        const histo_axis axis = histo_hist_axis(hist, 0);
        return between_cumulative(metric, p, &axis);
    }
    if (metric == HISTO_INTERSECTION) return intersection(p);
    const double sum = sum_of_terms(metric, p);
    return metric == HISTO_BHATTACHARYYA ? sqrt(fmin(1, sum)) : fmax(0, sum); /* rounding must not exceed the bounds */
}

histo_status histo_hist_compare(const histo_hist *a, const histo_hist *b, histo_metric metric, double *values)
{
    HISTO_STANDARD_FLOATS;
    if ((int)metric < 0 || (int)metric >= METRICS) return histo_fail(HISTO_INVALID, "unknown metric %d", (int)metric);
    histo_status status = histo_hist_alike(a, b);
    if (status != HISTO_OK) return status;
    const bool ordered = metric == HISTO_KOLMOGOROV || metric == HISTO_EARTH_MOVER;
    status = histo_numbers_check(a, ordered ? 1 : histo_hist_naxes(a), values, metric_names[metric]);
    if (status == HISTO_OK && metric == HISTO_EARTH_MOVER)
        status = histo_axis_check_finite(&a->axes[0], metric_names[metric]);
    if (status != HISTO_OK) return status;
    histo_occupied of_a, of_b = {0};
    status = histo_occupied_read(&of_a, a, HISTO_BINS);
    if (status == HISTO_OK) status = histo_occupied_read(&of_b, b, HISTO_BINS);
    histo_pace pace = {.stage = "comparing", .all = (1 + STEPS_A_BIN) * (of_a.size + of_b.size)};
    for (int64_t i = 0; i < histo_hist_batch(a) && status == HISTO_OK; i++) {
        const histo_levels in_a = histo_occupied_next(&of_a, &pace), in_b = histo_occupied_next(&of_b, &pace);
        values[i] = compare(metric, (pairs){.a = in_a, .b = in_b, .pace = &pace}, a);
        status = pace.status;
    }
    histo_occupied_release(&of_a);
    histo_occupied_release(&of_b);
    return status;
}
