/* histo summary: moments, extremes, entropy and mode of samples or of saved histograms. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "count/count.h"
#include "output/labels.h"
#include "output/rows.h"
#include "output/saved.h"
#include "output/sum.h"

typedef struct numbers {
    uint64_t count;
    double mean, variance, skewness, kurtosis, entropy, min, max, mode;
} numbers;

/* Of the samples themselves. */
static void set_moments(numbers *to, const histo_stats *of)
{
    const double n = (double)(of->samples - of->nan - of->infinite), variance = of->m2 / n;
    to->count = of->samples - of->nan - of->infinite;
    to->mean = of->mean;
    to->variance = variance;
    to->skewness = of->m3 / n / (variance * sqrt(variance));
    to->kurtosis = of->m4 / n / (variance * variance) - 3;
    to->min = of->min;
    to->max = of->max;
}

static int summarize(const result *r, int i, numbers *to, fault *f)
{
    const series *it = &r->series[i];
    histo_summary *all = malloc((size_t)histo_hist_batch(it->hist) * sizeof *all);
    if (!all) return fault_set(f, EXIT_DATA, "no memory for the summaries");
    const bool read = histo_hist_summarize(it->hist, all) == HISTO_OK;
    const histo_summary s = read ? all[it->entry] : (histo_summary){0};
    free(all);
    if (!read) return fault_of_library(f, EXIT_DATA, r->title);
    if (s.count == 0)
        return fault_set(f, EXIT_DATA, "%s%s%.250s holds no unmasked finite samples", r->title,
                         r->count > 1 ? ", " : "", r->count > 1 && it->name ? it->name : "");
    const histo_axis axis = histo_hist_axis(it->hist, 0);
    const bool values = axis.kind == HISTO_INTEGER;
    const double mode = histo_axis_edge(&axis, s.mode);
    *to = (numbers){.count = s.count,
                    .mean = s.mean,
                    .variance = s.variance,
                    .skewness = s.skewness,
                    .kurtosis = s.kurtosis,
                    .entropy = s.entropy,
                    .min = histo_axis_edge(&axis, s.first),
                    .max = histo_axis_edge(&axis, values ? s.last : s.last + 1),
                    .mode = values ? mode : 0.5 * mode + 0.5 * histo_axis_edge(&axis, s.mode + 1)};
    if (it->stats && !values) set_moments(to, &it->stats[0]);
    return 0;
}

static void print(const numbers *s, rows *to)
{
    rows_count(to, s->count);
    const double values[] = {s->mean, sqrt(s->variance), s->skewness, s->kurtosis, s->entropy, s->min, s->max, s->mode};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        rows_number(to, values[i]);
}

static int print_all(const result *r, rows *to, fault *f)
{
    static const char *const columns[] = {"name",     "count",   "mean", "std", "skewness",
                                          "kurtosis", "entropy", "min",  "max", "mode"};
    const int unnamed = r->count == 1;
    numbers *of = malloc((size_t)r->count * sizeof *of);
    int failed = of ? 0 : fault_set(f, EXIT_DATA, "no memory for the summaries");
    for (int i = 0; i < r->count && !failed; i++)
        failed = summarize(r, i, &of[i], f);
    if (!failed) rows_begin(to, columns + unnamed, 10 - unnamed);
    for (int i = 0; i < r->count && !failed; i++) {
        char name[320];
        if (!unnamed) rows_text(to, label_of_series(r, i, name, sizeof name));
        print(&of[i], to);
    }
    free(of);
    return failed;
}

/* The range of the bins is that of the samples, so a search for it fails only if there is none. */
static int count_finite(const settings *s, result *r, fault *f)
{
    fault searching = {0};
    if (count_files(s, true, r, &searching) == 0) return 0;
    if (!strstr(searching.text, "no finite sample") && !strstr(searching.text, "holds no samples"))
        return fault_set(f, searching.status, "%s", searching.text);
    return fault_set(f, EXIT_DATA, "%s holds no unmasked finite samples",
                     s->files_count ? s->files[0] : "standard input");
}

static int print_summary(const settings *s, rows *to, fault *f)
{
    result r = {0};
    settings counted = *s;
    counted.every_value = true;
    const bool saved = s->files_count && saved_is_file(s->files[0]);
    int failed = saved ? saved_sum(s->files, s->files_count, &r, f) : count_finite(&counted, &r, f);
    if (!failed) failed = print_all(&r, to, f);
    result_free(&r);
    return failed;
}

int command_summary(const settings *s)
{
    return rows_command(s, print_summary);
}
