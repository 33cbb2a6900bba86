/* histo quantile: quantiles of samples or of saved histograms. Where a bin is a value, they come from one histogram; of
 * other samples from as many passes as the selection needs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "base/progress.h"
#include "count/count.h"
#include "options/values.h"
#include "output/labels.h"
#include "output/rows.h"
#include "output/saved.h"
#include "output/sum.h"

/* What is asked for. */
typedef struct request {
    const settings *settings;
    double *q; /* [n] */
    int n;
} request;

/* Print values[count][n] of sources with these names. None may be without samples. */
static int print(const request *wanted, const double *values, char *const *names, int count, rows *to, fault *f)
{
    static const char *const columns[] = {"name", "q", "value"};
    const int unnamed = count == 1;
    for (int i = 0; i < count * wanted->n; i++)
        if (isnan(values[i]))
            return fault_set(f, EXIT_DATA, "%s%s%s holds no unmasked samples that are numbers",
                             wanted->settings->files_count ? wanted->settings->files[0] : "standard input",
                             unnamed ? "" : ", ", unnamed ? "" : names[i / wanted->n]);
    rows_begin(to, columns + unnamed, 3 - unnamed);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < wanted->n; k++) {
            if (!unnamed) rows_text(to, names[i]);
            rows_number(to, 100 * wanted->q[k]);
            rows_number(to, values[i * wanted->n + k]);
        }
    return 0;
}

/* ---- From histograms ------------------------------------------------------------------------------------- */

static int read_series(const request *wanted, const result *r, int i, double *values, fault *f)
{
    const series *it = &r->series[i];
    const int64_t batch = histo_hist_batch(it->hist);
    double *all = malloc((size_t)batch * (size_t)wanted->n * sizeof *all);
    if (!all) return fault_set(f, EXIT_DATA, "no memory for the quantiles");
    const bool read =
        histo_hist_quantiles(it->hist, wanted->settings->quantile_rule, wanted->n, wanted->q, all) == HISTO_OK;
    if (read) memcpy(values, all + it->entry * wanted->n, (size_t)wanted->n * sizeof *values);
    free(all);
    return read ? 0 : fault_of_library(f, EXIT_DATA, r->title);
}

static int of_result(const request *wanted, const result *r, rows *to, fault *f)
{
    char **names = calloc((size_t)r->count, sizeof *names);
    double *values = malloc((size_t)r->count * (size_t)wanted->n * sizeof *values);
    int failed = names && values ? 0 : fault_set(f, EXIT_DATA, "no memory for the quantiles");
    for (int i = 0; i < r->count && !failed; i++) {
        char name[320];
        names[i] = strdup(label_of_series(r, i, name, sizeof name));
        failed = names[i] ? read_series(wanted, r, i, values + (size_t)i * (size_t)wanted->n, f)
                          : fault_set(f, EXIT_DATA, "no memory for the quantiles");
    }
    if (!failed) failed = print(wanted, values, names, r->count, to, f);
    for (int i = 0; i < r->count && names; i++)
        free(names[i]);
    free(names);
    free(values);
    return failed;
}

/* Each value has a bin. */
static int of_counts(const request *wanted, rows *to, fault *f)
{
    settings counted = *wanted->settings;
    counted.range = "dtype";
    result r = {0};
    int failed = count_files(&counted, false, &r, f);
    if (!failed) failed = of_result(wanted, &r, to, f);
    result_free(&r);
    return failed;
}

static int of_saved(const request *wanted, rows *to, fault *f)
{
    result r = {0};
    int failed = saved_sum(wanted->settings->files, wanted->settings->files_count, &r, f);
    if (!failed) failed = of_result(wanted, &r, to, f);
    result_free(&r);
    return failed;
}

/* ---- From samples ---------------------------------------------------------------------------------------- */

typedef struct selection_run {
    const request *wanted;
    feed feed;
    int count; /* sources */
    char **names;
    histo_quantiles **quantiles;
    bool *in_pass, again; /* again: after the first pass */
} selection_run;

static int begin(selection_run *r, const choice *c, fault *f)
{
    r->names = calloc((size_t)c->count, sizeof *r->names);
    r->quantiles = calloc((size_t)c->count, sizeof *r->quantiles);
    r->in_pass = calloc((size_t)c->count, sizeof *r->in_pass);
    if (!r->names || !r->quantiles || !r->in_pass) return fault_set(f, EXIT_DATA, "no memory for the quantiles");
    r->count = c->count;
    for (int i = 0; i < c->count; i++) {
        r->names[i] = strdup(c->sources[i].name ? c->sources[i].name : "0");
        if (!r->names[i]) return fault_set(f, EXIT_DATA, "no memory for the quantiles");
        if (histo_quantiles_create(&r->quantiles[i], c->sources[i].dtype, r->wanted->settings->quantile_rule,
                                   r->wanted->n, r->wanted->q) != HISTO_OK)
            return fault_of_library(f, EXIT_DATA, "the quantiles");
    }
    return 0;
}

static int enter(void *self, int file, const samples *in, fault *f)
{
    selection_run *r = self;
    const int count = samples_choice(in)->count;
    if (count == r->count) return 0;
    return fault_set(f, EXIT_DATA, "%s has %d channel%s where %s has %d: take one file at a time, or choose --channel",
                     feed_name(&r->feed, file), count, count == 1 ? "" : "s", feed_name(&r->feed, 0), r->count);
}

static int take(void *self, int file, const piece *p, fault *f)
{
    selection_run *r = self;
    for (int i = 0; i < r->count; i++) {
        const histo_fill_options options = piece_fill(p, i);
        if (r->in_pass[i] && histo_quantiles_add(r->quantiles[i], &p->views[i], &options) != HISTO_OK)
            return fault_of_library(f, EXIT_DATA, feed_name(&r->feed, file));
    }
    return 0;
}

static int leave(void *self, int file, const samples *in, fault *f)
{
    (void)file;
    (void)f;
    if (!((const selection_run *)self)->again) samples_remark(in);
    return 0;
}

static bool next_pass(selection_run *r)
{
    bool any = false;
    for (int i = 0; i < r->count; i++)
        any |= r->in_pass[i] = histo_quantiles_next_pass(r->quantiles[i]);
    return any;
}

static int find(selection_run *r, rows *to, fault *f)
{
    const feed_visitor visitor = {.verb = "selecting", .enter = enter, .take = take, .leave = leave, .self = r};
    for (; next_pass(r); r->again = true)
        if (feed_visit(&r->feed, &visitor, f) != 0) return -1;
    const size_t n = (size_t)r->wanted->n;
    double *values = malloc((size_t)r->count * n * sizeof *values);
    int failed = values ? 0 : fault_set(f, EXIT_DATA, "no memory for the quantiles");
    for (int i = 0; i < r->count && !failed; i++)
        if (histo_quantiles_read(r->quantiles[i], values + (size_t)i * n) != HISTO_OK)
            failed = fault_of_library(f, EXIT_DATA, feed_name(&r->feed, 0));
    if (!failed) failed = print(r->wanted, values, r->names, r->count, to, f);
    free(values);
    return failed;
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
    selection_run r = {.wanted = wanted};
    int failed = feed_open(&r.feed, s, true, f);
    const samples *first = failed ? NULL : feed_begin(&r.feed, 0, f);
    const bool reopens = s->files_count > 0 && strcmp(s->files[0], "-") != 0;
    const bool counts = first && reopens && every_value_has_a_bin(samples_choice(first)) &&
                        !input_was_spooled(samples_reader(first)->in);
    if (!failed) failed = !first ? -1 : counts ? 0 : begin(&r, samples_choice(first), f);
    if (!failed && !counts) failed = find(&r, to, f);
    for (int i = 0; i < r.count; i++) {
        free(r.names[i]);
        histo_quantiles_destroy(r.quantiles[i]);
    }
    free(r.names);
    free(r.quantiles);
    free(r.in_pass);
    feed_close(&r.feed);
    return !failed && counts ? of_counts(wanted, to, f) : failed;
}

static int print_quantile(const settings *s, rows *to, fault *f)
{
    request wanted = {.settings = s};
    wanted.n = value_quantiles(s->quantiles ? s->quantiles : "25,50,75", &wanted.q, f);
    if (wanted.n < 0) return -1;
    const int failed =
        s->files_count && saved_is_file(s->files[0]) ? of_saved(&wanted, to, f) : of_samples(&wanted, to, f);
    free(wanted.q);
    return failed;
}

int command_quantile(const settings *s)
{
    return rows_command(s, print_quantile);
}
