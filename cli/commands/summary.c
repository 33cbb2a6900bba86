/* histo summary: moments, extremes, entropy and mode of samples or of saved histograms. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "count/count.h"
#include "count/statistics.h"
#include "output/labels.h"
#include "output/rows.h"
#include "output/saved/merge.h"
#include "output/saved/saved.h"

typedef struct numbers {
    uint64_t count;
    double sum_w; /* sum of weights, which weigh everything but the extremes; NaN without weights */
    double mean, variance, deviation, skewness, kurtosis, entropy, min, max, mode;
    axis_form form;
    int64_t distinct;          /* number of distinct words; 0: numbers */
    const sample_order *order; /* for integers that doubles cannot represent; else NULL */
} numbers;

/* From the samples themselves; for saved histograms, skewness and kurtosis remain those of the bins. */
static void set_moments(numbers *to, const histo_stats *samples, const sample_order *order)
{
    const bool differs = order && order->differs;
    const histo_stats *stats = differs && order->narrow ? &order->stats : samples;
    const double n = (double)(stats->samples - stats->nan - stats->infinite), variance = stats->m2 / n;
    to->count = stats->samples - stats->nan - stats->infinite;
    to->mean = stats->mean;
    to->variance = variance;
    if (!isnan(stats->m3)) to->skewness = stats->m3 / n / (variance * sqrt(variance));
    if (!isnan(stats->m4)) to->kurtosis = stats->m4 / n / (variance * variance) - 3;
    to->deviation = sqrt(variance);
    to->min = samples->min;
    to->max = samples->max;
    to->order = differs ? order : NULL;
}

/* The number of distinct words, their total count, and the mode. */
static int count_words(const result *r, int i, numbers *to, fault *f)
{
    series alone = r->series[i];
    const result one = {.count = 1, .series = &alone};
    const bin_names *names = to->form.names;
    table *t = tables_read(&one, TABLE_OF_OCCUPIED, f);
    if (!t) return -1;
    for (int64_t b = 0; b < t->bins[0]; b++)
        if (t->counts[b + 1] > 0) to->distinct += names->others && b == names->count - 1 ? names->others : 1;
    tables_free(t, &one);
    return 0;
}

static int summarize(const result *r, int i, bool conditions, numbers *to, fault *f)
{
    const series *summarized = &r->series[i];
    histo_summary *all = malloc((size_t)histo_hist_batch(summarized->hist) * sizeof *all);
    if (!all) return fault_set(f, EXIT_DATA, "no memory for the summaries");
    const bool read = histo_hist_summarize(summarized->hist, all) == HISTO_OK;
    const histo_summary s = read ? all[summarized->entry] : (histo_summary){0};
    free(all);
    if (!read) return fault_of_library(f, EXIT_DATA, r->title);
    if (s.count == 0 && r->count > 1) { /* a group may be empty */
        *to = (numbers){0, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, summarized->forms[0], 0, NULL};
        return 0;
    }
    if (s.count == 0)
        return fault_set(f, EXIT_DATA,
                         conditions ? "%s: --where leaves no row with a finite number"
                                    : "%s holds no unmasked finite samples",
                         r->title);
    const histo_axis axis = histo_hist_axis(summarized->hist, 0);
    const bool values = axis.kind == HISTO_INTEGER;
    const double mode = histo_axis_edge(&axis, s.mode);
    *to = (numbers){.count = s.count,
                    .sum_w = NAN,
                    .mean = s.mean,
                    .variance = s.variance,
                    .skewness = s.skewness,
                    .kurtosis = s.kurtosis,
                    .entropy = s.entropy,
                    .min = histo_axis_edge(&axis, s.first),
                    .max = histo_axis_edge(&axis, values ? s.last : s.last + 1),
                    .mode = values ? mode : 0.5 * mode + 0.5 * histo_axis_edge(&axis, s.mode + 1),
                    .form = summarized->forms[0]};
    if (to->form.names) return count_words(r, i, to, f);
    to->deviation = sqrt(s.variance);
    if (summarized->stats) set_moments(to, &summarized->stats[0], summarized->order);
    return 0;
}

static double sum_over_bins(const table *t)
{
    double sum = 0;
    for (int64_t b = 0; b < t->bins[0]; b++)
        sum += t->sum_w[b + 1];
    return sum;
}

/* Take weights into account. */
static void weigh_series(const result *r, int i, const table *t, const statistics *weighed, numbers *to)
{
    const sample_order *order = r->series[i].order;
    to->sum_w = sum_over_bins(t);
    to->mode = weighed->mode;
    to->entropy = order && order->numbers.any_negative ? (double)NAN : weighed->entropy;
    if (to->form.names) return;
    to->mean = order && order->is_weighted ? order->numbers.mean : weighed->mean;
    to->variance = weighed->deviation * weighed->deviation;
    to->deviation = weighed->deviation;
    to->skewness = order && order->is_weighted ? order->numbers.skewness : (double)NAN;
    to->kurtosis = order && order->is_weighted ? order->numbers.kurtosis : (double)NAN;
}

static int weigh(const result *r, numbers *all, fault *f)
{
    statistics_list list = {0};
    table *tables = tables_read(r, TABLE_OF_OCCUPIED, f);
    int failed = tables ? statistics_read(&list, r, tables, NULL, f) : -1;
    for (int i = 0; i < r->count && !failed; i++)
        weigh_series(r, i, &tables[i], &list.items[i], &all[i]);
    statistics_free(&list);
    tables_free(tables, r);
    return failed;
}

/* Words have no moments. */
static void print(const numbers *s, bool with_words, bool with_numbers, rows *to)
{
    const bool words = s->distinct > 0;
    char text[TEXT_NUMBER_BYTES];
    const double none = (double)NAN;
    rows_count(to, s->count);
    if (!isnan(s->sum_w)) rows_number(to, s->sum_w);
    if (with_words && words) rows_count(to, (uint64_t)s->distinct);
    if (with_words && !words) rows_number(to, none);
    if (with_numbers) {
        if (s->order && s->order->narrow)
            rows_digits(to, order_text_of_difference(s->order, s->mean, text));
        else
            rows_value(to, &s->form, words ? none : s->mean);
        rows_difference(to, &s->form, words ? none : s->deviation);
        rows_number(to, words ? none : s->skewness);
        rows_number(to, words ? none : s->kurtosis);
    }
    rows_number(to, s->entropy);
    if (with_numbers && s->order) {
        rows_digits(to, order_text_of_integer(s->order, s->order->min, text));
        rows_digits(to, order_text_of_integer(s->order, s->order->max, text));
    } else if (with_numbers) {
        rows_value(to, &s->form, words ? none : s->min);
        rows_value(to, &s->form, words ? none : s->max);
    }
    if (words)
        rows_text(to, s->form.names->text[(int64_t)s->mode]);
    else
        rows_value(to, &s->form, s->mode);
}

/* Begin the columns, omitting those for words or numbers if there are none. */
static void begin(const result *r, bool with_words, bool with_numbers, rows *to)
{
    const bool weighted = result_is_weighted(r);
    const struct {
        const char *name;
        bool of_words, of_numbers;
    } columns[] = {{"count", true, true},     {"sum_w", weighted, weighted}, {"distinct", true, false},
                   {"mean", false, true},     {"std", false, true},          {"skewness", false, true},
                   {"kurtosis", false, true}, {"entropy", true, true},       {"min", false, true},
                   {"max", false, true},      {"mode", true, true}};
    const char *names[1 + sizeof columns / sizeof *columns];
    int count = 0;
    if (r->count > 1) names[count++] = "name";
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        if ((with_words && columns[i].of_words) || (with_numbers && columns[i].of_numbers))
            names[count++] = columns[i].name;
    rows_begin(to, names, count);
}

/* Print the number of samples that the statistics leave out. */
static void remark_not_finite(const settings *s, const result *r)
{
    uint64_t nan = 0, infinite = 0;
    for (int i = 0; i < r->count; i++) {
        const histo_stats *stats = r->series[i].forms[0].names ? NULL : r->series[i].stats;
        nan += stats ? stats->nan : 0;
        infinite += stats ? stats->infinite : 0;
    }
    note_not_finite(s->files_count ? s->files[0] : "standard input", "left out", nan, infinite);
}

static int print_all(const result *r, bool conditions, rows *to, fault *f)
{
    bool with_words = false, with_numbers = false;
    numbers *all = calloc((size_t)r->count, sizeof *all);
    int failed = all ? 0 : fault_set(f, EXIT_DATA, "no memory for the summaries");
    for (int i = 0; i < r->count && !failed; i++) {
        failed = summarize(r, i, conditions, &all[i], f);
        with_words = with_words || r->series[i].forms[0].names;
        with_numbers = with_numbers || !r->series[i].forms[0].names;
    }
    if (!failed && result_is_weighted(r)) failed = weigh(r, all, f);
    if (!failed) begin(r, with_words, with_numbers, to);
    for (int i = 0; i < r->count && !failed; i++) {
        char name[320];
        if (r->count > 1) rows_text(to, label_of_series(r, i, name, sizeof name));
        print(&all[i], with_words, with_numbers, to);
    }
    free(all);
    return failed;
}

/* The range of the bins is that of the samples, so a search for it fails only if there are none. */
static int count_finite(const settings *s, result *r, fault *f)
{
    fault searching = {0};
    if (count_files(s, MOMENTS_ALL, r, &searching) == 0) return 0;
    if (s->conditions_count ||
        (!strstr(searching.text, "no finite sample") && !strstr(searching.text, "holds no samples")))
        return fault_set(f, searching.status, "%s", searching.text);
    return fault_set(f, EXIT_DATA, "%s holds no unmasked finite samples",
                     s->files_count ? s->files[0] : "standard input");
}

static int print_summary(const settings *s, rows *to, fault *f)
{
    result r = {0};
    settings counted = *s;
    counted.every_value = true;
    counted.every_word = counted.exact = true;
    counted.reproducible = counted.weights;
    const bool saved = s->files_count && saved_is_file(s->files[0]);
    int failed = saved ? saved_refuse_samples(s, f) : 0;
    if (!failed) failed = saved ? saved_merge(s->files, s->files_count, &r, f) : count_finite(&counted, &r, f);
    if (!failed && !s->quiet) saved_remark(&r, r.title);
    if (!failed) failed = print_all(&r, s->conditions_count > 0, to, f);
    if (!failed && !s->quiet) remark_not_finite(s, &r);
    result_free(&r);
    return failed;
}

int command_summary(const settings *s)
{
    return rows_command(s, print_summary);
}
