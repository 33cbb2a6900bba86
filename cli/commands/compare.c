/* histo compare: distances between two files or saved histograms, counted on the same bins. */
#include <math.h>
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
    double scale; /* their counts are sums of weights times this */
} both;

static int fault_alike(const settings *s, fault *f)
{
    char subject[600];
    snprintf(subject, sizeof subject, "%.280s and %.280s cannot be compared", s->files[0], s->files[1]);
    return fault_of_library(f, EXIT_DATA, subject);
}

/* 0 and the value; 1 if the metric does not apply to histograms with this many axes and was not requested; or -1. */
static int measure(const settings *s, const both *pair, histo_metric metric, double *value, fault *f)
{
    const bool ordered = metric == HISTO_KOLMOGOROV || metric == HISTO_EARTH_MOVER;
    if (ordered && !s->metric && (histo_hist_naxes(pair->series[0]->hist) > 1 || pair->series[0]->forms[0].names))
        return 1;
    const int64_t batch = histo_hist_batch(pair->series[0]->hist);
    double *values = malloc((size_t)batch * sizeof *values);
    if (!values) return fault_set(f, EXIT_DATA, "no memory for the metrics");
    const bool read = histo_hist_compare(pair->series[0]->hist, pair->series[1]->hist, metric, values) == HISTO_OK;
    const bool of_counts = metric == HISTO_CHI_SQUARE || metric == HISTO_CHI_SQUARE_ALT; /* counts, not shares */
    if (read) *value = values[pair->series[0]->entry] / (of_counts ? pair->scale : 1);
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

/* Check that the bins of both are numbers, dates, or the same words. */
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

/* Compute all metrics of a pair before printing the first. */
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

/* Whether a group has samples in both files; otherwise a note is printed. */
static bool in_both(const settings *s, const both *pair, const char *group)
{
    for (int i = 0; i < 2; i++) {
        histo_tally tally;
        if (histo_hist_tally(pair->series[i]->hist, &tally) != HISTO_OK || tally.bins > 0) continue;
        if (!s->quiet) note("%s has no samples of %s in the bins, which is left out", s->files[i], group);
        return false;
    }
    return true;
}

static int print(const settings *s, const result *a, int first_a, const result *b, int first_b, int count, double scale,
                 rows *to, fault *f)
{
    bool begun = false;
    for (int i = 0; i < count; i++) {
        char name[320];
        const both pair = {{&a->series[first_a + i], &b->series[first_b + i]}, scale};
        const char *label = count > 1 ? label_of_series(b, first_b + i, name, sizeof name) : NULL;
        if (label && s->by && !in_both(s, &pair, label)) continue;
        if (print_pair(s, &pair, label, begun, to, f) != 0) return -1;
        begun = true;
    }
    if (begun) return 0;
    return fault_set(f, EXIT_DATA, "%s and %s have no group in common: compare others with --by", s->files[0],
                     s->files[1]);
}

static int compare_loaded(const settings *s, const result *a, const result *b, rows *to, fault *f)
{
    if (a->count != b->count)
        return fault_set(f, EXIT_DATA, "%s has %d histogram%s and %s %d: compare files with as many", s->files[0],
                         a->count, a->count == 1 ? "" : "s", s->files[1], b->count);
    return print(s, a, 0, b, 0, a->count, 1, to, f);
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
    if (!failed) failed = saved_refuse_samples(s, f);
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

/* ---- Weights ---- */

/* The factor that makes sums of weights integers: a power of 2, at least 1 if they are integers already, so large that
 * no bin loses more than 2^-62 of the total. */
static double find_scale(const table *tables, int count)
{
    double most = 0;
    bool whole = true;
    for (int i = 0; i < count; i++) {
        double sum = 0;
        for (int64_t b = 1; b <= tables[i].bins[0]; b++) {
            whole = whole && tables[i].sum_w[b] == floor(tables[i].sum_w[b]);
            sum += tables[i].sum_w[b];
        }
        most = fmax(most, sum);
    }
    return whole && most < 0x1p62 ? 1 : ldexp(1, 62 - ilogb(most) - 1);
}

/* A histogram whose counts are the scaled sums of weights of another. */
static histo_hist *counts_of_weights(const histo_hist *weighted, const table *t, double scale, fault *f)
{
    const histo_axis axis = histo_hist_axis(weighted, 0);
    histo_hist *hist = NULL;
    uint64_t *counts = malloc((size_t)t->bins[0] * sizeof *counts);
    bool good = counts && histo_hist_create(&hist, 1, &axis, NULL) == HISTO_OK;
    for (int64_t b = 0; b < t->bins[0] && good; b++) {
        const double sum = t->sum_w[b + 1];
        counts[b] = sum > 0 ? (uint64_t)fmax(nearbyint(sum * scale), 1) : 0;
        if (sum >= 0 && sum < INFINITY) continue;
        fault_set(f, EXIT_DATA, "a bin has a sum of weights of %g: distances take finite ones, from 0 on", sum);
        free(counts);
        histo_hist_destroy(hist);
        return NULL;
    }
    good = good && histo_hist_write(hist, HISTO_BINS, counts, NULL, NULL, t->bins[0], NULL) == HISTO_OK;
    free(counts);
    if (good) return hist;
    histo_hist_destroy(hist);
    fault_of_library(f, EXIT_DATA, "the weights");
    return NULL;
}

/* Replace all series by counts made of their sums of weights, for the metrics; *scale is the factor. */
static int count_weights(result *r, double *scale, fault *f)
{
    table *tables = tables_read(r, TABLE_OF_ALL, f);
    int failed = tables ? 0 : -1;
    if (!failed) *scale = find_scale(tables, r->count);
    for (int i = 0; i < r->count && !failed; i++) {
        histo_hist *hist = counts_of_weights(r->series[i].hist, &tables[i], *scale, f);
        failed = hist ? 0 : -1;
        if (failed) break;
        histo_hist_destroy(r->series[i].hist);
        r->series[i].hist = hist;
    }
    tables_free(tables, r);
    return failed;
}

static int compare_samples(const settings *s, rows *to, fault *f)
{
    result r = {0};
    double scale = 1;
    settings per_file = *s;
    per_file.per_file = true;
    per_file.every_word = per_file.every_group = true;
    per_file.reproducible = s->weights;
    int failed = count_files(&per_file, MOMENTS_NONE, &r, f);
    const int half = r.count / 2;
    if (!failed && s->weights) failed = count_weights(&r, &scale, f);
    if (!failed) failed = print(s, &r, 0, &r, half, half, scale, to, f);
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
