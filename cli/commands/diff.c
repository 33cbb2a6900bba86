/* histo diff: the bins in which saved histograms differ. The exit status is that of diff: 0 if they are equal, 1 if
 * they differ, 2 for trouble. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/failure.h"
#include "output/labels.h"
#include "output/rows.h"
#include "output/saved/merge.h"
#include "output/saved/merge_names.h"
#include "output/saved/saved.h"

/* Series of the same name in both files. */
typedef struct pair {
    const char *paths[2];
    const series *series[2];
    const char *name; /* NULL: the only series */
} pair;

/* The differences so far. */
typedef struct difference {
    rows *to; /* NULL: only find out whether they differ */
    bool begun;
    uint64_t bins;
} difference;

/* ---- Axes ----------------------------------------------------------------------------------------------- */

static int fault_axes(const pair *p, int a, const char *what, const char *first, const char *second, fault *f)
{
    char axis[40] = "";
    if (histo_hist_naxes(p->series[0]->hist) > 1) snprintf(axis, sizeof axis, " of axis %d", a);
    return fault_set(f, EXIT_USAGE,
                     "%.120s and %.120s%s%.60s have other bins: %s%s %s in the first, %s in the second%s", p->paths[0],
                     p->paths[1], p->name ? ", " : "", p->name ? p->name : "", what, axis, first, second,
                     strcmp(what, "there are") == 0 ? ": --rebin joins those that have common edges" : "");
}

static int check_axis(const pair *p, int a, fault *f)
{
    char first[TEXT_NUMBER_BYTES], second[TEXT_NUMBER_BYTES], what[64];
    const histo_axis x = histo_hist_axis(p->series[0]->hist, a), y = histo_hist_axis(p->series[1]->hist, a);
    if (x.bins != y.bins)
        return fault_axes(p, a, "there are", text_count((uint64_t)x.bins, first), text_count((uint64_t)y.bins, second),
                          f);
    for (int64_t i = 0; i <= x.bins; i++) {
        const double edge = histo_axis_edge(&x, i), other = histo_axis_edge(&y, i);
        if (edge == other) continue;
        snprintf(what, sizeof what, "edge %" PRId64 " is", i);
        return fault_axes(p, a, what, text_exact(edge, first), text_exact(other, second), f);
    }
    if (x.closed != y.closed)
        return fault_axes(p, a, "the last bin", x.closed ? "has its upper edge" : "lacks its upper edge",
                          y.closed ? "has it" : "lacks it", f);
    return 0;
}

static int check_pair(const pair *p, fault *f)
{
    const histo_hist *x = p->series[0]->hist, *y = p->series[1]->hist;
    if (histo_hist_naxes(x) != histo_hist_naxes(y))
        return fault_set(f, EXIT_USAGE, "%.200s has a histogram of %d ax%ss and %.200s one of %d", p->paths[0],
                         histo_hist_naxes(x), histo_hist_naxes(x) == 1 ? "i" : "e", p->paths[1], histo_hist_naxes(y));
    if ((histo_hist_weighting(x) == HISTO_UNWEIGHTED) != (histo_hist_weighting(y) == HISTO_UNWEIGHTED))
        return fault_set(f, EXIT_USAGE, "%.200s has weights, and %.200s has none",
                         p->paths[histo_hist_weighting(x) == HISTO_UNWEIGHTED],
                         p->paths[histo_hist_weighting(x) != HISTO_UNWEIGHTED]);
    if (series_differ_in_names(p->series[0], p->series[1]))
        return fault_set(f, EXIT_USAGE, "%.200s and %.200s have bins of different strings", p->paths[0], p->paths[1]);
    for (int a = 0; a < histo_hist_naxes(x); a++)
        if (check_axis(p, a, f) != 0) return -1;
    return 0;
}

/* Merge bins of the finer axis, if a whole number of them makes a bin of the other. */
static int rebin(result results[2], int i, int k, fault *f)
{
    series *pair_of[2] = {&results[0].series[i], &results[1].series[k]};
    for (int a = 0; a < histo_hist_naxes(pair_of[0]->hist) && a < histo_hist_naxes(pair_of[1]->hist); a++) {
        const int64_t bins[] = {histo_hist_axis(pair_of[0]->hist, a).bins, histo_hist_axis(pair_of[1]->hist, a).bins};
        const int finer = bins[1] > bins[0];
        if (bins[0] == bins[1] || bins[finer] % bins[1 - finer]) continue;
        histo_hist *coarse;
        if (histo_hist_rebin(pair_of[finer]->hist, a, bins[finer] / bins[1 - finer], &coarse) != HISTO_OK)
            return fault_of_library(f, EXIT_DATA, results[finer].title);
        histo_hist_destroy(pair_of[finer]->hist);
        pair_of[finer]->hist = coarse;
    }
    return 0;
}

/* ---- Cells ---------------------------------------------------------------------------------------------- */

static void put_edge(rows *to, const histo_axis *axis, int64_t slot)
{
    if (slot == axis->bins + 3)
        rows_number(to, (double)NAN);
    else
        rows_number(to, slot < 0 ? -INFINITY : slot > axis->bins ? INFINITY : histo_axis_edge(axis, slot));
}

static void begin(difference *d, const pair *p, const table *t)
{
    static char names[2 * HISTO_MAX_AXES][24];
    const char *columns[2 * HISTO_MAX_AXES + 7];
    int n = 0;
    if (d->begun) return;
    d->begun = true;
    if (p->name) columns[n++] = "name";
    for (int a = 0; a < t->naxes; a++)
        for (int end = 0; end < 2; end++) {
            char *name = names[2 * a + end];
            if (t->naxes == 1)
                strcpy(name, end ? "hi" : "lo");
            else
                snprintf(name, sizeof names[0], "axis%d_%s", a, end ? "hi" : "lo");
            columns[n++] = name;
        }
    columns[n++] = "first";
    columns[n++] = "second";
    columns[n++] = "difference";
    rows_begin(d->to, columns, n);
}

static void put_values(rows *to, double first, double second)
{
    rows_number(to, first);
    rows_number(to, second);
    rows_number(to, second - first);
}

/* Print a cell that differs. Counts below 2^53 are printed exactly. */
static void put_cell(difference *d, const pair *p, const table *t, const int64_t *slots, double first, double second)
{
    d->bins++;
    if (!d->to) return;
    begin(d, p, t);
    if (p->name) rows_text(d->to, p->name);
    for (int a = 0; a < t->naxes; a++) {
        const bin_names *words = p->series[0]->forms[a].names;
        for (int end = 0; end < 2; end++)
            if (words)
                rows_text(d->to, slots[a] >= 1 && slots[a] <= words->count ? words->text[slots[a] - 1] : "");
            else
                put_edge(d->to, &t->axes[a], slots[a] == t->bins[a] + 2 ? t->bins[a] + 3 : slots[a] - 1 + end);
    }
    put_values(d->to, first, second);
}

static void put_masked(difference *d, const pair *p, const table *const t[2])
{
    if (t[0]->masked == t[1]->masked) return;
    d->bins++;
    if (!d->to) return;
    begin(d, p, t[0]);
    if (p->name) rows_text(d->to, p->name);
    for (int e = 0; e < 2 * t[0]->naxes; e++)
        rows_text(d->to, "masked");
    put_values(d->to, (double)t[0]->masked, (double)t[1]->masked);
}

static bool cells_differ(const table *const t[2], const int64_t at[2])
{
    const bool has[] = {at[0] >= 0, at[1] >= 0};
    const uint64_t counts[] = {has[0] ? t[0]->counts[at[0]] : 0, has[1] ? t[1]->counts[at[1]] : 0};
    if (counts[0] != counts[1] || !t[0]->sum_w || !has[0] || !has[1]) return counts[0] != counts[1];
    const bool squares = t[0]->sum_w2 && t[1]->sum_w2;
    return t[0]->sum_w[at[0]] != t[1]->sum_w[at[1]] || (squares && t[0]->sum_w2[at[0]] != t[1]->sum_w2[at[1]]);
}

static double value_of(const table *t, int64_t at)
{
    return at < 0 ? 0 : table_value(t, at);
}

/* All cells of both in order; sparse tables lack empty cells. */
static void put_pair(difference *d, const pair *p, const table *const t[2])
{
    int64_t slots[2][HISTO_MAX_AXES], cell[2] = {-1, -1};
    bool more[] = {table_next(t[0], &cell[0], slots[0]), table_next(t[1], &cell[1], slots[1])};
    while (more[0] || more[1]) {
        int order = !more[0] ? 1 : !more[1] ? -1 : 0; /* which comes first: -1, 1; 0: both */
        for (int a = 0; a < t[0]->naxes && order == 0; a++)
            order = (slots[0][a] > slots[1][a]) - (slots[0][a] < slots[1][a]);
        const int64_t at[] = {order <= 0 ? cell[0] : -1, order >= 0 ? cell[1] : -1};
        if (cells_differ(t, at)) put_cell(d, p, t[0], slots[order > 0], value_of(t[0], at[0]), value_of(t[1], at[1]));
        for (int i = 0; i < 2; i++)
            if (at[i] >= 0) more[i] = table_next(t[i], &cell[i], slots[i]);
    }
}

/* ---- Files ---------------------------------------------------------------------------------------------- */

static int diff_series(const settings *s, difference *d, result results[2], int i, int k, fault *f)
{
    char name[320];
    pair p = {.paths = {s->files[0], s->files[1]},
              .series = {&results[0].series[i], &results[1].series[k]},
              .name = results[0].count > 1 ? label_of_series(&results[0], i, name, sizeof name) : NULL};
    if (s->rebin && rebin(results, i, k, f) != 0) return -1;
    if (check_pair(&p, f) != 0) return -1;
    const result alone[] = {{.count = 1, .series = &results[0].series[i]},
                            {.count = 1, .series = &results[1].series[k]}};
    table *tables[2] = {tables_read(&alone[0], TABLE_OF_OCCUPIED, f), NULL};
    if (tables[0]) tables[1] = tables_read(&alone[1], TABLE_OF_OCCUPIED, f);
    if (tables[1]) {
        put_pair(d, &p, (const table *const[]){tables[0], tables[1]});
        put_masked(d, &p, (const table *const[]){tables[0], tables[1]});
    }
    const int failed = tables[1] ? 0 : -1;
    tables_free(tables[0], &alone[0]);
    tables_free(tables[1], &alone[1]);
    return failed;
}

static int diff(const settings *s, result results[2], difference *d, fault *f)
{
    if (s->files_count != 2)
        return fault_set(f, EXIT_USAGE, "diff takes two saved histograms, as in histo diff a.json b.json");
    for (int i = 0; i < 2; i++) {
        if (saved_load(s->files[i], &results[i], f) != 0) return -1;
        if (!s->quiet) saved_remark(&results[i], s->files[i]);
    }
    if (results[0].count != results[1].count)
        return fault_set(f, EXIT_USAGE, "%.250s holds %d histogram%s and %.250s %d: diff takes files of the same ones",
                         s->files[0], results[0].count, results[0].count == 1 ? "" : "s", s->files[1],
                         results[1].count);
    for (int i = 0; i < results[0].count; i++) {
        char name[320];
        const int k = series_find(&results[1], &results[0], i);
        if (k < 0)
            return fault_set(f, EXIT_USAGE, "%.250s has no histogram '%.60s', which %.250s has", s->files[1],
                             label_of_series(&results[0], i, name, sizeof name), s->files[0]);
        if (diff_series(s, d, results, i, k, f) != 0) return -1;
    }
    return 0;
}

int command_diff(const settings *s)
{
    enum { EQUAL = 0, DIFFERENT = 1, TROUBLE = 2 };
    fault f = {0};
    rows to = {0};
    result results[2] = {{0}, {0}};
    difference d = {.to = s->quiet ? NULL : &to};
    int failed = s->quiet ? 0 : rows_open(&to, s, &f);
    if (!failed) failed = diff(s, results, &d, &f);
    if (!failed && !s->quiet && (d.begun || s->output)) failed = rows_commit(&to, &f);
    rows_close(&to);
    for (int i = 0; i < 2; i++)
        result_free(&results[i]);
    if (failed) fault_report(&f);
    return failed ? TROUBLE : d.bins ? DIFFERENT : EQUAL;
}
