/* Quantiles: find the samples that a rule uses from cumulative counts. */
#include <math.h>

#include "axis/axis.h"
#include "axis/quantile_rule.h"
#include "base/error.h"
#include "base/floats.h"
#include "base/memory.h"
#include "numbers/occupied.h"

static const char *const rule_names[] = {
    [HISTO_QUANTILE_LINEAR] = "linear",
    [HISTO_QUANTILE_LOWER] = "lower",
    [HISTO_QUANTILE_HIGHER] = "higher",
    [HISTO_QUANTILE_NEAREST] = "nearest",
    [HISTO_QUANTILE_MIDPOINT] = "midpoint",
    [HISTO_QUANTILE_INVERTED_CDF] = "inverted_cdf",
    [HISTO_QUANTILE_AVERAGED_INVERTED_CDF] = "averaged_inverted_cdf",
    [HISTO_QUANTILE_CLOSEST_OBSERVATION] = "closest_observation",
    [HISTO_QUANTILE_INTERPOLATED_INVERTED_CDF] = "interpolated_inverted_cdf",
    [HISTO_QUANTILE_HAZEN] = "hazen",
    [HISTO_QUANTILE_WEIBULL] = "weibull",
    [HISTO_QUANTILE_MEDIAN_UNBIASED] = "median_unbiased",
    [HISTO_QUANTILE_NORMAL_UNBIASED] = "normal_unbiased",
};
enum { RULES = sizeof rule_names / sizeof *rule_names };

histo_status histo_quantile_rule_parse(const char *name, histo_quantile_rule *rule)
{
    if (!rule) return histo_fail(HISTO_INVALID, "the place for the rule is NULL");
    *rule = 0;
    int found;
    histo_status status = histo_name_find(rule_names, RULES, name, "quantile rule", &found);
    if (status == HISTO_OK) *rule = (histo_quantile_rule)found;
    return status;
}

/* The samples of a batch entry, in order. Levels are slots including flow: 0 is underflow. */
typedef struct sorted_samples {
    const histo_axis *axis;
    histo_levels levels;
    const uint64_t *upto; /* cumulative counts of the levels */
    uint64_t n;           /* without NaN */
} sorted_samples;

static double sample_at(const sorted_samples *s, double index)
{
    const uint64_t rank = histo_place_rank(index, s->n);
    int64_t low = 0, high = s->levels.n - 1;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (s->upto[middle] > rank)
            high = middle;
        else
            low = middle + 1;
    }
    const int64_t bin = s->levels.bin[low] - 1;
    if (bin < 0) return -INFINITY;
    if (bin == s->axis->bins) return INFINITY;
    const double lower = histo_edge_at(s->axis, bin), upper = histo_edge_at(s->axis, bin + 1);
    if (s->axis->kind == HISTO_INTEGER || isinf(lower)) return lower;
    if (isinf(upper)) return upper;
    const uint64_t count = s->levels.count[low], before = s->upto[low] - count;
    return histo_spread_sample(lower, upper, rank - before, count);
}

static double quantile_of(const sorted_samples *s, histo_quantile_rule rule, double q)
{
    if (s->n == 0) return NAN;
    const histo_fractional_rank p = histo_quantile_place(rule, (double)s->n, q);
    const double below = sample_at(s, p.below);
    return p.share == 0 ? below : histo_quantile_beside(below, sample_at(s, p.below + 1), p.share);
}

/* The samples that are not NaN; upto has room for all levels. */
static sorted_samples sort_samples(const histo_axis *axis, histo_levels levels, uint64_t *upto, histo_pace *pace)
{
    sorted_samples s = {.axis = axis, .levels = levels, .upto = upto};
    if (levels.n > 0 && levels.bin[levels.n - 1] == axis->bins + 2) s.levels.n--;
    for (int64_t i = 0; i < s.levels.n && histo_goes_on(pace, 1); i++)
        upto[i] = s.n += levels.count[i];
    return s;
}

/* Steps of about a nanosecond. */
enum { A_QUANTILE = 128 };

histo_status histo_hist_quantiles(const histo_hist *hist, histo_quantile_rule rule, int n, const double *q,
                                  double *values)
{
    HISTO_STANDARD_FLOATS;
    double none;
    histo_status status = histo_quantile_check(rule, n, q);
    if (status == HISTO_OK) status = histo_numbers_check(hist, 1, n ? values : &none, "quantiles");
    if (status != HISTO_OK || n == 0) return status;
    histo_occupied all;
    status = histo_occupied_read(&all, hist, HISTO_FLOW);
    uint64_t *upto = NULL;
    if (status == HISTO_OK) {
        const size_t bytes = ((size_t)all.size + 1) * sizeof *upto;
        upto = histo_malloc(bytes);
        if (!upto) status = histo_fail_memory(bytes, "cumulative counts");
    }
    const histo_axis axis = histo_hist_axis(hist, 0);
    const int64_t batch = histo_hist_batch(hist);
    histo_pace pace = {.stage = "finding quantiles", .all = 2 * all.size + batch * n * A_QUANTILE};
    for (int64_t b = 0; b < batch && status == HISTO_OK; b++) {
        const sorted_samples s = sort_samples(&axis, histo_occupied_next(&all, &pace), upto, &pace);
        for (int i = 0; i < n && histo_goes_on(&pace, A_QUANTILE); i++)
            values[b * n + i] = quantile_of(&s, rule, q[i]);
        status = pace.status;
    }
    histo_free(upto);
    histo_occupied_release(&all);
    return status;
}
