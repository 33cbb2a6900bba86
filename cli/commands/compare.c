/* histo compare: distances of two files or saved histograms, counted on the same bins. */
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "count/count.h"
#include "output/labels.h"
#include "output/rows.h"
#include "output/saved/merge.h"
#include "output/saved/saved.h"

static const char *const metrics[] = {"correlation",   "chi-square",    "chi-square-alt",
                                      "intersection",  "bhattacharyya", "kl-divergence",
                                      "js-divergence", "kolmogorov",    "earth-mover"};

enum { METRICS = sizeof metrics / sizeof *metrics };

/* Series i of both. */
typedef struct both {
    const series *series[2];
} both;

static int fault_alike(const settings *s, fault *f)
{
    char subject[600];
    snprintf(subject, sizeof subject, "%.280s and %.280s cannot be compared", s->files[0], s->files[1]);
    return fault_of_library(f, EXIT_DATA, subject);
}

/* 0 and the value, 1 if the metric is not for histograms of this many axes and was not asked for, or -1. */
static int measure(const settings *s, const both *pair, histo_metric metric, double *value, fault *f)
{
    const bool ordered = metric == HISTO_KOLMOGOROV || metric == HISTO_EARTH_MOVER;
    if (ordered && !s->metric && (histo_hist_naxes(pair->series[0]->hist) > 1 || pair->series[0]->forms[0].names))
        return 1;
    const int64_t batch = histo_hist_batch(pair->series[0]->hist);
    double *values = malloc((size_t)batch * sizeof *values);
    if (!values) return fault_set(f, EXIT_DATA, "no memory for the metrics");
    const bool read = histo_hist_compare(pair->series[0]->hist, pair->series[1]->hist, metric, values) == HISTO_OK;
    if (read) *value = values[pair->series[0]->entry];
    free(values);
    return read ? 0 : fault_alike(s, f);
}

static int check_counts(const settings *s, const both *pair, fault *f)
{
    for (int i = 0; i < 2; i++) {
        histo_tally tally;
        if (histo_hist_tally(pair->series[i]->hist, &tally) != HISTO_OK)
            return fault_of_library(f, EXIT_DATA, s->files[i]);
        if (tally.bins == 0) return fault_set(f, EXIT_DATA, "%s has no samples in the bins to compare", s->files[i]);
    }
    return 0;
}

/* Whether the bins of both are numbers, dates, or the same words. */
static int check_forms(const settings *s, const both *pair, fault *f)
{
    static const char *const whats[] = {[VALUES_NUMBERS] = "numbers",
                                        [VALUES_INTEGERS] = "numbers",
                                        [VALUES_WORDS] = "words",
                                        [VALUES_TIMES] = "dates"};
    for (int a = 0; a < histo_hist_naxes(pair->series[0]->hist) && a < histo_hist_naxes(pair->series[1]->hist); a++) {
        const axis_form *x = &pair->series[0]->forms[a], *y = &pair->series[1]->forms[a];
        if (x->kind != y->kind)
            return fault_set(f, EXIT_DATA, "%s has %s and %s has %s: compare what is alike", s->files[0],
                             whats[x->kind], s->files[1], whats[y->kind]);
        if (x->names && !bin_names_alike(x->names, y->names))
            return fault_set(f, EXIT_DATA,
                             "%s and %s have bins of different words: compare the files they were made of", s->files[0],
                             s->files[1]);
    }
    return 0;
}

/* All metrics of a pair are known before the first is printed. */
static int print_pair(const settings *s, const both *pair, const char *name, bool begun, rows *to, fault *f)
{
    double values[METRICS];
    int status[METRICS];
    if (check_forms(s, pair, f) != 0) return -1;
    if (check_counts(s, pair, f) != 0) return -1;
    for (int m = 0; m < METRICS; m++) {
        status[m] = s->metric && strcmp(s->metric, metrics[m]) != 0 ? 1 : 0;
        if (!status[m]) status[m] = measure(s, pair, (histo_metric)m, &values[m], f);
        if (status[m] < 0) return -1;
    }
    static const char *const columns[] = {"name", "metric", "value"};
    if (!begun) rows_begin(to, name ? columns : columns + 1, name ? 3 : 2);
    for (int m = 0; m < METRICS; m++) {
        if (status[m]) continue;
        if (name) rows_text(to, name);
        rows_text(to, metrics[m]);
        if (m == HISTO_EARTH_MOVER) /* a distance on the axis */
            rows_difference(to, &pair->series[0]->forms[0], values[m]);
        else
            rows_number(to, values[m]);
    }
    return 0;
}

static int print(const settings *s, const result *a, int first_a, const result *b, int first_b, int count, rows *to,
                 fault *f)
{
    for (int i = 0; i < count; i++) {
        char name[320];
        const both pair = {{&a->series[first_a + i], &b->series[first_b + i]}};
        const char *label = count > 1 ? label_of_series(b, first_b + i, name, sizeof name) : NULL;
        if (print_pair(s, &pair, label, i > 0, to, f) != 0) return -1;
    }
    return 0;
}

static int compare_loaded(const settings *s, const result *a, const result *b, rows *to, fault *f)
{
    if (a->count != b->count)
        return fault_set(f, EXIT_DATA, "%s has %d histogram%s and %s %d: compare files with as many", s->files[0],
                         a->count, a->count == 1 ? "" : "s", s->files[1], b->count);
    return print(s, a, 0, b, 0, a->count, to, f);
}

static int check_bins(const settings *s, fault *f)
{
    if (!s->bins && !s->range && !s->edges && !s->width && !s->log_bins) return 0;
    return fault_set(f, EXIT_USAGE,
                     "a saved histogram has its bins already: leave -b, -r, --width, --edges and --log out");
}

/* Count file i on the axes of the other, which is saved. */
static int count_alike(const settings *s, int i, const result *other, result *r, fault *f)
{
    settings alone = *s;
    alone.files = &s->files[i];
    alone.files_count = 1;
    histo_axis *axes = malloc((size_t)other->count * sizeof *axes);
    if (!axes) return fault_set(f, EXIT_DATA, "no memory for the axes");
    int failed = 0;
    for (int k = 0; k < other->count && !failed; k++) {
        axes[k] = histo_hist_axis(other->series[k].hist, 0);
        if (histo_hist_naxes(other->series[k].hist) != 1)
            failed =
                fault_set(f, EXIT_DATA, "%s has a histogram of %d axes, which can only be compared with saved ones",
                          s->files[1 - i], histo_hist_naxes(other->series[k].hist));
    }
    if (!failed) failed = count_on(&alone, axes, other->count, r, f);
    free(axes);
    return failed;
}

static int compare_saved(const settings *s, const bool saved[2], rows *to, fault *f)
{
    result results[2] = {{0}, {0}};
    const int first = saved[0] ? 0 : 1, second = 1 - first;
    int failed = check_bins(s, f);
    if (!failed) failed = saved_load(s->files[first], &results[first], f);
    if (!failed)
        failed = saved[second] ? saved_load(s->files[second], &results[second], f)
                               : count_alike(s, second, &results[first], &results[second], f);
    for (int i = 0; i < 2 && !failed && !s->quiet; i++)
        if (saved[i]) saved_remark(&results[i], s->files[i]);
    if (!failed) failed = compare_loaded(s, &results[0], &results[1], to, f);
    result_free(&results[0]);
    result_free(&results[1]);
    return failed;
}

static int compare_samples(const settings *s, rows *to, fault *f)
{
    result r = {0};
    settings per_file = *s;
    per_file.per_file = true;
    per_file.every_word = true;
    int failed = count_files(&per_file, MOMENTS_NONE, &r, f);
    const int half = r.count / 2;
    if (!failed) failed = print(s, &r, 0, &r, half, half, to, f);
    result_free(&r);
    return failed;
}

static int print_compare(const settings *s, rows *to, fault *f)
{
    if (s->files_count != 2)
        return fault_set(f, EXIT_USAGE, "compare takes two files or saved histograms, as in histo compare a.tif b.tif");
    const bool saved[] = {saved_is_file(s->files[0]), saved_is_file(s->files[1])};
    return saved[0] || saved[1] ? compare_saved(s, saved, to, f) : compare_samples(s, to, f);
}

int command_compare(const settings *s)
{
    return rows_command(s, print_compare);
}
