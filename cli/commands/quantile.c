/* histo quantile: quantiles of samples or of saved histograms. If a bin is a single value, they come from one
 * histogram; for other samples, from as many passes as the selection needs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "base/progress.h"
#include "count/count.h"
#include "count/order/selection.h"
#include "options/values.h"
#include "output/labels.h"
#include "output/rows.h"
#include "output/saved/merge.h"
#include "output/saved/saved.h"

/* The requested quantiles. */
typedef struct request {
    const settings *settings;
    double *q; /* [n] */
    int n;
} request;

/* The subject of the quantiles. */
typedef struct subject {
    char *name;
    axis_form form; /* without bin names */
    bool wide;      /* the samples may be integers that doubles cannot represent */
} subject;

static void free_subjects(subject *subjects, int count)
{
    for (int i = 0; i < count && subjects; i++)
        free(subjects[i].name);
    free(subjects);
}

static int fault_words(const request *wanted, const char *name, fault *f)
{
    return fault_set(
        f, EXIT_DATA,
        "%s%s%.250s holds words, which have no quantiles: histo counts them, and histo summary gives their "
        "mode and entropy",
        wanted->settings->files_count ? wanted->settings->files[0] : "standard input", name ? ", " : "",
        name ? name : "");
}

/* Print it as requested: 100 * 0.07 is 7.000000000000001. */
static void print_percent(double q, rows *to)
{
    char text[TEXT_NUMBER_BYTES];
    snprintf(text, sizeof text, "%.15g", 100 * q);
    rows_number(to, strtod(text, NULL));
}

static const char *const columns[] = {"name", "q", "value"};

/* Print values[count][n]. Fails if one of them has no samples. */
static int print(const request *wanted, const double *values, const subject *subjects, int count, rows *to, fault *f)
{
    const int unnamed = count == 1;
    for (int i = 0; i < count * wanted->n; i++)
        if (isnan(values[i]))
            return fault_set(f, EXIT_DATA,
                             wanted->settings->conditions_count ? "%s%s%s: --where leaves no row with a number"
                                                                : "%s%s%s holds no unmasked samples that are numbers",
                             wanted->settings->files_count ? wanted->settings->files[0] : "standard input",
                             unnamed ? "" : ", ", unnamed ? "" : subjects[i / wanted->n].name);
    rows_begin(to, columns + unnamed, 3 - unnamed);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < wanted->n; k++) {
            if (!unnamed) rows_text(to, subjects[i].name);
            print_percent(wanted->q[k], to);
            rows_value(to, &subjects[i].form, values[i * wanted->n + k]);
        }
    return 0;
}

/* ---- From histograms ------------------------------------------------------------------------------------- */

static int read_series(const request *wanted, const result *r, int i, double *values, fault *f)
{
    const series *s = &r->series[i];
    if (s->forms[0].names) return fault_words(wanted, s->name, f);
    const int64_t batch = histo_hist_batch(s->hist);
    double *all = malloc((size_t)batch * (size_t)wanted->n * sizeof *all);
    if (!all) return fault_set(f, EXIT_DATA, "no memory for the quantiles");
    const bool read =
        histo_hist_quantiles(s->hist, wanted->settings->quantile_rule, wanted->n, wanted->q, all) == HISTO_OK;
    if (read) memcpy(values, all + s->entry * wanted->n, (size_t)wanted->n * sizeof *values);
    free(all);
    return read ? 0 : fault_of_library(f, EXIT_DATA, r->title);
}

static int of_result(const request *wanted, const result *r, rows *to, fault *f)
{
    subject *subjects = calloc((size_t)r->count, sizeof *subjects);
    double *values = malloc((size_t)r->count * (size_t)wanted->n * sizeof *values);
    int failed = subjects && values ? 0 : fault_set(f, EXIT_DATA, "no memory for the quantiles");
    for (int i = 0; i < r->count && !failed; i++) {
        char name[320];
        subjects[i] =
            (subject){strdup(label_of_series(r, i, name, sizeof name)), {.kind = r->series[i].forms[0].kind}, false};
        failed = subjects[i].name ? read_series(wanted, r, i, values + (size_t)i * (size_t)wanted->n, f)
                                  : fault_set(f, EXIT_DATA, "no memory for the quantiles");
    }
    if (!failed) failed = print(wanted, values, subjects, r->count, to, f);
    free_subjects(subjects, r->count);
    free(values);
    return failed;
}

/* Infinite samples are included. */
static void remark_nan(const settings *s, const result *r)
{
    uint64_t nan = 0;
    for (int i = 0; i < r->count; i++)
        nan += r->series[i].stats ? r->series[i].stats->nan : 0;
    note_not_finite(s->files_count ? s->files[0] : "standard input", "left out", nan, 0);
}

/* Each value has its own bin. */
static int of_counts(const request *wanted, rows *to, fault *f)
{
    settings counted = *wanted->settings;
    counted.range = "dtype";
    result r = {0};
    int failed = count_files(&counted, MOMENTS_NONE, &r, f);
    if (!failed) failed = of_result(wanted, &r, to, f);
    result_free(&r);
    return failed;
}

static int of_saved(const request *wanted, rows *to, fault *f)
{
    result r = {0};
    int failed = saved_refuse_samples(wanted->settings, f);
    if (!failed) failed = saved_merge(wanted->settings->files, wanted->settings->files_count, &r, f);
    if (!failed && !wanted->settings->quiet) saved_remark(&r, r.title);
    if (!failed) failed = of_result(wanted, &r, to, f);
    if (!failed && !wanted->settings->quiet) remark_nan(wanted->settings, &r);
    result_free(&r);
    return failed;
}

/* ---- Of groups, and with weights ---- */

static int print_series(const request *wanted, const result *r, int i, rows *to, fault *f)
{
    const series *s = &r->series[i];
    const sample_order *order = s->order;
    const bool has_bins = !order && !wanted->settings->weights; /* if bins are single values */
    double *values = malloc((size_t)wanted->n * sizeof *values + 1);
    char name[320], text[TEXT_NUMBER_BYTES];
    int failed = values ? 0 : fault_set(f, EXIT_DATA, "no memory for the quantiles");
    if (!failed && has_bins) failed = read_series(wanted, r, i, values, f);
    if (!failed && !has_bins && (!order || !order->quantiles))
        failed = fault_set(f, EXIT_DATA, "%s has samples of several types: take the files one by one", r->title);
    for (int k = 0; k < wanted->n && !failed; k++) {
        if (r->count > 1) rows_text(to, label_of_series(r, i, name, sizeof name));
        print_percent(wanted->q[k], to);
        if (order && order->narrow && !isnan(order->quantiles[k]))
            rows_digits(to, order_text_of_difference(order, order->quantiles[k], text));
        else
            rows_value(to, &s->forms[0], order ? order->quantiles[k] : values[k]);
    }
    free(values);
    return failed;
}

/* Check that some series has quantiles; those of the others are NaN. */
static int check_series(const request *wanted, const result *r, fault *f)
{
    bool any = false;
    for (int i = 0; i < r->count; i++) {
        if (r->series[i].forms[0].names) return fault_words(wanted, r->series[i].name, f);
        const sample_order *order = r->series[i].order;
        any = any || !order || !order->quantiles || (wanted->n > 0 && !isnan(order->quantiles[0]));
    }
    if (any) return 0;
    return fault_set(f, EXIT_DATA,
                     wanted->settings->weights ? "%s has no quantiles: no number has a weight above 0, or a weight is "
                                                 "negative or not finite"
                     : wanted->settings->conditions_count ? "%s: --where leaves no row with a number"
                                                          : "%s holds no unmasked samples that are numbers",
                     r->title);
}

static int of_series(const request *wanted, rows *to, fault *f)
{
    settings counted = *wanted->settings;
    result r = {0};
    counted.bins = "1";
    counted.every_word = counted.exact = true;
    int failed = count_files(&counted, MOMENTS_ORDER, &r, f);
    if (!failed) failed = check_series(wanted, &r, f);
    if (!failed) rows_begin(to, r.count > 1 ? columns : columns + 1, r.count > 1 ? 3 : 2);
    for (int i = 0; i < r.count && !failed; i++)
        failed = print_series(wanted, &r, i, to, f);
    if (!failed && !counted.quiet) remark_nan(wanted->settings, &r);
    result_free(&r);
    return failed;
}

/* ---- From samples ---------------------------------------------------------------------------------------- */

static int name_sources(const request *wanted, const choice *c, subject *subjects, fault *f)
{
    for (int i = 0; i < c->count; i++) {
        const sample_source *s = &c->sources[i];
        if (s->as.kind == VALUES_WORDS) return fault_words(wanted, s->name, f);
        const bool wide = s->dtype == HISTO_F64 || s->dtype == HISTO_I64 || s->dtype == HISTO_U64;
        subjects[i] = (subject){
            strdup(s->name ? s->name : "0"), {.kind = s->as.kind}, .wide = wide && s->as.kind == VALUES_NUMBERS};
        if (!subjects[i].name) return fault_set(f, EXIT_DATA, "no memory for the quantiles");
    }
    return 0;
}

/* Whether any of the values is an integer that may have been rounded to a double. */
static bool reaches_far(const subject *subjects, int count, const double *values, int n)
{
    bool any = false;
    for (int i = 0; i < count * n; i++)
        any = any || (subjects[i / n].wide && isfinite(values[i]) && fabs(values[i]) >= 0x1p53);
    return any;
}

/* Returns 1 if they must be found among integers, for which `from` can be read again. */
static int select_and_print(const request *wanted, feed *from, const choice *c, bool reopens, rows *to, fault *f)
{
    const int count = c->count;
    uint64_t nan = 0;
    subject *subjects = calloc((size_t)count, sizeof *subjects);
    double *values = malloc((size_t)count * (size_t)wanted->n * sizeof *values);
    int failed = subjects && values ? name_sources(wanted, c, subjects, f)
                                    : fault_set(f, EXIT_DATA, "no memory for the quantiles");
    if (!failed)
        failed = selection_find(from, c, wanted->settings->quantile_rule, wanted->n, wanted->q, values, &nan, f);
    const bool far = !failed && reaches_far(subjects, count, values, wanted->n);
    if (far && !reopens && !wanted->settings->quiet)
        fprintf(stderr, "histo: quantiles beyond 2^53 are rounded to doubles: a file in place of the pipe gives them "
                        "exactly where they are integers\n");
    if (!failed && !(far && reopens)) failed = print(wanted, values, subjects, count, to, f);
    if (!failed && !(far && reopens) && !wanted->settings->quiet)
        note_not_finite(feed_name(from, 0), "left out", nan, 0);
    free_subjects(subjects, count);
    free(values);
    return failed ? -1 : far && reopens;
}

static bool every_value_has_a_bin(const choice *c)
{
    for (int i = 0; i < c->count; i++)
        if (c->sources[i].dtype > HISTO_I16) return false;
    return true;
}

static int of_samples(const request *wanted, rows *to, fault *f)
{
    const settings *s = wanted->settings;
    feed from = {0};
    int failed = feed_open(&from, s, true, f);
    from.forms = &from.own_forms; /* treat dates as times */
    const samples *first = failed ? NULL : feed_begin(&from, 0, f);
    const bool reopens = s->files_count > 0 && strcmp(s->files[0], "-") != 0;
    const bool counts = first && reopens && every_value_has_a_bin(samples_choice(first)) &&
                        !input_was_spooled(samples_reader(first)->in);
    if (!failed && !first) failed = -1;
    const bool again = reopens && first && !input_was_spooled(samples_reader(first)->in);
    if (!failed && !counts) failed = select_and_print(wanted, &from, samples_choice(first), again, to, f);
    feed_close(&from);
    if (failed > 0) return of_series(wanted, to, f);
    return !failed && counts ? of_counts(wanted, to, f) : failed;
}

static int print_quantile(const settings *s, rows *to, fault *f)
{
    request wanted = {.settings = s};
    wanted.n = value_quantiles(s->quantiles, &wanted.q, f);
    if (wanted.n < 0) return -1;
    if (s->weights && s->quantile_rule != HISTO_QUANTILE_LINEAR && s->quantile_rule != HISTO_QUANTILE_INVERTED_CDF)
        return free(wanted.q),
               fault_set(f, EXIT_USAGE, "weighted quantiles are those of the rule inverted_cdf: leave --rule out");
    const bool saved = s->files_count && saved_is_file(s->files[0]);
    const int failed = saved                 ? of_saved(&wanted, to, f)
                       : s->by || s->weights ? of_series(&wanted, to, f)
                                             : of_samples(&wanted, to, f);
    free(wanted.q);
    return failed;
}

int command_quantile(const settings *s)
{
    return rows_command(s, print_quantile);
}
