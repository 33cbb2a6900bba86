#include "output/statistics_table.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/times.h"
#include "output/labels.h"
#include "output/rows.h"

/* Where cells go, one after the other. */
typedef struct cells {
    FILE *out;
    bool csv, json, head; /* head: write names instead of values */
    int count;            /* in this row */
} cells;

static void put_text(cells *to, const char *name, const char *text, bool quoted)
{
    if (to->json) {
        fprintf(to->out, "%s\"%s\": %s%s%s", to->count ? ", " : "", name, quoted ? "\"" : "", text, quoted ? "\"" : "");
    } else {
        if (to->count) putc(to->csv ? ',' : '\t', to->out);
        rows_put_text(to->out, to->csv, to->head ? name : text);
    }
    to->count++;
}

static void put_count(cells *to, const char *name, uint64_t count)
{
    char text[TEXT_NUMBER_BYTES];
    snprintf(text, sizeof text, "%" PRIu64, count);
    put_text(to, name, text, false);
}

static void put_number(cells *to, const char *name, double value)
{
    char text[TEXT_NUMBER_BYTES];
    if (to->json && isnan(value))
        put_text(to, name, "null", false);
    else
        put_text(to, name, text_exact(value, text), isinf(value));
}

static void put_word(cells *to, const char *name, const char *word)
{
    if (!to->json) {
        put_text(to, name, word, false);
        return;
    }
    fprintf(to->out, ", \"%s\": ", name);
    rows_put_json_string(to->out, word);
}

/* Dates as in tables; time spans are microseconds. */
static void put_value(cells *to, const char *name, double value, const axis_form *form)
{
    char date[TIME_TEXT_BYTES];
    if (label_of_time(form, value, date))
        put_text(to, name, date, true);
    else
        put_number(to, name, value);
}

/* An estimate is marked, except in JSON, whose numbers cannot be. */
static void put_estimate(cells *to, const char *name, double value, const axis_form *form)
{
    char text[TEXT_NUMBER_BYTES], date[TIME_TEXT_BYTES], marked[sizeof text + TIME_TEXT_BYTES + 4];
    if (to->json || isnan(value)) {
        put_value(to, name, value, form);
        return;
    }
    snprintf(marked, sizeof marked, "≈%s", label_of_time(form, value, date) ? date : text_exact(value, text));
    put_text(to, name, marked, false);
}

static void put_extreme(cells *to, const char *name, const statistics *s, double value, uint64_t difference,
                        const axis_form *form)
{
    char text[TEXT_NUMBER_BYTES];
    if (!s->finite)
        put_number(to, name, (double)NAN);
    else if (!s->exact_extremes)
        put_estimate(to, name, value, form);
    else if (s->order)
        put_text(to, name, order_text_of_integer(s->order, difference, text), false);
    else
        put_value(to, name, value, form);
}

/* A quantile or the mean. */
static void put_level(cells *to, const char *name, const statistics *s, bool exact, double value,
                      const double *difference, const axis_form *form)
{
    char text[TEXT_NUMBER_BYTES];
    if (!s->finite && !(exact && isinf(value))) /* as quantiles may be */
        put_number(to, name, (double)NAN);
    else if (!exact)
        put_estimate(to, name, value, form);
    else if (difference)
        put_text(to, name, order_text_of_difference(s->order, *difference, text), false);
    else
        put_value(to, name, value, form);
}

static void put_quantiles(cells *to, const statistics_list *list, const statistics *s, const axis_form *form)
{
    for (int k = 0; k < list->n; k++) {
        char percent[TEXT_NUMBER_BYTES], name[TEXT_NUMBER_BYTES + 1];
        snprintf(name, sizeof name, "q%s", text_short(100 * list->q[k], percent));
        const bool differs = s->order && s->order->narrow && s->order->quantiles;
        put_level(to, name, s, s->exact_quantiles, s->quantiles[k], differs ? &s->order->quantiles[k] : NULL, form);
    }
}

/* Without samples, numbers that are not counts are NaN. */
static void put_statistics(cells *to, const statistics_list *list, const table *t, int a, const axis_form *form)
{
    const statistics *s = &list->items[a];
    const double none = (double)NAN;
    const axis_form numbers = {.kind = VALUES_NUMBERS};
    put_count(to, "samples", t->samples);
    put_count(to, "underflow", t->under[a]);
    put_count(to, "overflow", t->over[a]);
    put_count(to, "nan", t->nan[a]);
    put_count(to, "masked", t->masked);
    if (t->sum_w) put_number(to, "sum_w", table_sum_of_weights(t));
    put_extreme(to, "min", s, s->min, s->order ? s->order->min : 0, form);
    put_quantiles(to, list, s, form);
    put_extreme(to, "max", s, s->max, s->order ? s->order->max : 0, form);
    const double difference = s->order && s->order->narrow ? order_mean(s->order) : 0;
    put_level(to, "mean", s, s->exact_moments, s->mean, s->order && s->order->narrow ? &difference : NULL, form);
    if (s->finite && !s->exact_moments)
        put_estimate(to, "std", s->deviation, &numbers);
    else
        put_number(to, "std", s->finite ? s->deviation : none);
    if (s->word)
        put_word(to, "mode", s->word);
    else
        put_value(to, "mode", s->finite ? s->mode : none, form);
    put_number(to, "entropy", s->finite || s->word ? s->entropy : none);
    put_text(to, "moments", s->exact_moments ? "exact" : "of bins", true);
    put_text(to, "quantiles", s->exact_quantiles ? "exact" : "of bins", true);
}

static void put_row(cells *to, const result *r, const statistics_list *list, const table *tables, int i, int a)
{
    const int naxes = result_naxes(r);
    statistics_list here = *list;
    char series_name[320] = "", axis_name[320] = "", name[700];
    here.items += i * naxes;
    to->count = 0;
    if (r->count > 1) label_of_series(r, i, series_name, sizeof series_name);
    if (naxes > 1) label_of_axis(r, a, axis_name, sizeof axis_name);
    snprintf(name, sizeof name, "%s%s%s", series_name, *series_name && *axis_name ? " " : "", axis_name);
    if (*name) put_text(to, "name", name, true);
    put_statistics(to, &here, &tables[i], a, &r->series[i].forms[a]);
    putc('\n', to->out);
}

int statistics_write_table(const result *r, const settings *s, bool csv, FILE *out, fault *f)
{
    statistics_list list = {0};
    table *tables = tables_read(r, TABLE_OF_OCCUPIED, f);
    int failed = tables ? statistics_read(&list, r, tables, s->quantiles, f) : -1;
    cells to = {.out = out, .csv = csv, .head = true};
    if (!failed) put_row(&to, r, &list, tables, 0, 0);
    to.head = false;
    for (int i = 0; i < r->count && !failed; i++)
        for (int a = 0; a < result_naxes(r); a++)
            put_row(&to, r, &list, tables, i, a);
    statistics_free(&list);
    tables_free(tables, r);
    return failed;
}

int statistics_write_json(const result *r, int i, const settings *s, FILE *out, fault *f)
{
    statistics_list list = {0};
    const result one = {.count = 1, .series = &r->series[i]};
    table *t = tables_read(&one, TABLE_OF_OCCUPIED, f);
    int failed = t ? statistics_read(&list, &one, t, s->quantiles, f) : -1;
    for (int a = 0; !failed && a < t->naxes; a++) {
        cells to = {.out = out, .json = true};
        fputs(a ? ",\n       {" : "[{", out);
        put_statistics(&to, &list, t, a, &r->series[i].forms[a]);
        putc('}', out);
    }
    if (!failed) putc(']', out);
    statistics_free(&list);
    tables_free(t, &one);
    return failed;
}
