#include "count/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "count/order/exact_sum.h"
#include "options/values.h"

/* Projecting a sparse histogram needs memory for all bins. */
enum { MOST_BINS_OF_MANY_AXES = 1 << 22 };

static int fault_memory(fault *f)
{
    return fault_set(f, EXIT_DATA, "no memory for the statistics: leave --stats out, or count fewer histograms");
}

static void set_moments(statistics *s, const series *counted, const table *t, int a)
{
    /* Integer axes are made for integers, so their bins are values, as for histo_hist_quantiles. */
    s->values = t->axes[a].kind == HISTO_INTEGER;
    s->exact_extremes = s->exact_moments = counted->stats || (s->values && !t->under[a] && !t->over[a]);
    const histo_stats moments = counted->stats ? counted->stats[a] : table_stats(t, a, s->values);
    const uint64_t finite = moments.samples - moments.nan - moments.infinite;
    s->finite = finite > 0;
    s->min = moments.min;
    s->max = moments.max;
    s->mean = moments.mean;
    s->deviation = finite ? sqrt(moments.m2 / (double)finite) : 0;
    if (t->sum_w) s->exact_moments = counted->order && counted->order[a].is_weighted;
    if (t->sum_w && s->exact_moments) {
        s->mean = counted->order[a].numbers.mean;
        s->deviation = counted->order[a].numbers.deviation;
    }
    if (!counted->order || !counted->order[a].differs) return;
    s->order = &counted->order[a];
    if (s->order->is_weighted && s->order->narrow)
        s->mean = order_value(s->order, s->order->numbers.mean);
    else if (s->order->narrow)
        s->deviation = sqrt(s->order->stats.m2 / (double)finite);
}

/* ---- Of weighted bins ---- */

/* Sums of weights on axis a: below, the bins, above. */
static double *weights_on_axis(const table *t, int a)
{
    double *sums = calloc((size_t)t->bins[a] + 3, sizeof *sums);
    int64_t slots[HISTO_MAX_AXES];
    for (int64_t cell = -1; sums && table_next(t, &cell, slots);)
        sums[slots[a]] += t->sum_w[cell];
    return sums;
}

static double middle_of(const statistics *s, const histo_axis *axis, int64_t bin)
{
    const double lower = histo_axis_edge(axis, bin);
    return s->values ? lower : lower / 2 + histo_axis_edge(axis, bin + 1) / 2;
}

/* Compared exactly when close: 7 of 100 are 7 %, but 0.07 * 100 in doubles is above 7. */
static bool reaches(double sum, double q, double all)
{
    exact_sum part = {0}, whole = {0};
    if (!isfinite(all) || fabs(sum - q * all) > 0x1p-30 * all) return sum >= q * all;
    exact_sum_add(&part, sum);
    exact_sum_add(&whole, all);
    return exact_sum_reaches(&part, decimal_of_percent(q), &whole);
}

/* Where the sums reach the share q of the total, with the weights of a bin spread evenly, unless the bin is one
 * value. */
static double quantile_of_weights(const statistics *s, const histo_axis *axis, const double *sums, double q)
{
    double all = 0, sum = 0;
    for (int64_t i = 0; i < axis->bins + 2; i++)
        all += sums[i];
    if (!(all > 0)) return NAN;
    for (int64_t i = 0; i < axis->bins + 2; i++) {
        const double before = sum;
        sum += sums[i];
        if (!(sum > 0) || !reaches(sum, q, all)) continue;
        if (i == 0 || i > axis->bins) return i == 0 ? -(double)INFINITY : (double)INFINITY;
        const double lower = histo_axis_edge(axis, i - 1), upper = histo_axis_edge(axis, i);
        const double share = fmin(fmax((q * all - before) / sums[i], 0), 1);
        return s->values ? lower : lower + share * (upper - lower);
    }
    return NAN;
}

/* Compute mean and deviation unless they are known, the mode, and the entropy of sums that are not negative. */
static void summarize_weights(statistics *s, const histo_axis *axis, const double *sums)
{
    double all = 0, mean = 0, squares = 0;
    int64_t mode = 0;
    bool negative = false;
    s->mode = s->entropy = NAN;
    for (int64_t b = 0; b < axis->bins; b++) {
        all += sums[b + 1];
        negative = negative || sums[b + 1] < 0;
        if (sums[b + 1] > sums[mode + 1]) mode = b;
    }
    if (!(all > 0)) return;
    s->mode = middle_of(s, axis, mode);
    s->entropy = negative ? (double)NAN : 0;
    for (int64_t b = 0; b < axis->bins; b++) {
        const double share = sums[b + 1] / all;
        mean += share * middle_of(s, axis, b);
        if (share > 0) s->entropy -= share * log2(share);
    }
    for (int64_t b = 0; b < axis->bins; b++)
        squares += sums[b + 1] / all * (middle_of(s, axis, b) - mean) * (middle_of(s, axis, b) - mean);
    if (s->exact_moments) return;
    s->mean = mean;
    s->deviation = sqrt(squares);
}

static void set_mode(statistics *s, const histo_axis *axis, const histo_summary *summary)
{
    s->entropy = summary->entropy;
    s->mode = NAN;
    if (summary->mode < 0) return;
    const double lower = histo_axis_edge(axis, summary->mode), upper = histo_axis_edge(axis, summary->mode + 1);
    s->mode = axis->kind == HISTO_INTEGER ? lower : lower / 2 + upper / 2;
}

/* Clamp an estimate to the range of the samples, unless it is only known to be beyond the axis. */
static double among(const statistics *s, double estimate)
{
    if (!s->exact_extremes || !s->finite || isinf(estimate)) return estimate;
    return fmin(fmax(estimate, s->min), s->max);
}

/* Derive from the weights of bins what is not known exactly. */
static int read_weights(statistics *s, const statistics_list *list, const table *t, int a, fault *f)
{
    const histo_axis *axis = &t->axes[a];
    double *sums = weights_on_axis(t, a);
    if (!sums) return fault_memory(f);
    for (int k = 0; k < list->n && !s->exact_quantiles; k++)
        s->quantiles[k] = among(s, quantile_of_weights(s, axis, sums, list->q[k]));
    if (isfinite(axis->lo) && isfinite(axis->hi)) summarize_weights(s, axis, sums);
    free(sums);
    return 0;
}

/* Statistics of the bins of one axis, for all entries of a batch, whose first is series `first`. */
static int read_batch(statistics_list *list, const result *r, const table *tables, int first, int a, fault *f)
{
    histo_hist *hist = r->series[first].hist, *alone = NULL;
    const int naxes = histo_hist_naxes(hist);
    const size_t batch = (size_t)histo_hist_batch(hist), n = (size_t)list->n;
    const histo_axis axis = histo_hist_axis(r->series[first].hist, a);
    const bool finite_edges = isfinite(axis.lo) && isfinite(axis.hi);
    const bool too_long = naxes > 1 && axis.bins > MOST_BINS_OF_MANY_AXES;
    double *quantiles = malloc(batch * n * sizeof *quantiles + 1);
    histo_summary *summaries = malloc(batch * sizeof *summaries);
    int failed = quantiles && summaries ? 0 : fault_memory(f);
    if (!failed && naxes > 1 && !too_long && histo_hist_project(hist, 1, &a, &alone) != HISTO_OK)
        failed = fault_of_library(f, EXIT_DATA, "the statistics");
    if (alone) hist = alone;
    if (!failed && !too_long &&
        histo_hist_quantiles(hist, HISTO_QUANTILE_LINEAR, list->n, list->q, quantiles) != HISTO_OK)
        failed = fault_of_library(f, EXIT_DATA, "the statistics");
    if (!failed && finite_edges && !too_long && histo_hist_summarize(hist, summaries) != HISTO_OK)
        failed = fault_of_library(f, EXIT_DATA, "the statistics");
    for (size_t b = 0; b < batch && !failed; b++) {
        statistics *s = &list->items[((size_t)first + b) * (size_t)naxes + (size_t)a];
        const sample_order *order = r->series[(size_t)first + b].order;
        const double *exact = order ? order[a].quantiles : NULL;
        s->exact_quantiles = exact || (s->values && !tables[(size_t)first + b].sum_w);
        for (size_t k = 0; k < n; k++)
            s->quantiles[k] = exact ? exact[k] : too_long ? (double)NAN : among(s, quantiles[b * n + k]);
        if (s->order && s->order->narrow && exact)
            for (size_t k = 0; k < n; k++)
                s->quantiles[k] = order_value(s->order, exact[k]);
        s->mode = s->entropy = NAN;
        if (finite_edges && !too_long) set_mode(s, &axis, &summaries[b]);
        if (tables[(size_t)first + b].sum_w) failed = read_weights(s, list, &tables[(size_t)first + b], a, f);
        const bin_names *names = result_bin_names(r, first + (int)b, a);
        if (!names) continue;
        s->finite = false;
        if (!isnan(s->mode)) s->word = names->text[(int64_t)s->mode];
    }
    histo_hist_destroy(alone);
    free(quantiles);
    free(summaries);
    return failed;
}

int statistics_read(statistics_list *list, const result *r, const table *tables, const char *quantiles, fault *f)
{
    const int naxes = result_naxes(r);
    const size_t count = (size_t)r->count * (size_t)naxes;
    *list = (statistics_list){0};
    list->n = value_quantiles(quantiles, &list->q, f);
    if (list->n < 0) return -1;
    list->items = calloc(count, sizeof *list->items);
    list->quantiles = malloc(count * (size_t)list->n * sizeof *list->quantiles);
    if (!list->items || !list->quantiles) return fault_memory(f);
    for (size_t i = 0; i < count; i++) {
        const int of_series = (int)i / naxes, a = (int)i % naxes;
        list->items[i].quantiles = list->quantiles + i * (size_t)list->n;
        set_moments(&list->items[i], &r->series[of_series], &tables[of_series], a);
    }
    for (int i = 0; i < r->count; i++)
        for (int a = 0; a < naxes && !r->series[i].shares_hist; a++)
            if (read_batch(list, r, tables, i, a, f) != 0) return -1;
    return 0;
}

void statistics_free(statistics_list *list)
{
    free(list->q);
    free(list->items);
    free(list->quantiles);
    *list = (statistics_list){0};
}
