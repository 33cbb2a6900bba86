/* The table of statistics below a drawing: a line per histogram, or per axis of a joint one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "count/statistics.h"
#include "output/terminal/terminal.h"

/* Fields before the quantiles, and after them. */
enum { SAMPLES, UNDERFLOW, OVERFLOW, NANS, MASKED, SUM, MIN, BEFORE };
enum { MAX, MEAN, DEVIATION, MODE, ENTROPY, BEHIND };

static const char *const heads[][BEFORE] = {
    {"samples", "underflow", "overflow", "NaN", "masked", "sum of weights", "min"},
    {"samples", "under", "over", "NaN", "masked", "sum w", "min"},
};
static const char *const heads_behind[] = {"max", "mean", "std", "mode", "entropy"};

enum { FIELD_BYTES = TEXT_NUMBER_BYTES + 8 };

typedef struct line {
    char name[64];
    char (*field)[FIELD_BYTES]; /* [fields]: BEFORE, the quantiles, BEHIND */
} line;

/* All lines, and which fields are shown. */
typedef struct sheet {
    const result *result;
    const statistics_list *statistics;
    const char *about; /* precedes estimates */
    int count, fields;
    line *lines;
    char (*texts)[FIELD_BYTES];
    char (*heads)[FIELD_BYTES]; /* of the quantiles */
    bool *hidden;               /* [fields] */
} sheet;

enum { WIDE_ENOUGH = 76 }; /* columns, for a single table with all common fields */

int terminal_stats_rows(const screen *to, const result *r, const settings *s)
{
    const bool all = s->stats || s->quantiles;
    return (1 + r->count * result_naxes(r)) * ((to->columns < WIDE_ENOUGH ? 2 : 1) + all);
}

static int behind(const sheet *of, int field)
{
    return BEFORE + of->statistics->n + field;
}

/* Without statistics of the samples, those of the bins are close; they are marked as estimates. */
static void put_number(const sheet *of, char *field, bool exact, const char *number)
{
    snprintf(field, FIELD_BYTES, "%s%s", exact ? "" : of->about, number);
}

static void fill_moments(const sheet *of, line *l, const statistics *s, const axis_form *form)
{
    const struct {
        int field;
        double value;
        bool among; /* the samples, whose precision the number gets */
    } numbers[] = {{MIN, s->min, true},
                   {behind(of, MAX), s->max, true},
                   {behind(of, MEAN), s->mean, true},
                   {behind(of, DEVIATION), s->deviation, false}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        char text[TEXT_NUMBER_BYTES];
        const bool extreme = i < 2, among = numbers[i].among && s->exact_extremes;
        if (s->order && numbers[i].field == MIN)
            order_text_of_integer(s->order, s->order->min, text);
        else if (s->order && numbers[i].field == behind(of, MAX))
            order_text_of_integer(s->order, s->order->max, text);
        else if (s->order && s->order->narrow && numbers[i].field == behind(of, MEAN))
            order_text_of_difference(s->order, order_mean(s->order), text);
        else if (numbers[i].among)
            label_of_value(form, numbers[i].value, among ? s->min : 0, among ? s->max : 0, text);
        else
            label_of_difference(form, numbers[i].value, text);
        put_number(of, l->field[numbers[i].field], extreme ? s->exact_extremes : s->exact_moments, text);
    }
}

/* A quantile beyond the axis is only known to be there. */
static void fill_quantiles(const sheet *of, line *l, const statistics *s, const histo_axis *axis, const axis_form *form)
{
    for (int k = 0; k < of->statistics->n; k++) {
        char text[TEXT_NUMBER_BYTES], bound[TEXT_NUMBER_BYTES + 4];
        const double value = s->quantiles[k];
        if (isnan(value)) continue;
        if (isinf(value)) {
            snprintf(bound, sizeof bound, "%s %s", value < 0 ? "<" : ">",
                     label_of_value(form, value < 0 ? axis->lo : axis->hi, 0, 0, text));
            put_number(of, l->field[BEFORE + k], true, isinf(value < 0 ? axis->lo : axis->hi) ? "-" : bound);
        } else {
            const bool among = s->exact_extremes;
            if (s->order && s->order->narrow && s->order->quantiles)
                order_text_of_difference(s->order, s->order->quantiles[k], text);
            else
                label_of_value(form, value, among ? s->min : 0, among ? s->max : 0, text);
            put_number(of, l->field[BEFORE + k], s->exact_quantiles, text);
        }
    }
}

static void fill_line(const sheet *of, const table *tables, int i, int a)
{
    const result *r = of->result;
    const table *t = &tables[i];
    const statistics *s = &of->statistics->items[i * t->naxes + a];
    line *l = &of->lines[i * t->naxes + a];
    char series_name[320] = "", axis_name[320] = "", text[TEXT_NUMBER_BYTES];
    if (r->count > 1) label_of_series(r, i, series_name, sizeof series_name);
    if (t->naxes > 1) label_of_axis(r, a, axis_name, sizeof axis_name);
    snprintf(l->name, sizeof l->name, "%.30s%s%.30s", series_name, *series_name && *axis_name ? " " : "", axis_name);
    char kept[TEXT_NUMBER_BYTES];
    if (t->masked)
        snprintf(l->field[SAMPLES], FIELD_BYTES, "%s of %s", text_count(t->samples - t->masked, kept),
                 text_count(t->samples, text));
    else
        text_count(t->samples, l->field[SAMPLES]);
    text_count(t->under[a], l->field[UNDERFLOW]);
    text_count(t->over[a], l->field[OVERFLOW]);
    text_count(t->nan[a], l->field[NANS]);
    text_count(t->masked, l->field[MASKED]);
    if (t->sum_w) text_short(table_sum_of_weights(t), l->field[SUM]);
    for (int k = MIN; k < of->fields; k++)
        strcpy(l->field[k], "-");
    if (s->word) snprintf(l->field[behind(of, MODE)], FIELD_BYTES, "%.30s", s->word);
    if (s->word) text_short(s->entropy, l->field[behind(of, ENTROPY)]);
    if (!s->finite) return;
    const axis_form *form = &r->series[i].forms[a];
    fill_moments(of, l, s, form);
    fill_quantiles(of, l, s, &t->axes[a], form);
    if (!isnan(s->mode))
        put_number(of, l->field[behind(of, MODE)], s->values, label_of_value(form, s->mode, 0, 0, text));
    if (!isnan(s->entropy)) put_number(of, l->field[behind(of, ENTROPY)], true, text_short(s->entropy, text));
}

/* A table of fields [first, end), with long headings if they fit. */
typedef struct form {
    int first, end, brief;
    bool occupied;           /* without tallies that are 0 in all lines */
    int name_width, *widths; /* fields of width 0 are omitted */
} form;

static const char *head(const sheet *of, int field, int brief)
{
    if (field < BEFORE) return heads[brief][field];
    const int quantile = field - BEFORE;
    return quantile < of->statistics->n ? of->heads[quantile] : heads_behind[quantile - of->statistics->n];
}

static bool all_are(const sheet *of, int k, const char *text)
{
    bool all = true;
    for (int i = 0; i < of->count; i++)
        all = all && strcmp(of->lines[i].field[k], text) == 0;
    return all;
}

/* Whether the field is empty in all lines: numbers that no line has, as for strings; in narrow tables, also zero
 * tallies. */
static bool is_empty(const sheet *of, const form *as, int k)
{
    if (k >= MIN) return all_are(of, k, "-");
    return k >= UNDERFLOW && k <= MASKED && (as->occupied || all_are(of, MIN, "-")) && all_are(of, k, "0");
}

static int set_widths(const sheet *of, form *as)
{
    int total = as->name_width;
    for (int k = as->first; k < as->end; k++) {
        as->widths[k] = (int)strlen(head(of, k, as->brief));
        for (int i = 0; i < of->count; i++) {
            const int width = text_columns(of->lines[i].field[k]);
            if (width > as->widths[k]) as->widths[k] = width;
        }
        if (of->hidden[k] || is_empty(of, as, k)) as->widths[k] = 0;
        total += as->widths[k] ? 2 + as->widths[k] : 0;
    }
    return as->name_width ? total : total - 2;
}

static void put_line(const screen *to, const sheet *of, const form *as, const line *l)
{
    bool gap = as->name_width > 0;
    screen_text(to, l ? l->name : "", as->name_width);
    for (int k = as->first; k < as->end; k++) {
        if (!as->widths[k]) continue;
        if (gap) fputs("  ", to->out);
        gap = true;
        screen_text(to, l ? l->field[k] : head(of, k, as->brief), -as->widths[k]);
    }
}

static void put_table(const screen *to, const sheet *of, const form *as)
{
    screen_style(to, "2");
    put_line(to, of, as, NULL);
    screen_plain(to);
    putc('\n', to->out);
    for (int i = 0; i < of->count; i++) {
        put_line(to, of, as, &of->lines[i]);
        putc('\n', to->out);
    }
}

static bool fits(const screen *to, const sheet *of, form *as)
{
    for (int level = 0; level < 3; level++) {
        as->brief = level > 0;
        as->occupied = level > 1;
        if (set_widths(of, as) < to->columns) return true;
    }
    return false;
}

/* Whether the table fits with the quartiles, with the median alone, or with neither. */
static bool fits_with_some(const screen *to, const sheet *of, form *as)
{
    for (int n = of->statistics->n; n >= 0; n -= 2) {
        for (int k = 0; k < of->statistics->n; k++) /* from the outside */
            of->hidden[BEFORE + k] = n < 0 || k < (of->statistics->n - n) / 2 || k >= (of->statistics->n + n) / 2;
        if (fits(to, of, as)) return true;
    }
    for (int k = 0; k < of->statistics->n; k++)
        of->hidden[BEFORE + k] = true;
    return fits(to, of, as);
}

/* As many tables as necessary: one of the counts, then others. */
static void put_tables(const screen *to, const sheet *of, form *as)
{
    as->first = 0;
    as->end = MIN;
    fits(to, of, as);
    put_table(to, of, as);
    as->brief = 0;
    as->occupied = false;
    for (as->first = MIN; as->first < of->fields; as->first = as->end) {
        as->end = of->fields;
        while (as->end > as->first + 1 && set_widths(of, as) >= to->columns)
            as->end--;
        if (set_widths(of, as) > as->name_width) put_table(to, of, as);
    }
}

static void sheet_free(sheet *of)
{
    free(of->lines);
    free(of->texts);
    free(of->heads);
    free(of->hidden);
}

static int sheet_make(sheet *of, const table *tables, fault *f)
{
    const int n = of->statistics->n, naxes = result_naxes(of->result);
    of->count = of->result->count * naxes;
    of->fields = BEFORE + n + BEHIND;
    of->lines = calloc((size_t)of->count, sizeof *of->lines);
    of->texts = calloc((size_t)of->count * (size_t)of->fields, sizeof *of->texts);
    of->heads = calloc((size_t)n + 1, sizeof *of->heads);
    of->hidden = calloc((size_t)of->fields, sizeof *of->hidden);
    if (!of->lines || !of->texts || !of->heads || !of->hidden)
        return fault_set(f, EXIT_DATA, "no memory for the table of statistics");
    for (int k = 0; k < n; k++) {
        char percent[TEXT_NUMBER_BYTES];
        snprintf(of->heads[k], FIELD_BYTES, of->statistics->q[k] == 0.5 ? "median" : "%s%%",
                 text_short(100 * of->statistics->q[k], percent));
    }
    for (int i = 0; i < of->count; i++) {
        of->lines[i].field = of->texts + i * of->fields;
        fill_line(of, tables, i / naxes, i % naxes);
    }
    of->hidden[SUM] = !result_is_weighted(of->result);
    return 0;
}

static int put_sheet(const screen *to, const sheet *of, bool all, fault *f)
{
    form as = {.end = of->fields, .widths = calloc((size_t)of->fields, sizeof *as.widths)};
    if (!as.widths) return fault_set(f, EXIT_DATA, "no memory for the table of statistics");
    for (int i = 0; i < of->count; i++)
        if (text_columns(of->lines[i].name) > as.name_width) as.name_width = text_columns(of->lines[i].name);
    of->hidden[behind(of, MODE)] = of->hidden[behind(of, ENTROPY)] = !all;
    if (all ? fits(to, of, &as) : fits_with_some(to, of, &as)) {
        put_table(to, of, &as);
    } else {
        as.first = MIN;
        if (!all) fits_with_some(to, of, &as);
        put_tables(to, of, &as);
    }
    free(as.widths);
    return 0;
}

int terminal_stats(const screen *to, const result *r, const table *tables, const settings *s, fault *f)
{
    statistics_list list = {0};
    int failed = statistics_read(&list, r, tables, s->quantiles, f);
    sheet of = {.result = r, .statistics = &list, .about = to->signs->about};
    if (!failed) failed = sheet_make(&of, tables, f);
    if (!failed) failed = put_sheet(to, &of, s->stats || s->quantiles, f);
    sheet_free(&of);
    statistics_free(&list);
    return failed;
}
